import type { Clock } from "@sluice/core";
import type { Rate } from "../../rate-setting.ts";
import type { InboundSettings, OnStoreLoss } from "../inbound-options.ts";
import { tellObservers } from "../../observers.ts";
import { LocalQuotas } from "./local-quotas.ts";
import { SharedQuotas } from "./shared-quotas.ts";
import type { SharedQuotasOptions } from "./shared-quotas.ts";

type Fallback = SharedQuotasOptions["fallback"];

/** The shared quotas of a limiter; undefined if it has no store. */
export function createSharedQuotas(settings: InboundSettings): SharedQuotas | undefined {
  const { store, name, rates, timer, maxKeys, observers } = settings;
  if (store === undefined || timer === undefined) return undefined;
  const happening = (): { limiter: string; atMs: number } => ({ limiter: name, atMs: timer.now() });
  return new SharedQuotas({
    store,
    name,
    timer,
    maxKeys,
    policies: rates.map(([policy, rate]) => ({ name: policy, ...rate })),
    fallback: fallbackOf(settings.onStoreLoss, settings),
    listener: {
      onCall: (durationMs, { granted, leased }) => {
        if (observers.length === 0) return;
        tellObservers(observers, {
          ...happening(),
          type: "store-call",
          durationMs,
          granted,
          leased,
        });
      },
      onLost: (error) => tellObservers(observers, { ...happening(), type: "store-lost", error }),
      onBack: (lostMs) => tellObservers(observers, { ...happening(), type: "store-back", lostMs }),
    },
  });
}

function fallbackOf(onStoreLoss: OnStoreLoss, settings: InboundSettings): Fallback {
  const { clock, rates, processes, maxKeys } = settings;
  // No states: nothing is known of the quotas.
  if (onStoreLoss !== "share") return () => ({ isEnough: onStoreLoss === "open", states: [] });
  const quotas = createShares(clock, rates, processes, maxKeys);
  return (key, cost, nowMs) => quotas.take(key, cost, nowMs);
}

/** Quotas of which each process has a part; all parts together are at most the whole, and one request more for each process. */
function createShares(
  clock: Clock,
  rates: InboundSettings["rates"],
  processes: number,
  maxKeys: number,
): LocalQuotas {
  const parts = rates.map(([, { limit, periodMs, burst }]): Rate => {
    return {
      limit,
      periodMs: periodMs * processes,
      burst: Math.max(1, Math.floor(burst / processes)),
    };
  });
  return new LocalQuotas(clock, parts, maxKeys);
}
