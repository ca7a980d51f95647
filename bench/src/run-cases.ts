import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** One thing to measure, in a process of its own. */
export interface Case {
  readonly id: string;
  readonly nodeFlags: readonly string[];
}

/** What a child process measured: figures by name. */
export type Figures = Readonly<Record<string, number>>;

export interface Rounds {
  readonly rounds: number;
  /** Handed to every child after the case's id. */
  readonly args: readonly string[];
}

/** Far more than any case takes; a child that hangs must not hang the run. */
const CHILD_TIMEOUT_MS = 60_000;

/**
 * Runs `script` once per case and round, one at a time, and collects the figures it prints as
 * JSON. A process holds one case, because what V8 makes of a call depends on what else has called
 * it; the rounds go over all cases in turn, so that a busy minute does not fall on one case alone.
 */
export async function runCases(
  script: URL,
  cases: readonly Case[],
  { rounds, args }: Rounds,
): Promise<ReadonlyMap<string, readonly Figures[]>> {
  const figures = new Map<string, Figures[]>(cases.map(({ id }) => [id, []]));
  for (let round = 1; round <= rounds; round++) {
    console.error(`round ${round} of ${rounds}`);
    for (const { id, nodeFlags } of cases) {
      const found = await runChild([...nodeFlags, fileURLToPath(script), id, ...args]);
      figures.get(id)?.push(found);
    }
  }
  return figures;
}

async function runChild(args: readonly string[]): Promise<Figures> {
  // Collecting on helper threads would be charged to the process but not to who caused it.
  const nodeArgs = ["--single-threaded-gc", ...args];
  const { stdout } = await promisify(execFile)(process.execPath, nodeArgs, {
    timeout: CHILD_TIMEOUT_MS,
  });
  return JSON.parse(stdout) as Figures;
}
