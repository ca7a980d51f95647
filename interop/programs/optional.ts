/** Set by `scripts/interop.mjs`: milliseconds since 1970. */
const UNTIL_MS = Number(process.env["INTEROP_OPTIONAL_UNTIL"] ?? Number.POSITIVE_INFINITY);

/**
 * Whether a suite that the others could do without is skipped because the run has taken too long. Asked
 * when the suite's file is loaded, which is when the file before it has ended.
 */
export function isTooLate(suite: string): boolean {
  if (Date.now() < UNTIL_MS) return false;
  process.stderr.write(`interop: skipped for lack of time: ${suite}\n`);
  return true;
}
