import type { VertexState } from "@sluice/pipeline";
import { gateOf } from "../../pipelines/admin/vertex-gate.ts";
import type { PipelineView } from "../../pipelines/pipeline-view.ts";
import type { GateCounts } from "../../pipelines/observe/gate-counts.ts";
import type { LiveGate } from "../live-message.ts";
import { MovingRate } from "./moving-rate.ts";
import { rounded, roundedIfKnown } from "./rounded.ts";

const MS_PER_SECOND = 1_000;

const OUTCOMES = ["ok", "busy", "failed"] as const;

/** What the gate of one vertex had counted at the last sample. */
class GateMeter {
  readonly #rates: Readonly<Record<(typeof OUTCOMES)[number], MovingRate>>;
  #rttSum: number;
  #rttCount: number;

  constructor({ outcomes, observedRtts }: GateCounts, nowMs: number) {
    const rate = (of: (typeof OUTCOMES)[number]) => new MovingRate(nowMs, outcomes.get(of) ?? 0);
    this.#rates = { ok: rate("ok"), busy: rate("busy"), failed: rate("failed") };
    this.#rttSum = observedRtts.sum;
    this.#rttCount = observedRtts.count;
  }

  /** Requests a second, and the mean time of those since the last sample; undefined if there were none. */
  sample(
    { outcomes, observedRtts }: GateCounts,
    nowMs: number,
  ): Pick<LiveGate, "sent" | "ok" | "busy" | "failed" | "rttMs"> {
    const [ok = 0, busy = 0, failed = 0] = OUTCOMES.map((of) =>
      rounded(this.#rates[of].next(nowMs, outcomes.get(of) ?? 0)),
    );
    const answered = observedRtts.count - this.#rttCount;
    const seconds = observedRtts.sum - this.#rttSum;
    this.#rttSum = observedRtts.sum;
    this.#rttCount = observedRtts.count;
    const rttMs = answered > 0 ? rounded((seconds * MS_PER_SECOND) / answered) : undefined;
    return { sent: rounded(ok + busy + failed), ok, busy, failed, rttMs };
  }
}

const NOTHING = { sent: 0, ok: 0, busy: 0, failed: 0, rttMs: undefined };

/** Measures the gates of HTTP sinks at every sample. */
export class GateSampler {
  readonly #meters = new Map<string, GateMeter>();

  /** Undefined if the vertex has no gate. */
  sample(vertex: VertexState, view: PipelineView, nowMs: number): LiveGate | undefined {
    const counts = view.gateCountsOf(vertex.name);
    const defined = view.flow.vertices.find(({ name }) => name === vertex.name);
    const gate = gateOf(vertex, defined, counts, nowMs);
    if (gate === undefined) return undefined;
    const { rttMs: meanMs, ...figures } = gate;
    const sampled = counts === undefined ? NOTHING : this.#sampled(vertex, view, counts, nowMs);
    return { ...figures, ...sampled, rttMs: sampled.rttMs ?? roundedIfKnown(meanMs) };
  }

  #sampled(
    vertex: VertexState,
    view: PipelineView,
    counts: GateCounts,
    nowMs: number,
  ): ReturnType<GateMeter["sample"]> {
    const key = `${view.state.name}/${vertex.name}`;
    const meter = this.#meters.get(key) ?? new GateMeter(counts, nowMs);
    this.#meters.set(key, meter);
    return meter.sample(counts, nowMs);
  }
}
