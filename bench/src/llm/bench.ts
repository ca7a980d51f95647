import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { machineLine, thisMachine } from "../machine.ts";
import type { BenchOptions } from "../options.ts";
import { table } from "../table.ts";
import type { ClientFigures } from "./child.ts";
import { CLIENTS } from "./clients.ts";
import { idealMs, makeCalls } from "./workload.ts";

const CHILD = fileURLToPath(new URL("child.js", import.meta.url));
/** Far more than any client takes. */
const CHILD_TIMEOUT_MS = 180_000;
/**
 * Time between the starts of two clients, in ms. A start takes up to a second of CPU time: those of all clients at once
 * would delay the first requests of each, which then come to a service that was full meanwhile.
 */
const STAGGER_MS = 3000;

/** Seconds of its limits that the service lets pass at once, and the time in which ours has to be done. */
const VARIANTS = [
  { burstSeconds: 2, goal: 1.03 },
  { burstSeconds: 0.5, goal: 1.08 },
];

interface Outcome extends ClientFigures {
  readonly client: string;
  readonly ratio: number;
}

/** Clients of a service that limits requests and tokens, as APIs for language models do; the text to print. */
export async function benchLlm({ json, quick }: BenchOptions): Promise<string> {
  const calls = makeCalls().slice(0, quick ? 60 : undefined);
  const variants = [];
  for (const { burstSeconds, goal } of VARIANTS) {
    const ideal = idealMs(calls, burstSeconds);
    console.error(`burst of ${burstSeconds} s: ideally ${(ideal / 1000).toFixed(1)} s`);
    // Side by side, each in a process of its own with a service of its own: they mostly wait.
    const outcomes = await Promise.all(
      CLIENTS.map(async ({ name }, i) => {
        await sleep(i * STAGGER_MS);
        const figures = await run([name, String(burstSeconds), String(calls.length)]);
        return { client: name, ...figures, ratio: figures.lastMs / ideal };
      }),
    );
    variants.push({ burstSeconds, goal, idealMs: ideal, calls: calls.length, outcomes });
  }
  const machine = thisMachine();
  if (json) return JSON.stringify({ bench: "llm", machine, variants });
  return [machineLine(machine), ...variants.map(variantText)].join("\n\n");
}

async function run(args: readonly string[]): Promise<ClientFigures> {
  const { stdout } = await promisify(execFile)(process.execPath, [CHILD, ...args], {
    timeout: CHILD_TIMEOUT_MS,
  });
  return JSON.parse(stdout) as ClientFigures;
}

function variantText({
  burstSeconds,
  goal,
  idealMs: ideal,
  calls,
  outcomes,
}: {
  readonly burstSeconds: number;
  readonly goal: number;
  readonly idealMs: number;
  readonly calls: number;
  readonly outcomes: readonly Outcome[];
}): string {
  const rows = outcomes.map(({ client, served, refused, lastMs, ratio }) => [
    client,
    String(served),
    String(refused),
    (lastMs / 1000).toFixed(1),
    ratio.toFixed(2),
  ]);
  const title = `burst of ${burstSeconds} s: ${calls} calls, ideally ${(ideal / 1000).toFixed(1)} s; goal: all served, at most ${goal} × ideal, at most 1 % of 429`;
  return `${title}\n${table(["", "served", "429", "s", "× ideal"], rows)}`;
}
