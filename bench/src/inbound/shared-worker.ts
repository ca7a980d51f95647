/** One process of several that share quotas: `shared-worker.js <url>`, then an order by message. */
import { createInboundLimiter } from "@sluice/egress/server";
import type { InboundDecision, RateSetting } from "@sluice/egress/server";
import { redisQuotaStore } from "@sluice/fleet";

/** Requests of this process from an instant of the wall clock on, spread evenly over `keys` keys. */
export interface WorkOrder {
  readonly name: string;
  readonly rate: RateSetting;
  readonly keys: number;
  readonly perSecond: number;
  readonly startAtMs: number;
  readonly durationMs: number;
}

/** What this process has done. */
export interface WorkDone {
  readonly asked: number;
  readonly admitted: number;
  /** Requests that were answered without waiting for the store. */
  readonly atOnce: number;
  /** Times that the store was lost. */
  readonly lost: number;
}

const [url = ""] = process.argv.slice(2);
const TICK_MS = 2;
/** Longer than a busy machine delays an answer: the cost of a lost store is not measured here. */
const TIMEOUT_MS = 10_000;

process.on("message", (order: WorkOrder) => {
  void report(order);
});
process.on("disconnect", () => process.exit());
process.send?.("up");

async function report(order: WorkOrder): Promise<void> {
  process.send?.(await work(order));
}

async function work(order: WorkOrder): Promise<WorkDone> {
  const { name, rate, keys, perSecond, startAtMs, durationMs } = order;
  const store = redisQuotaStore({ url, timeoutMs: TIMEOUT_MS });
  const done = { asked: 0, admitted: 0, atOnce: 0, lost: 0 };
  const limiter = createInboundLimiter({
    name,
    rate,
    store,
    observers: [
      ({ type }) => {
        if (type === "store-lost") done.lost++;
      },
    ],
  });
  const count = async (decision: Promise<InboundDecision>): Promise<void> => {
    if ((await decision).admitted) done.admitted++;
  };
  const pending: Promise<void>[] = [];
  // The connection is made before the time begins.
  await limiter.admit("warm up");
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, startAtMs - Date.now())));
  for (;;) {
    const elapsedMs = Date.now() - startAtMs;
    if (elapsedMs >= durationMs) break;
    const due = Math.floor((elapsedMs * perSecond) / 1000);
    for (; done.asked < due; done.asked++) {
      const decision = limiter.admit(`client ${done.asked % keys}`);
      if (decision instanceof Promise) pending.push(count(decision));
      else {
        done.atOnce++;
        if (decision.admitted) done.admitted++;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(pending);
  await limiter.close();
  await store.close();
  return done;
}
