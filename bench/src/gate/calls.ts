import { createGate } from "@sluice/egress";
import type { Gate } from "@sluice/egress";
import pLimit from "p-limit";
import type { Loop } from "../measure.ts";

const CONCURRENCY = 100;

/** Calls made at once, so that nine in ten wait in line. */
const BATCH = 1000;

type Call = (work: () => Promise<number>) => Promise<number>;

const resolved = Promise.resolve(1);
const work = (): Promise<number> => resolved;

const GATES: Readonly<Record<string, Gate>> = {
  "gate, fixed": createGate({ concurrency: CONCURRENCY, busy: "off" }),
  "gate, fixed and busy": createGate({ concurrency: CONCURRENCY }),
  "gate, adaptive": createGate({
    concurrency: { initialLimit: CONCURRENCY, limitMax: CONCURRENCY },
  }),
  "gate, fixed and rate": createGate({
    concurrency: CONCURRENCY,
    busy: "off",
    rate: { limit: 1e9, periodMs: 1000 },
  }),
};

/** What the others are measured against. */
export const P_LIMIT = "p-limit";

function calls(): Map<string, Call> {
  const limit = pLimit(CONCURRENCY);
  const all = new Map<string, Call>([[P_LIMIT, (each) => limit(each)]]);
  for (const [name, gate] of Object.entries(GATES)) all.set(name, (each) => gate.run(each));
  return all;
}

/** One call after the other: every one starts at once. */
export function oneByOne(): Record<string, Loop> {
  return loops((call) => async (count) => {
    let done = 0;
    for (let i = 0; i < count; i++) done += await call(work);
    return done;
  });
}

/** Many at once: most wait in line. */
export function inBatches(): Record<string, Loop> {
  return loops((call) => async (count) => {
    let done = 0;
    for (let i = 0; i < count; i += BATCH) {
      const batch = Array.from({ length: BATCH }, () => call(work));
      for (const value of await Promise.all(batch)) done += value;
    }
    return done;
  });
}

function loops(of: (call: Call) => Loop): Record<string, Loop> {
  return Object.fromEntries([...calls()].map(([name, call]) => [name, of(call)]));
}
