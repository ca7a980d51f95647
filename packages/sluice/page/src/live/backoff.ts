/** Time before the first try to connect again, ms; each failure doubles it. */
const FIRST_MS = 500;
/** The longest time between two tries, ms: a member that is back is seen within it. */
const MOST_MS = 8_000;

/** The time before try number `failures`, counted from 1. */
export function retryDelayMs(failures: number): number {
  return Math.min(MOST_MS, FIRST_MS * 2 ** Math.max(0, Math.min(20, failures - 1)));
}
