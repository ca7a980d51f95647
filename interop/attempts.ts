/**
 * How an attempt ended: `met` reached the goal; `near` kept to the wider bounds that a wrong gateway would
 * still break, on a machine that was busy; `missed` did neither.
 */
export type Verdict = "met" | "near" | "missed";

/** Noise spoils one attempt; what a gateway does wrong spoils all. */
export const ATTEMPTS = 3;

/** The best of several attempts; the first that meets the goal is the last. */
export async function bestOf(attempt: () => Promise<Verdict>): Promise<Verdict> {
  let best: Verdict = "missed";
  for (let made = 0; made < ATTEMPTS && best !== "met"; made++)
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

/** `near` counts only if the machine was busy. */
export function verdictOf(isMet: boolean, isNear: boolean, isBusy: boolean): Verdict {
  if (isMet) return "met";
  return isNear && isBusy ? "near" : "missed";
}
