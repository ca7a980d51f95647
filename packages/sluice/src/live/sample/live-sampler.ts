import type { Clock } from "@sluice/core";
import type { AdministrableGateway } from "@sluice/gateway/admin";
import type { FlowPipelines } from "../../pipelines/flow-pipelines.ts";
import { pipelinesWhy } from "../../pipelines/admin/vertex-why.ts";
import type { PipelinesWhy } from "../../pipelines/admin/vertex-why.ts";
import type { SharedStore } from "../detail/pool-roster.ts";
import type { LiveSample } from "../live-message.ts";
import { GatewaySampler } from "./gateway-sample.ts";
import { liveWaits } from "./live-waits.ts";
import type { WaitsInput } from "./live-waits.ts";
import { PipelineSampler } from "./pipeline-sample.ts";

/** What runs in this process. */
export interface SampledProcess {
  readonly gateway: AdministrableGateway | undefined;
  readonly pipelines: FlowPipelines | undefined;
  /** Where replicas meet; undefined without a store. */
  readonly shared: SharedStore | undefined;
  readonly clock: Clock;
  readonly processId: number;
  readonly placeOf: (path: readonly (string | number)[]) => string | undefined;
}

/** A sample with what it was made of, for the details that pages look at. */
export interface SampledInstant {
  readonly live: LiveSample;
  readonly gateway: WaitsInput["gateway"] | undefined;
  readonly wallMs: number;
}

const NOTHING_WAITS: PipelinesWhy = { vertices: [], working: [], failed: [] };

/** Makes the samples of a process. */
export class LiveSampler {
  readonly #process: SampledProcess;
  readonly #gateway: GatewaySampler | undefined;
  readonly #pipelines: PipelineSampler | undefined;

  constructor(process: SampledProcess) {
    const { gateway, pipelines } = process;
    this.#process = process;
    this.#gateway = gateway && new GatewaySampler(gateway);
    this.#pipelines = pipelines && new PipelineSampler(() => pipelines.views());
  }

  /** The start of the id that this process has in its pools; of a process in none, its process id. */
  get member(): string {
    const { pipelines, processId } = this.#process;
    const ids = pipelines
      ?.views()
      .flatMap(({ state }) => state.vertices.flatMap(({ fleet }) => fleet?.member ?? []));
    return ids?.[0]?.replace(/^m-/, "").slice(0, 4) ?? String(processId);
  }

  sample(wallMs: number): SampledInstant {
    const { gateway: given, clock } = this.#process;
    const nowMs = clock.now();
    const gateway =
      given === undefined || this.#gateway === undefined
        ? undefined
        : {
            gateway: given,
            sampled: this.#gateway.sample(),
            snapshot: given.administered.throttling.waiting(),
          };
    const pipelines = this.#pipelines?.sample(nowMs) ?? [];
    return {
      gateway,
      live: {
        atMs: Math.round(wallMs),
        gateway: gateway?.sampled.live,
        pipelines,
        ...this.#waits(gateway, nowMs, wallMs),
      },
      wallMs,
    };
  }

  #waits(
    gateway: SampledInstant["gateway"],
    nowMs: number,
    wallMs: number,
  ): ReturnType<typeof liveWaits> {
    const { pipelines, placeOf } = this.#process;
    return liveWaits({
      ...(gateway !== undefined && { gateway }),
      pipelines:
        pipelines === undefined
          ? NOTHING_WAITS
          : pipelinesWhy({ views: pipelines.views(), nowMs, wallMs, placeOf }, undefined),
      findPlace: placeOf,
      wallMs,
    });
  }
}
