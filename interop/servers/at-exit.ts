let hasHandler = false;

/** Runs when this process ends, also when vitest ends it, which gives it half a second after SIGTERM. */
export function atExit(tidy: () => void): void {
  if (!hasHandler) process.once("SIGTERM", () => process.exit());
  hasHandler = true;
  process.once("exit", tidy);
}
