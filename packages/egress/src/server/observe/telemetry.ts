/** What inbound limiters decide, as metrics of OpenTelemetry. */
import type { Attributes, Meter } from "@opentelemetry/api";
import { requireMeter } from "../../check-options.ts";
import type { InboundEvent, InboundObserver } from "./event.ts";

const MS_PER_SECOND = 1000;

/**
 * An observer that records what inbound limiters decide. All instruments carry the attribute `limiter`;
 * none carries the key of a client.
 *
 * | instrument | kind |
 * | --- | --- |
 * | `sluice.inbound.decisions` | counter by `decision`: admitted, refused; refused with `reason`, and `policy` if one had not enough |
 * | `sluice.inbound.wait_time` | histogram, s: requests that waited for a permit or the store, by `decision` |
 * | `sluice.inbound.in_flight`, `sluice.inbound.limit` | gauges |
 * | `sluice.inbound.store_calls` | counter |
 * | `sluice.inbound.store_call_time` | histogram, s |
 * | `sluice.inbound.store_leased` | counter of tokens |
 * | `sluice.inbound.store_lost` | gauge: 1 while the store is lost, else 0 |
 */
export function observeInboundWithOpenTelemetry(meter: Meter): InboundObserver {
  requireMeter("observeInboundWithOpenTelemetry", meter);
  const instruments = createInstruments(meter);
  return (event) => record(instruments, event);
}

type Instruments = ReturnType<typeof createInstruments>;

function createInstruments(meter: Meter) {
  return {
    decisions: meter.createCounter("sluice.inbound.decisions", {
      description: "What inbound limiters decided, and why",
      unit: "{request}",
    }),
    waitTime: meter.createHistogram("sluice.inbound.wait_time", {
      description: "How long requests waited for a permit or the store",
      unit: "s",
    }),
    inFlight: meter.createGauge("sluice.inbound.in_flight", {
      description: "Permits in use",
      unit: "{request}",
    }),
    limit: meter.createGauge("sluice.inbound.limit", {
      description: "The concurrency limit",
      unit: "{request}",
    }),
    storeCalls: meter.createCounter("sluice.inbound.store_calls", {
      description: "Calls to the store that were answered",
      unit: "{call}",
    }),
    storeCallTime: meter.createHistogram("sluice.inbound.store_call_time", {
      description: "Round trips to the store",
      unit: "s",
    }),
    storeLeased: meter.createCounter("sluice.inbound.store_leased", {
      description: "Tokens leased to answer requests without a call",
      unit: "{token}",
    }),
    storeLost: meter.createGauge("sluice.inbound.store_lost", {
      description: "1 while the store is lost",
    }),
  };
}

function record(to: Instruments, event: InboundEvent): void {
  const limiter: Attributes = { limiter: event.limiter };
  switch (event.type) {
    case "admitted":
      to.decisions.add(1, { ...limiter, decision: "admitted" });
      recordWait(to, event.waitedMs, { ...limiter, decision: "admitted" });
      if (event.limit === undefined) return;
      to.inFlight.record(event.inFlight, limiter);
      to.limit.record(event.limit, limiter);
      return;
    case "refused": {
      const [policy] = event.violated;
      to.decisions.add(1, {
        ...limiter,
        decision: "refused",
        reason: event.reason,
        ...(policy === undefined ? {} : { policy }),
      });
      recordWait(to, event.waitedMs, { ...limiter, decision: "refused" });
      return;
    }
    case "store-call":
      to.storeCalls.add(1, limiter);
      to.storeCallTime.record(event.durationMs / MS_PER_SECOND, limiter);
      to.storeLeased.add(event.leased, limiter);
      return;
    case "store-lost":
      to.storeLost.record(1, limiter);
      return;
    case "store-back":
      to.storeLost.record(0, limiter);
      return;
  }
}

function recordWait(to: Instruments, waitedMs: number, attributes: Attributes): void {
  if (waitedMs > 0) to.waitTime.record(waitedMs / MS_PER_SECOND, attributes);
}
