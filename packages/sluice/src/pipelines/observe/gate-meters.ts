import type { Reason } from "@sluice/core";
import type { PartEvent } from "@sluice/gateway";
import type { MetricsWriter } from "@sluice/gateway/admin";
import { durationText, perSecondText } from "@sluice/gateway/internal";
import { GateCounts } from "./gate-counts.ts";
import type { GateEvent, GateObserver } from "./gate-event.ts";
import { addGateMetrics } from "./gate-metrics.ts";

/** The meter of one gate. */
interface Meter {
  readonly counts: GateCounts;
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
  readonly #meters = new Map<string, Meter>();
  readonly #tell: (event: PartEvent) => void;

  constructor(tell: (event: PartEvent) => void) {
    this.#tell = tell;
  }

  /** Observes the gate of a vertex; `peer` names its service in events. */
  observer(vertex: string, peer: string): GateObserver {
    const meter = this.#meters.get(vertex) ?? newMeter();
    this.#meters.set(vertex, meter);
    return (event) => {
      meter.counts.count(event);
      watchWaits(meter, event);
      const told =
        event.type === "held" ? warningOf(event, meter, vertex) : toldOf(event, vertex, peer);
      if (told !== undefined) this.#tell(told);
    };
  }

  /** Forgets the gates of all other vertices. */
  keepOnly(vertices: ReadonlySet<string>): void {
    for (const vertex of this.#meters.keys())
      if (!vertices.has(vertex)) this.#meters.delete(vertex);
  }

  /** Since when requests of a vertex wait for this reason, on the clock of its gate. */
  waitingSinceMs(vertex: string, reason: Reason): number | undefined {
    const waiting = this.#meters.get(vertex)?.waiting;
    return waiting?.reason === reason ? waiting.sinceMs : undefined;
  }

  countsOf(vertex: string): GateCounts | undefined {
    return this.#meters.get(vertex)?.counts;
  }

  state(vertex: string): object | undefined {
    return this.#meters.get(vertex)?.counts.state();
  }

  addMetrics(to: MetricsWriter): void {
    const gates = [...this.#meters].map(([name, { counts }]) => {
      const [pipeline = "", vertex = ""] = name.split("/");
      return { labels: { pipeline, vertex }, counts };
    });
    addGateMetrics(to, gates);
  }
}

function newMeter(): Meter {
  return { counts: new GateCounts(), waiting: undefined, warnedAtMs: -Infinity, unwarned: 0 };
}

function watchWaits(meter: Meter, event: GateEvent): void {
  // A request that did not wait found no queue.
  if (event.type === "admitted" && event.waitedMs === 0) meter.waiting = undefined;
  if (event.type === "held" && meter.waiting?.reason !== event.reason)
    meter.waiting = { reason: event.reason, sinceMs: event.atMs };
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
  meter: Meter,
  vertex: string,
): PartEvent | undefined {
  meter.unwarned++;
  if (atMs - meter.warnedAtMs < WARNING_MS) return undefined;
  const limited = meter.unwarned;
  meter.warnedAtMs = atMs;
  meter.unwarned = 0;
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
