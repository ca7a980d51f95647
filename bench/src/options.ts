import { parseArgs } from "node:util";

export interface BenchOptions {
  readonly bench: string;
  readonly json: boolean;
  /** One round of short slices: shows that everything runs, and the figures roughly. */
  readonly quick: boolean;
  readonly rounds: number;
  /** Peers with their default bounds, where a benchmark sets others. */
  readonly shipped: boolean;
}

const ROUNDS_MAX = 100;

/** Throws an Error whose message is one line for the user. */
export function parseOptions(args: readonly string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      rounds: { type: "string" },
      shipped: { type: "boolean", default: false },
    },
  });
  const [bench] = positionals;
  if (bench === undefined || positionals.length > 1) throw new Error("name one benchmark");
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > ROUNDS_MAX) {
    throw new Error(
      `--rounds is ${values.rounds}; it must be a whole number from 1 to ${ROUNDS_MAX}`,
    );
  }
  const { json, quick, shipped } = values;
  return { bench, json, quick, rounds, shipped };
}
