import type { SharedBucketOptions } from "@sluice/fleet";

export type CaseName = "exact" | "turns" | "limited" | "own" | "counter";

export interface ThreadsCase {
  readonly label: string;
  readonly options: SharedBucketOptions;
  /** Acquires per reading of the clock. */
  readonly perTurn: number;
  /**
   * `shared`: what is measured. `own`, a bucket for each thread: what the machine makes of threads
   * that share nothing. `counter`, one atomic counter for both: what sharing costs if it is not
   * avoided, and whether this benchmark would see it.
   */
  readonly kind: "shared" | "own" | "counter";
}

/** Shorter than a scheduler's turn, so that in some of them every thread has a core to itself. */
export const MOMENT_MS = 2;

/** More than two threads can ask for: everything is admitted, and the bucket is nearly full. */
const UNLIMITED: SharedBucketOptions = { rate: 1e9 };

export const CASES: Readonly<Record<CaseName, ThreadsCase>> = {
  exact: { label: "admitted, exact clock", options: UNLIMITED, perTurn: 1, kind: "shared" },
  turns: {
    label: "admitted, clock read once per 100",
    options: UNLIMITED,
    perTurn: 100,
    kind: "shared",
  },
  limited: {
    label: "mostly refused (1 M/s), exact clock",
    options: { rate: 1e6, capacity: 1e5 },
    perTurn: 1,
    kind: "shared",
  },
  own: {
    label: "a bucket for each, exact clock",
    options: UNLIMITED,
    perTurn: 1,
    kind: "own",
  },
  counter: {
    label: "one atomic counter, no clock",
    options: UNLIMITED,
    perTurn: 1,
    kind: "counter",
  },
};
