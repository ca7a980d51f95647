import { ConfigError } from "@sluice/core";
import { joinFleet, redisStore, watchPoolLimits } from "@sluice/fleet";
import type { FleetLimiter, PoolStore, RateLimitBlock } from "@sluice/fleet";
import { slept } from "../run-context.ts";
import type { RunContext } from "../run-context.ts";
import type { PipelineFleet } from "../running-pipeline.ts";
import { announcementNameOf, poolNameOf, setVertexLimits } from "./vertex-pool.ts";
import type { VertexPool } from "./vertex-pool.ts";

/** How long a start waits for the store's word on vertices without a limit, ms: a store that is away must not stop them. */
const ANNOUNCEMENT_MS = 250;

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
  readonly #watched = new AbortController();
  readonly #watches: Promise<void>[] = [];

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
    { isAnnounced = false }: { readonly isAnnounced?: boolean } = {},
  ): Promise<FleetLimiter | undefined> {
    if (rateLimit === undefined) return undefined;
    const { timer, random, tell, pipeline } = this.#context;
    const of = { pipeline, vertex };
    tell({ ...of, kind: "opening", what: "pool" });
    return joinFleet({
      pool: poolNameOf(this.#poolOf(vertex)),
      rateLimit,
      ...this.#members(rateLimit),
      // All replicas join a new pool at once: without safe shares, all but one would stand still for its learning time.
      ...(isAnnounced && this.isShared ? { joinOn: "safe-share" as const } : {}),
      signal,
      runtime: { timer, random },
      onEvent: (event) => {
        if (event.type !== "step") tell({ ...of, kind: "fleet", event });
      },
      onWarning: (text) => tell({ ...of, kind: "connector", event: { level: "warning", text } }),
    });
  }

  /**
   * Tells limits that are set for a vertex that was started without one: others of the fleet may set them, or have set them
   * before this start. Resolves once the store has answered, or has not within `ANNOUNCEMENT_MS`.
   */
  async watch(
    vertex: string,
    onLimits: (rateLimit: RateLimitBlock | undefined) => void,
  ): Promise<void> {
    const store = this.#store;
    if (store === undefined) return;
    const { timer, random } = this.#context;
    const looked = new AbortController();
    this.#watches.push(
      watchPoolLimits(store, announcementNameOf(this.#poolOf(vertex)), {
        timer,
        random,
        signal: this.#watched.signal,
        onLimits,
        onLooked: () => looked.abort(),
      }),
    );
    await slept(timer, ANNOUNCEMENT_MS, looked.signal);
  }

  /** A limit of a vertex that was defined without one, for all replicas; undefined: none again. */
  async announce(vertex: string, rateLimit: RateLimitBlock | undefined): Promise<void> {
    if (this.#store === undefined) return;
    const isUnlimited = true;
    await setVertexLimits(this.#store, this.#poolOf(vertex), rateLimit, { isUnlimited });
  }

  /** Whether limits are changed through the store, and followed by all members at their next sync. */
  get isShared(): boolean {
    return this.#store !== undefined;
  }

  /** New limits of a vertex, for all members of its pool. */
  async setLimits(vertex: string, rateLimit: RateLimitBlock): Promise<void> {
    if (this.#store !== undefined)
      await setVertexLimits(this.#store, this.#poolOf(vertex), rateLimit);
  }

  /** The limits that members have joined with hold again. */
  async unsetLimits(vertex: string): Promise<void> {
    if (this.#store !== undefined)
      await setVertexLimits(this.#store, this.#poolOf(vertex), undefined);
  }

  /** Ends the watches, and the store that was made here. */
  async close(): Promise<void> {
    this.#watched.abort();
    await Promise.all(this.#watches.splice(0));
    if (this.#ownsStore) await this.#store?.close();
  }

  #poolOf(vertex: string): VertexPool {
    return { flow: this.#flow, pipeline: this.#context.pipeline, vertex };
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
