/** What gates decide, as metrics of OpenTelemetry. */
import type { Attributes, Meter } from "@opentelemetry/api";
import { requireMeter } from "./check-options.ts";
import type { GateEvent, GateObserver } from "./gate/event/event.ts";

export { observeInboundWithOpenTelemetry } from "./server/observe/telemetry.ts";

const MS_PER_SECOND = 1000;

/**
 * An observer that records what gates decide. All instruments carry the attribute `gate`.
 *
 * | instrument | kind | RFC 1858 |
 * | --- | --- | --- |
 * | `sluice.egress.concurrency_limit_reached` | counter: calls held or refused by the limit | `concurrency_limit_reached_total` |
 * | `sluice.egress.observed_rtt` | histogram, s: attempts that were served | `observed_rtt` |
 * | `sluice.egress.concurrency_limit` | histogram: the limit, at every decision on it | `concurrency_limit` |
 * | `sluice.egress.concurrency_actual` | histogram: in flight, whenever a permit goes out or comes back, and an attempt ends | `concurrency_actual` |
 * | `sluice.egress.decisions` | counter by `decision`, with `reason`: admitted, held, left, refused, paused, resumed, cut, retry-denied | |
 * | `sluice.egress.limit_decisions` | counter by `cause`, `direction` | |
 * | `sluice.egress.attempts` | counter by `outcome`, and `scope` if that is busy | |
 * | `sluice.egress.retries` | counter | |
 * | `sluice.egress.wait_time` | histogram, s: of calls that were admitted | |
 * | `sluice.egress.limit`, `sluice.egress.in_flight` | gauges | |
 *
 * What a gate in shadow mode only reports has the attribute `shadow`.
 */
export function observeWithOpenTelemetry(meter: Meter): GateObserver {
  requireMeter("observeWithOpenTelemetry", meter);
  const instruments = createInstruments(meter);
  return (event) => record(instruments, event);
}

type Instruments = ReturnType<typeof createInstruments>;

function createInstruments(meter: Meter) {
  return {
    limitReached: meter.createCounter("sluice.egress.concurrency_limit_reached", {
      description: "Calls held or refused by the concurrency limit",
      unit: "{call}",
    }),
    observedRtt: meter.createHistogram("sluice.egress.observed_rtt", {
      description: "Round trips of attempts that were served",
      unit: "s",
    }),
    limits: meter.createHistogram("sluice.egress.concurrency_limit", {
      description: "The concurrency limit at every decision on it",
      unit: "{permit}",
    }),
    actual: meter.createHistogram("sluice.egress.concurrency_actual", {
      description: "Permits in use, at every start and end of an attempt and return of a permit",
      unit: "{permit}",
    }),
    decisions: meter.createCounter("sluice.egress.decisions", {
      description: "What gates decided, and why",
      unit: "{decision}",
    }),
    limitDecisions: meter.createCounter("sluice.egress.limit_decisions", {
      description: "Decisions on the concurrency limit, by their cause",
      unit: "{decision}",
    }),
    attempts: meter.createCounter("sluice.egress.attempts", {
      description: "Attempts that ended, by their outcome",
      unit: "{attempt}",
    }),
    retries: meter.createCounter("sluice.egress.retries", {
      description: "Attempts made again",
      unit: "{attempt}",
    }),
    waitTime: meter.createHistogram("sluice.egress.wait_time", {
      description: "How long calls waited that were admitted",
      unit: "s",
    }),
    limit: meter.createGauge("sluice.egress.limit", {
      description: "The concurrency limit",
      unit: "{permit}",
    }),
    inFlight: meter.createGauge("sluice.egress.in_flight", {
      description: "Permits in use",
      unit: "{permit}",
    }),
  };
}

function record(to: Instruments, event: GateEvent): void {
  const gate: Attributes = { gate: event.gate };
  switch (event.type) {
    case "admitted":
      to.decisions.add(1, { ...gate, decision: "admitted" });
      to.waitTime.record(event.waitedMs / MS_PER_SECOND, gate);
      recordInFlight(to, event.inFlight, gate);
      if (event.limit !== undefined) to.limit.record(event.limit, gate);
      return;
    case "held":
      to.decisions.add(1, {
        ...gate,
        ...shadowOf(event),
        decision: "held",
        reason: event.reason,
      });
      if (event.reason === "concurrency") to.limitReached.add(1, gate);
      return;
    case "left":
      to.decisions.add(1, { ...gate, decision: "left", reason: event.leftBecause });
      return;
    case "refused":
      recordRefused(to, event, gate);
      return;
    case "ended":
      to.attempts.add(1, { ...gate, outcome: event.outcome, ...scopeOf(event) });
      if (event.outcome === "ok") to.observedRtt.record(event.rttMs / MS_PER_SECOND, gate);
      recordInFlight(to, event.inFlight, gate);
      return;
    case "returned":
      recordInFlight(to, event.inFlight, gate);
      return;
    case "limit": {
      const { limit, limitBefore, cause } = event.decision;
      const direction = limit > limitBefore ? "up" : limit < limitBefore ? "down" : "same";
      to.limitDecisions.add(1, { ...gate, cause, direction });
      to.limits.record(limit, gate);
      to.limit.record(limit, gate);
      return;
    }
    case "cut":
    case "paused":
      to.decisions.add(1, { ...gate, decision: event.type, reason: event.reason });
      return;
    case "resumed":
      to.decisions.add(1, { ...gate, decision: "resumed" });
      return;
    case "retry":
      to.retries.add(1, gate);
      return;
    case "retry-denied":
      to.decisions.add(1, { ...gate, decision: "retry-denied", reason: event.deniedBy });
      return;
  }
}

function recordRefused(
  to: Instruments,
  event: Extract<GateEvent, { type: "refused" }>,
  gate: Attributes,
): void {
  const { reason, refusedAt } = event;
  to.decisions.add(1, { ...gate, ...shadowOf(event), decision: "refused", reason });
  // Who was held before has been counted then.
  if (reason === "concurrency" && refusedAt !== "deadline") to.limitReached.add(1, gate);
}

function shadowOf({ isShadow }: { readonly isShadow: boolean }): Attributes {
  return isShadow ? { shadow: true } : {};
}

function scopeOf({ scope }: Extract<GateEvent, { type: "ended" }>): Attributes {
  return scope === undefined ? {} : { scope };
}

function recordInFlight(to: Instruments, inFlight: number, gate: Attributes): void {
  to.actual.record(inFlight, gate);
  to.inFlight.record(inFlight, gate);
}
