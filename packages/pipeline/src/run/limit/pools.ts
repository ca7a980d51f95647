import { ConfigError } from "@sluice/core";
import { joinFleet, redisStore, setPoolLimits } from "@sluice/fleet";
import type { FleetLimiter, PoolStore, RateLimitBlock } from "@sluice/fleet";
import type { RunContext } from "../run-context.ts";
import type { PipelineFleet } from "../running-pipeline.ts";

/**
 * The pools of a pipeline's vertices, `flow/pipeline/vertex`. One store serves all of them; a store that is made
 * from an address is closed with the pipeline.
 */
export class Pools {
  readonly #context: RunContext;
  readonly #flow: string;
  readonly #fleet: PipelineFleet;
  readonly #store: PoolStore | undefined;
  readonly #ownsStore: boolean;

  constructor(context: RunContext, flow: string, fleet: PipelineFleet) {
    const { store } = fleet;
    this.#context = context;
    this.#flow = flow;
    this.#fleet = fleet;
    this.#ownsStore = store !== undefined && !isPoolStore(store);
    if (store === undefined || isPoolStore(store)) this.#store = store;
    else this.#store = redisStore(typeof store === "string" ? { url: store } : store);
  }

  /** Undefined: the vertex is not limited. */
  async join(
    vertex: string,
    rateLimit: RateLimitBlock | undefined,
    signal: AbortSignal,
  ): Promise<FleetLimiter | undefined> {
    if (rateLimit === undefined) return undefined;
    const { timer, random, tell, pipeline } = this.#context;
    const of = { pipeline, vertex };
    return joinFleet({
      pool: this.#poolOf(vertex),
      rateLimit,
      ...this.#members(rateLimit),
      signal,
      runtime: { timer, random },
      onEvent: (event) => {
        if (event.type !== "step") tell({ ...of, kind: "fleet", event });
      },
      onWarning: (text) => tell({ ...of, kind: "connector", event: { level: "warning", text } }),
    });
  }

  /** New limits: for all members of the vertex's pool at their next sync, or at once where there is no store. */
  async setLimits(vertex: string, limiter: FleetLimiter, rateLimit: RateLimitBlock): Promise<void> {
    if (this.#store === undefined) limiter.setRateLimit(rateLimit);
    else await setPoolLimits(this.#store, this.#poolOf(vertex), changeableOf(rateLimit));
  }

  async close(): Promise<void> {
    if (this.#ownsStore) await this.#store?.close();
  }

  #poolOf(vertex: string): string {
    return `${this.#flow}/${this.#context.pipeline}/${vertex}`;
  }

  #members(rateLimit: RateLimitBlock): Omit<PipelineFleet, "store"> & { store?: PoolStore } {
    const { replicas, maxMembers, share, timing } = this.#fleet;
    if (this.#store !== undefined) {
      if (replicas !== undefined)
        throw new ConfigError("fleet has a store and replicas; a store counts the members itself");
      return {
        store: this.#store,
        ...(maxMembers === undefined ? {} : { maxMembers }),
        ...(share === undefined ? {} : { share }),
        ...(timing === undefined ? {} : { timing }),
      };
    }
    if (rateLimit.store !== undefined) return {};
    return { replicas: replicas ?? 1 };
  }
}

function isPoolStore(store: NonNullable<PipelineFleet["store"]>): store is PoolStore {
  return typeof store === "object" && "sync" in store && "setLimits" in store;
}

/** Without the settings that a member is started with. */
function changeableOf({ max, min, rampUpDuration, modes }: RateLimitBlock): RateLimitBlock {
  return {
    max,
    ...(min === undefined ? {} : { min }),
    ...(rampUpDuration === undefined ? {} : { rampUpDuration }),
    ...(modes === undefined ? {} : { modes }),
  };
}
