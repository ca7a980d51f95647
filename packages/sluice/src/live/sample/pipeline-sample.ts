import type { VertexState } from "@sluice/pipeline";
import type { PipelineView } from "../../pipelines/pipeline-view.ts";
import { peerOf, shareOf, waitingOf } from "../../pipelines/admin/vertex-why.ts";
import type { LivePipeline, LiveShare, LiveVertex } from "../live-message.ts";
import { GateSampler } from "./gate-sample.ts";
import { MovingRate } from "./moving-rate.ts";
import { rounded, roundedIfKnown } from "./rounded.ts";

/** What a vertex has counted, over the last seconds. */
interface Rates {
  readonly read: MovingRate;
  readonly dropped: MovingRate;
}

/** Measures pipelines at every sample. */
export class PipelineSampler {
  readonly #views: () => readonly PipelineView[];
  readonly #gates = new GateSampler();
  #rates = new Map<string, Rates>();

  constructor(views: () => readonly PipelineView[]) {
    this.#views = views;
  }

  sample(nowMs: number): readonly LivePipeline[] {
    const rates = new Map<string, Rates>();
    const pipelines = this.#views().map((view): LivePipeline => ({
      name: view.state.name,
      status: view.failure === undefined ? view.state.status : "failed",
      vertices: view.state.vertices.map((vertex, index) => {
        const key = `${view.state.name}/${vertex.name}`;
        const { read, dropped } = vertex.counts;
        const own = this.#rates.get(key) ?? {
          read: new MovingRate(nowMs, read),
          dropped: new MovingRate(nowMs, dropped),
        };
        rates.set(key, own);
        return {
          ...vertexOf(vertex, view, index),
          rate: rounded(own.read.next(nowMs, read)),
          droppedRate: rounded(own.dropped.next(nowMs, dropped)),
          gate: this.#gates.sample(vertex, view, nowMs),
        };
      }),
    }));
    this.#rates = rates;
    return pipelines;
  }
}

function vertexOf(
  vertex: VertexState,
  view: PipelineView,
  index: number,
): Omit<LiveVertex, "rate" | "droppedRate"> {
  const { name, kind, connector, queue, queueMax, inFlight, waiting } = vertex;
  const defined = view.flow.vertices[index];
  return {
    name,
    kind,
    connector,
    peer: defined && peerOf(defined),
    queue,
    queueMax,
    inFlight,
    reason: waitingOf(vertex, view)?.reason,
    behind:
      waiting !== undefined && waiting.reason === undefined && waiting.isDown !== true
        ? view.state.vertices[index + 1]?.name
        : undefined,
    share: liveShare(vertex, view),
  };
}

/** What this member knows of the pool of a vertex. */
export function liveShare(vertex: VertexState, view: PipelineView): LiveShare | undefined {
  const { fleet } = vertex;
  const own = shareOf(vertex, view);
  if (fleet === undefined || own === undefined) return undefined;
  return {
    pool: fleet.pool,
    share: roundedIfKnown(own.share),
    ceiling: roundedIfKnown(own.ceiling),
    max: own.max,
    min: own.min,
    usage: fleet.usage === undefined ? undefined : Math.round(fleet.usage * 100) / 100,
    members: Math.max(1, fleet.membership?.size ?? 1),
    rampLeftMs: own.rampLeftMs,
    syncAgeMs: roundedIfKnown(fleet.membership?.syncAgeMs),
  };
}
