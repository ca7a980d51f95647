import { ThrottledError, throttledFetch } from "@sluice/egress";

// The concurrency is adaptive unless given: fewer calls at once while answers get slow or fail, more when the service recovers.
const fetch = throttledFetch({
  attemptTimeoutMs: 2_000,
  retry: { attempts: 3 },
  maxWaiting: 200,
  call: { deadlineMs: 8_000, idempotent: true },
});

/** The text of a page; undefined while the service is overloaded, so that the caller can do without. */
export async function pageOf(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url);
    return response.ok ? await response.text() : undefined;
  } catch (error) {
    // It was not sent: the queue is full, or its turn would come after the deadline.
    if (error instanceof ThrottledError) return undefined;
    throw error;
  }
}
