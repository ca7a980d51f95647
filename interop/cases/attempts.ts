/**
 * How an attempt ended: `met` reached the goal; `near` kept to the wider bounds, which a wrong gateway still
 * breaks and a right one keeps on a busy machine too; `missed` did neither.
 */
export type Verdict = "met" | "near" | "missed";

/** Noise spoils one attempt; what a gateway does wrong spoils all. */
export const ATTEMPTS = 3;

/** With `INTEROP_GOALS=1` a test fails unless it meets its goal, otherwise if it also misses the wider bounds. */
const PASSING: readonly Verdict[] =
  process.env["INTEROP_GOALS"] === "1" ? ["met"] : ["met", "near"];

export function isPassing(verdict: Verdict): boolean {
  return PASSING.includes(verdict);
}

/** The best of several attempts; the first that passes is the last. */
export async function bestOf(attempt: () => Promise<Verdict>): Promise<Verdict> {
  let best: Verdict = "missed";
  for (let made = 0; made < ATTEMPTS && !isPassing(best); made++)
    best = betterOf(best, await attempt());
  return best;
}

export function betterOf(a: Verdict, b: Verdict): Verdict {
  return [a, b].includes("met") ? "met" : [a, b].includes("near") ? "near" : "missed";
}

/** Inclusive. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
}

export function isWithin(value: number, { min, max }: Bounds): boolean {
  return value >= min && value <= max;
}

export function verdictOf(isMet: boolean, isNear: boolean): Verdict {
  if (isMet) return "met";
  return isNear ? "near" : "missed";
}
