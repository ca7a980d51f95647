import { ConcurrencyLimiter, SluiceLimit } from "@sluice/core";

// Finds how many calls the service can take at once, up to 500.
const limiter = new ConcurrencyLimiter(new SluiceLimit({ maxLimit: 500 }));

/** The answer of the service, or undefined if there is no room now. */
export async function call(url: string): Promise<Response | undefined> {
  const permit = limiter.tryAcquire();
  if (permit === undefined) return undefined;
  try {
    const response = await fetch(url);
    permit.end(response.status === 429 || response.status === 503 ? "busy" : "ok");
    return response;
  } catch (error) {
    permit.end("failed");
    throw error;
  }
}
