/**
 * Threads that interrupt each other, in one thread: before every atomic step others may run for as
 * long as they like, and be interrupted themselves.
 */
import fc from "fast-check";

export interface InterruptingCall {
  /** Atomic steps of others that pass before it begins. */
  readonly after: number;
  readonly thread: number;
}

const STEPS = ["load", "store", "add", "sub", "compareExchange"] as const;

/** Of the steps that a call lets pass. */
export const afterSteps: fc.Arbitrary<number> = fc.oneof(fc.nat(8), fc.nat(40));

/**
 * Performs the calls in their order, each begun in the midst of those before it or when they have
 * ended. One whose thread is in the midst of another is left out: a thread does one at a time.
 */
export function runInterleaved<C extends InterruptingCall>(
  calls: readonly C[],
  perform: (call: C) => void,
): void {
  const waiting = [...calls];
  const busy = new Set<number>();
  let stepsLeft = 0;
  const next = (): void => {
    const call = waiting.shift();
    stepsLeft = waiting[0]?.after ?? 0;
    if (call === undefined || busy.has(call.thread)) return;
    busy.add(call.thread);
    perform(call);
    busy.delete(call.thread);
  };
  const interrupt = (): void => {
    if (stepsLeft-- <= 0) next();
  };
  const restore = beforeEveryStep(interrupt);
  try {
    while (waiting.length > 0) next();
  } finally {
    restore();
  }
}

function beforeEveryStep(interrupt: () => void): () => void {
  const originals = STEPS.map((name) => ({ name, original: Atomics[name] as () => unknown }));
  for (const { name, original } of originals) {
    Reflect.set(Atomics, name, (...args: never[]): unknown => {
      interrupt();
      return Reflect.apply(original, Atomics, args) as unknown;
    });
  }
  return () => {
    for (const { name, original } of originals) Reflect.set(Atomics, name, original);
  };
}
