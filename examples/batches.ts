import { joinFleet } from "@sluice/fleet";

/** Sends batches of up to 100 rows, at most 1000 rows a second over all processes. */
export async function copy(rows: string[], send: (batch: string[]) => Promise<void>) {
  const limiter = await joinFleet({
    pool: "shop/copy",
    store: "redis://127.0.0.1:6379",
    rateLimit: { max: 1000 },
    maxMembers: 8,
  });
  while (rows.length > 0) {
    const grant = await limiter.acquireUpTo(Math.min(100, rows.length));
    await send(rows.splice(0, grant.count));
  }
  await limiter.leave();
}
