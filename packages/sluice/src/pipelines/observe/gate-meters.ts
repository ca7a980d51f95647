import type { Reason } from "@sluice/core";
import type { PartEvent } from "@sluice/gateway";
import { labelText } from "@sluice/gateway/admin";
import type { PrometheusText } from "@sluice/gateway/admin";
import { durationText, perSecondText } from "@sluice/gateway/internal";
import type { HttpSinkOptions } from "@sluice/pipeline";

/** What a gate tells, as the sink passes it on. */
type GateObserver = Extract<NonNullable<HttpSinkOptions["observers"]>, (event: never) => void>;
type GateEvent = Parameters<GateObserver>[0];

/** Counts since the start, and the latest figures. */
interface GateCounts {
  /** Requests that had to wait, by reason: the RFC's counter of limited requests. */
  readonly limited: Map<Reason, number>;
  readonly outcomes: Map<string, number>;
  cuts: number;
  inFlight: number;
  limit: number | undefined;
  rttCount: number;
  rttSumMs: number;
  /** Since when requests wait for one reason; undefined while none does. */
  waiting: { readonly reason: Reason; readonly sinceMs: number } | undefined;
  /** When a warning was told last, and the requests that were limited since. */
  warnedAtMs: number;
  unwarned: number;
}

/** Time between two warnings of one gate, ms; the RFC asks for at most one in 5 s. */
const WARNING_MS = 5_000;

/** Meters of the gates of all HTTP sinks, by `pipeline/vertex`. They outlive a restart of the pipeline. */
export class GateMeters {
  readonly #counts = new Map<string, GateCounts>();
  readonly #tell: (event: PartEvent) => void;

  constructor(tell: (event: PartEvent) => void) {
    this.#tell = tell;
  }

  /** Observes the gate of a vertex; `peer` names its service in events. */
  observer(vertex: string, peer: string): GateObserver {
    const counts = this.#counts.get(vertex) ?? newCounts();
    this.#counts.set(vertex, counts);
    return (event) => {
      count(counts, event);
      const told =
        event.type === "held" ? warningOf(event, counts, vertex) : toldOf(event, vertex, peer);
      if (told !== undefined) this.#tell(told);
    };
  }

  /** Since when requests of a vertex wait for this reason, on the clock of its gate. */
  waitingSinceMs(vertex: string, reason: Reason): number | undefined {
    const waiting = this.#counts.get(vertex)?.waiting;
    return waiting?.reason === reason ? waiting.sinceMs : undefined;
  }

  state(vertex: string): object | undefined {
    const counts = this.#counts.get(vertex);
    if (counts === undefined) return undefined;
    const { limited, outcomes, cuts, inFlight, limit, rttCount, rttSumMs } = counts;
    return {
      limit: limit ?? null,
      inFlight,
      meanRttMs: rttCount === 0 ? null : rttSumMs / rttCount,
      limited: Object.fromEntries(limited),
      outcomes: Object.fromEntries(outcomes),
      cuts,
    };
  }

  /** Vector's names where it has one. */
  addMetrics(text: PrometheusText): void {
    const gates = [...this.#counts].map(([name, counts]) => {
      const [pipeline = "", vertex = ""] = name.split("/");
      return { of: { pipeline, vertex }, counts };
    });
    const gauge = (
      name: string,
      help: string,
      valueOf: (counts: GateCounts) => number | undefined,
    ): void =>
      text.add(
        { name, help, type: /_(?:total|sum|count)$/.test(name) ? "counter" : "gauge" },
        gates.flatMap(({ of, counts }) => {
          const value = valueOf(counts);
          return value === undefined ? [] : [[labelText(of), value] as const];
        }),
      );
    gauge("adaptive_concurrency_limit", "Requests that may be in flight.", ({ limit }) => limit);
    gauge("adaptive_concurrency_in_flight", "Requests in flight.", ({ inFlight }) => inFlight);
    gauge(
      "adaptive_concurrency_observed_rtt_seconds_sum",
      "Time of all answered requests.",
      ({ rttSumMs }) => rttSumMs / 1000,
    );
    gauge(
      "adaptive_concurrency_observed_rtt_seconds_count",
      "Answered requests.",
      ({ rttCount }) => rttCount,
    );
    gauge("sluice_gate_cuts_total", "Cuts of the rate after busy answers.", ({ cuts }) => cuts);
    text.add(
      {
        name: "sluice_gate_limited_total",
        help: "Requests that had to wait, by reason.",
        type: "counter",
      },
      gates.flatMap(({ of, counts }) =>
        [...counts.limited].map(
          ([reason, value]) => [labelText({ ...of, reason }), value] as const,
        ),
      ),
    );
    text.add(
      { name: "sluice_gate_requests_total", help: "Requests by their outcome.", type: "counter" },
      gates.flatMap(({ of, counts }) =>
        [...counts.outcomes].map(
          ([outcome, value]) => [labelText({ ...of, outcome }), value] as const,
        ),
      ),
    );
  }
}

function newCounts(): GateCounts {
  return {
    limited: new Map(),
    outcomes: new Map(),
    cuts: 0,
    inFlight: 0,
    limit: undefined,
    rttCount: 0,
    rttSumMs: 0,
    waiting: undefined,
    warnedAtMs: -Infinity,
    unwarned: 0,
  };
}

function count(counts: GateCounts, event: GateEvent): void {
  if (event.type === "admitted" || event.type === "ended" || event.type === "returned")
    counts.inFlight = event.inFlight;
  if (event.type === "admitted") {
    counts.limit = event.limit;
    // A request that did not wait found no queue.
    if (event.waitedMs === 0) counts.waiting = undefined;
  }
  if (event.type === "ended") {
    add(counts.outcomes, event.outcome);
    counts.rttCount++;
    counts.rttSumMs += event.rttMs;
  }
  if (event.type === "held") {
    add(counts.limited, event.reason);
    if (counts.waiting?.reason !== event.reason)
      counts.waiting = { reason: event.reason, sinceMs: event.atMs };
  }
  if (event.type === "cut") counts.cuts++;
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** A line of the log; the log itself bounds how often one is written. */
function toldOf(event: GateEvent, vertex: string, peer: string): PartEvent | undefined {
  const of = { subject: vertex, peer };
  if (event.type === "cut") {
    const { limit, limitBefore, reason } = event;
    const from = limitBefore === undefined ? "" : `from ${perSecondText(limitBefore)} `;
    const text = `${vertex}: ${peer} said busy, the rate was cut ${from}to ${perSecondText(limit)}`;
    return { kind: "vertex-cut", ...of, reason, limit, text };
  }
  if (event.type !== "paused") return undefined;
  const { reason, pauseMs } = event;
  const text = `${vertex}: ${peer} asked for a pause of ${durationText(pauseMs)}; no request starts before`;
  return { kind: "vertex-paused", ...of, reason, pauseMs, text };
}

/** At most one in 5 s, with the number of those that were left out. */
function warningOf(
  { reason, waiting, atMs }: Extract<GateEvent, { type: "held" }>,
  counts: GateCounts,
  vertex: string,
): PartEvent | undefined {
  counts.unwarned++;
  if (atMs - counts.warnedAtMs < WARNING_MS) return undefined;
  const limited = counts.unwarned;
  counts.warnedAtMs = atMs;
  counts.unwarned = 0;
  const others = limited === 1 ? "" : `, ${limited - 1} more since the last warning`;
  return {
    kind: "vertex-request-limited",
    subject: vertex,
    reason,
    waiting,
    limited,
    text: `${vertex}: request limited (${reason}), ${waiting} waiting${others}`,
  };
}
