import { throttledFetch } from "@sluice/egress";
import { joinFleet } from "@sluice/fleet";

/** At most 100 requests a second over up to eight processes. */
export async function start(store: string = "redis://127.0.0.1:6379") {
  const rate = await joinFleet({
    pool: "shop/partner-api",
    store,
    rateLimit: { max: 100 },
    maxMembers: 8,
  });
  const fetch = throttledFetch({ rate, retry: 3, call: { deadlineMs: 10_000 } });

  // Waiting calls get a ClosedError, running calls end, then the share goes to the other processes.
  async function stop(): Promise<void> {
    await fetch[Symbol.asyncDispose]();
    await rate.leave();
  }
  process.once("SIGTERM", () => void stop());
  return { fetch, stop };
}
