import { createGate } from "@sluice/egress";
import type { Gate } from "@sluice/egress";
import pLimit from "p-limit";
import type { Loop } from "../measure.ts";

const CONCURRENCY = 100;

/** Calls made at once, so that nine in ten wait in the queue. */
const BATCH = 1000;

type Call = (work: () => Promise<number>) => Promise<number>;

const resolved = Promise.resolve(1);
const work = (): Promise<number> => resolved;

/** Gates by what they do; a process has one of them, because what V8 makes of one depends on the others. */
export const GATES: Readonly<Record<string, () => Gate>> = {
  "gate, fixed": () => createGate({ concurrency: CONCURRENCY, busy: "off" }),
  "gate, fixed and busy": () => createGate({ concurrency: CONCURRENCY }),
  "gate, adaptive": () =>
    createGate({ concurrency: { initialLimit: CONCURRENCY, maxLimit: CONCURRENCY } }),
  "gate, fixed and rate": () =>
    createGate({
      concurrency: CONCURRENCY,
      busy: "off",
      rate: { limit: 1e9, periodMs: 1000 },
    }),
};

/** What a gate is measured against. */
export function throughPLimit(): Call {
  const limit = pLimit(CONCURRENCY);
  return (each) => limit(each);
}

export function throughGate(name: string): Call {
  const gate = GATES[name]?.();
  if (gate === undefined) throw new Error(`no gate is named ${name}`);
  return (each) => gate.run(each);
}

/** How calls are made. */
export const QUESTIONS: Readonly<Record<string, (call: Call) => Loop>> = {
  "one by one": oneByOne,
  "1000 at once": inBatches,
};

/** Every one starts at once. */
function oneByOne(call: Call): Loop {
  return async (count) => {
    let done = 0;
    for (let i = 0; i < count; i++) done += await call(work);
    return done;
  };
}

/** Most wait in the queue. */
function inBatches(call: Call): Loop {
  return async (count) => {
    let done = 0;
    for (let i = 0; i < count; i += BATCH) {
      const batch = Array.from({ length: BATCH }, () => call(work));
      for (const value of await Promise.all(batch)) done += value;
    }
    return done;
  };
}
