/**
 * Fails outside of the current step, as an unhandled rejection: for errors of callbacks in a loop over
 * callers that have nothing to do with the one that threw.
 */
export async function throwLater(thrown: unknown): Promise<never> {
  await Promise.resolve();
  throw thrown;
}
