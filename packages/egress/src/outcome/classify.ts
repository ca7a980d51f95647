import type { Verdict } from "./verdict.ts";

/** How a call came out. */
export type Settled = { readonly value: unknown } | { readonly error: unknown };

/** Judges how a call came out; `undefined` leaves it to the gate. */
export type Classify = (settled: Settled) => Verdict | undefined;
