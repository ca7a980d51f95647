/** The step of Vegas and of failsafe-go: whole digits of the limit beyond the first, at least 1. */
export function logStep(limit: number): number {
  return Math.max(1, Math.floor(Math.log10(limit)));
}
