import type { Reason } from "@sluice/core";
import { Histogram } from "@sluice/gateway/admin";
import type { GateEvent } from "./gate-event.ts";

/** Upper bounds of round trips and waits, s: from a service on the same machine to the usual time-out of a proxy. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60];

/** Upper bounds of requests at once. */
const REQUESTS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

const MS_PER_SECOND = 1000;

/** What the gate of one vertex did since the start, and its latest figures. */
export class GateCounts {
  /** Requests that had to wait, by reason: the RFC's counter of limited requests. */
  readonly limited: Map<Reason, number> = new Map();
  readonly outcomes: Map<string, number> = new Map();
  /** Decisions on the limit, by `cause direction`. */
  readonly decisions: Map<string, number> = new Map();
  readonly limits: Histogram = new Histogram(REQUESTS);
  readonly inFlights: Histogram = new Histogram(REQUESTS);
  /** Of requests that were served. */
  readonly observedRtts: Histogram = new Histogram(SECONDS);
  /** Those that decisions on the limit rest on. */
  readonly averagedRtts: Histogram = new Histogram(SECONDS);
  readonly waits: Histogram = new Histogram(SECONDS);
  cuts = 0;
  /** The last cut of the rate, and the last pause that the service asked for, on the clock of the gate. */
  lastCut:
    | { readonly from: number | undefined; readonly to: number; readonly atMs: number }
    | undefined;
  lastPause: { readonly pauseMs: number; readonly atMs: number } | undefined;
  inFlight = 0;
  /** Undefined before the first request, and of a gate without one. */
  limit: number | undefined;

  count(event: GateEvent): void {
    switch (event.type) {
      case "admitted":
        this.#setInFlight(event.inFlight);
        this.limit = event.limit;
        this.waits.record(event.waitedMs / MS_PER_SECOND);
        return;
      case "ended":
        this.#setInFlight(event.inFlight);
        add(this.outcomes, event.outcome);
        if (event.outcome === "ok") this.observedRtts.record(event.rttMs / MS_PER_SECOND);
        return;
      case "returned":
        this.#setInFlight(event.inFlight);
        return;
      case "held":
        add(this.limited, event.reason);
        return;
      case "limit":
        this.#decide(event);
        return;
      case "cut":
        this.cuts++;
        this.lastCut = { from: event.limitBefore, to: event.limit, atMs: event.atMs };
        return;
      case "paused":
        this.lastPause = { pauseMs: event.pauseMs, atMs: event.atMs };
        return;
      case "left":
      case "refused":
      case "resumed":
      case "retry":
      case "retry-denied":
        return;
    }
  }

  state(): object {
    const { sum, count } = this.observedRtts;
    return {
      limit: this.limit ?? null,
      inFlight: this.inFlight,
      meanRttMs: count === 0 ? null : (sum * MS_PER_SECOND) / count,
      limited: Object.fromEntries(this.limited),
      outcomes: Object.fromEntries(this.outcomes),
      cuts: this.cuts,
    };
  }

  #setInFlight(inFlight: number): void {
    this.inFlight = inFlight;
    this.inFlights.record(inFlight);
  }

  #decide({ decision }: Extract<GateEvent, { type: "limit" }>): void {
    const { limit, limitBefore, cause, rttMs } = decision;
    const direction = limit > limitBefore ? "up" : limit < limitBefore ? "down" : "same";
    add(this.decisions, `${cause} ${direction}`);
    this.limit = limit;
    this.limits.record(limit);
    if (rttMs !== undefined) this.averagedRtts.record(rttMs / MS_PER_SECOND);
  }
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
