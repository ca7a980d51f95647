import { isDeepStrictEqual } from "node:util";
import type { Random, Timer } from "@sluice/core";
import type { PoolStore } from "@sluice/fleet";
import { durationText } from "@sluice/gateway/internal";
import type { PartEvent } from "@sluice/gateway";
import { checkLimits, setVertexLimits } from "@sluice/pipeline";
import type { PipelineEvent, PipelineFleet, PipelineState, VertexLimits } from "@sluice/pipeline";
import type { FlowFleet, FlowPipeline, FlowVertexLimits } from "../flow/pipeline/flow-pipeline.ts";
import { DEAD_LETTER, definePipeline } from "./define/define-pipeline.ts";
import type { Connectors } from "./define/define-pipeline.ts";
import type { GateMeters } from "./observe/gate-meters.ts";
import { partEventOf } from "./observe/pipeline-events.ts";
import type { PipelineView, Throttled } from "./pipeline-view.ts";
import { SupervisedPipeline } from "./supervised-pipeline.ts";
import type { StartPipeline } from "./supervised-pipeline.ts";
import {
  effectiveOf,
  isLimited,
  limitSourceOf,
  ownLimitsOf,
  withOwnRate,
} from "./vertex-limits.ts";
import type { LiveLimits, VertexLimitSource } from "./vertex-limits.ts";

export interface PipelinesWorld {
  readonly start: StartPipeline;
  readonly connectors: Connectors;
  /** Meters of the gates that `connectors` makes. */
  readonly gates: GateMeters;
  readonly timer: Timer;
  readonly wallClock: { now(): number };
  readonly random: Random;
  readonly tell: (event: PartEvent) => void;
}

/** Where a pipeline belongs: the flow, and the store in which its replicas meet. */
export interface PipelineHome {
  readonly flow: string;
  readonly store: PoolStore | undefined;
}

/** Limits of a vertex that another file gives. */
export interface VertexChange {
  readonly vertex: string;
  readonly limits: VertexLimits;
}

interface Opening {
  readonly vertex: string;
  readonly what: "pool" | "connector";
}

/** One pipeline of a flow file: kept running, with limits that can be changed while it runs. */
export class ManagedPipeline {
  readonly name: string;
  readonly #home: PipelineHome;
  readonly #world: PipelinesWorld;
  /** Limits that were set while it ran, by vertex. */
  readonly #live = new Map<string, LiveLimits>();
  readonly #throttled = new Map<string, Throttled>();
  #flow: FlowPipeline;
  #supervised: SupervisedPipeline;
  /** What the start has come to; undefined once it reads. */
  #opening: Opening | undefined;

  constructor(name: string, flow: FlowPipeline, home: PipelineHome, world: PipelinesWorld) {
    this.name = name;
    this.#home = home;
    this.#world = world;
    this.#flow = flow;
    this.#supervised = this.#supervise();
  }

  get flow(): FlowPipeline {
    return this.#flow;
  }

  /** Replaced by every restart. */
  get supervised(): SupervisedPipeline {
    return this.#supervised;
  }

  /** Limits that were set while it ran, by vertex. */
  get live(): ReadonlyMap<string, LiveLimits> {
    return this.#live;
  }

  /** Keys of its gates among those of all pipelines. */
  get gateKeys(): readonly string[] {
    return [...this.#flow.vertices.map(({ name }) => name), DEAD_LETTER].map((vertex) =>
      this.#gateKey(vertex),
    );
  }

  view(): PipelineView {
    const { gates } = this.#world;
    const state = this.#supervised.state();
    return {
      flow: this.#flow,
      state,
      failure: this.#supervised.failure,
      limitsOf: (vertex) => this.#heldLimitsOf(vertex, state),
      throttledOf: (vertex) => this.#throttled.get(vertex),
      gateSinceMs: (vertex, reason) => gates.waitingSinceMs(this.#gateKey(vertex), reason),
      gateCountsOf: (vertex) => gates.countsOf(this.#gateKey(vertex)),
    };
  }

  /** Undefined while it runs. */
  notReady(): string | undefined {
    const { failure, status } = this.#supervised;
    if (failure === undefined)
      return status === "starting"
        ? `pipeline ${this.name} starts: ${openingText(this.#opening, this.#flow)}`
        : undefined;
    const nextInMs = Math.max(1, failure.nextAtMs - this.#world.timer.now());
    return `pipeline ${this.name} failed: ${failure.error.message}; next start in ${durationText(nextInMs)}`;
  }

  has(vertex: string): boolean {
    return this.#flow.vertices.some(({ name }) => name === vertex);
  }

  stop(): Promise<void> {
    return this.#supervised.stop();
  }

  /** Starts it again after `stop`, by another file if one is given; limits that were set while it ran stay. */
  async restart(flow: FlowPipeline = this.#flow): Promise<void> {
    this.#flow = flow;
    this.#supervised = this.#supervise();
    for (const [vertex, live] of this.#live) {
      const { limits } = live;
      if (limits === undefined || !this.has(vertex)) {
        this.#live.delete(vertex);
        continue;
      }
      const effective = effectiveOf(flow, withOwnRate(flow, vertex, limits));
      const version = await this.#versionAfterRestart(vertex, live, effective);
      this.#live.set(vertex, { ...live, version });
      // The rate limit of the file is a replica's own, and is not written to the store.
      const isStored = version !== undefined || limits.rateLimit === undefined;
      await this.#supervised.setLimits(vertex, effective, { isStored, version });
    }
  }

  /**
   * Limits of a vertex from now on, the rate limit for the whole fleet; undefined: those of the flow file again. While it is
   * down it has them at its next start, and its other replicas within a second.
   */
  async setLimits(
    vertex: string,
    limits: FlowVertexLimits | undefined,
  ): Promise<"now" | "at its next start"> {
    const isUnset = limits === undefined;
    const whole = withOwnRate(this.#flow, vertex, limits ?? {});
    const effective = effectiveOf(this.#flow, isUnset ? ownLimitsOf(this.#flow, vertex) : whole);
    const isDown = !this.#supervised.isRunning;
    checkLimits(effective, `${vertex}.limits`);
    const held = this.#heldLimitsOf(vertex).limits.rateLimit;
    const isChanged =
      effective.rateLimit !== undefined && !isDeepStrictEqual(whole.rateLimit, held);
    const isShared = isUnset || isChanged;
    const former = this.#live.get(vertex);
    const version = isShared
      ? await this.#share(vertex, isUnset ? undefined : effective.rateLimit)
      : former?.version;
    const isStored = this.#home.store !== undefined;
    await this.#supervised.setLimits(vertex, effective, { isUnset, isStored, version });
    // A rate limit of the file, or of another replica, that was only repeated would outlast a change of it.
    const set = isShared ? limits : withRateOf(former?.limits, limits);
    this.#live.set(vertex, { limits: set, setAtMs: this.#world.wallClock.now(), version });
    return isDown ? "at its next start" : "now";
  }

  /** Limits that differ in another file. */
  changesOf(next: FlowPipeline): readonly VertexChange[] {
    return next.vertices.flatMap(({ name: vertex }) => {
      const limits = effectiveOf(next, ownLimitsOf(next, vertex));
      const held = effectiveOf(this.#flow, ownLimitsOf(this.#flow, vertex));
      return isDeepStrictEqual(held, limits) ? [] : [{ vertex, limits }];
    });
  }

  /** Limits of another file from now on. */
  async define({ vertex, limits }: VertexChange): Promise<void> {
    await this.#supervised.setLimits(vertex, limits, { isDefinition: true });
  }

  /**
   * How to take back a `define` of this vertex: the limits of the present file, and over them those that were set while the
   * pipeline ran, here or by another replica. Asked for before the change, which clears the latter.
   */
  undoOf({ vertex }: VertexChange): () => Promise<void> {
    const { limits, setAtMs } = this.#heldLimitsOf(vertex);
    const flow = this.#flow;
    return async () => {
      const own = ownLimitsOf(flow, vertex);
      await this.define({ vertex, limits: effectiveOf(flow, own) });
      if (setAtMs === undefined) return;
      // A rate limit that is the file's is not written to the store.
      const isStored = isDeepStrictEqual(limits.rateLimit, own.rateLimit);
      await this.#supervised.setLimits(vertex, effectiveOf(flow, limits), { isStored });
    };
  }

  /** Follows another file, whose changes are defined already; they end limits that were set before. */
  follow(flow: FlowPipeline, changes: readonly VertexChange[]): void {
    this.#flow = flow;
    for (const { vertex } of changes) this.#live.delete(vertex);
  }

  /** The limits that hold for a vertex, wherever they were set. */
  #heldLimitsOf(
    vertex: string,
    { vertices }: PipelineState = this.#supervised.state(),
  ): VertexLimitSource {
    const fleet = vertices.find(({ name }) => name === vertex)?.fleet;
    return limitSourceOf(this.#flow, vertex, this.#live.get(vertex), fleet);
  }

  /** Sets a rate limit for all replicas; undefined: that of their flow files again. Answers its version; undefined without a store. */
  async #share(vertex: string, rateLimit: VertexLimits["rateLimit"]): Promise<number | undefined> {
    const { flow, store } = this.#home;
    if (store === undefined) return undefined;
    const isUnlimited = !isLimited(this.#flow, vertex);
    return setVertexLimits(store, { flow, pipeline: this.name, vertex }, rateLimit, {
      isUnlimited,
    });
  }

  /** The version in the store of a limit that was set before; undefined if the store does not have it. */
  async #versionAfterRestart(
    vertex: string,
    { version }: LiveLimits,
    { rateLimit }: VertexLimits,
  ): Promise<number | undefined> {
    // A vertex that has lost its limit in the file has no pool yet: its replicas look for an announcement.
    if (rateLimit === undefined || isLimited(this.#flow, vertex)) return version;
    // Without the store it holds for this replica alone.
    return this.#share(vertex, rateLimit).catch(() => undefined);
  }

  #gateKey(vertex: string): string {
    return `${this.name}/${vertex}`;
  }

  #track(event: PipelineEvent): void {
    if (event.kind === "throttled") {
      const { vertex, reason, detail } = event;
      this.#throttled.set(vertex, { reason, detail, sinceMs: this.#world.timer.now() });
    } else if (event.kind === "flowing") this.#throttled.delete(event.vertex);
    else if (event.kind === "opening") this.#opening = { vertex: event.vertex, what: event.what };
    else if (event.kind === "started") this.#opening = undefined;
    else if (event.kind === "stopped" || event.kind === "failed") this.#throttled.clear();
  }

  #supervise(): SupervisedPipeline {
    const { name } = this;
    const { flow, store } = this.#home;
    const { start, connectors, timer, random, tell } = this.#world;
    return new SupervisedPipeline({
      name,
      // Read at every start: a reload may have changed the limits since.
      define: () => definePipeline(name, this.#flow, connectors),
      start,
      timer,
      random,
      runtime: {
        flow,
        fleet: fleetOf(this.#flow.fleet, store),
        timer,
        random,
        observe: (event) => {
          this.#track(event);
          const told = partEventOf(event);
          if (told !== undefined) tell(told);
        },
      },
      onFailure: (error, nextInMs) =>
        tell({
          kind: "pipeline-failed",
          subject: name,
          pipeline: name,
          ...(nextInMs !== undefined && { nextInMs }),
          text:
            nextInMs === undefined
              ? `pipeline ${name} failed while it drained: ${error.message}; messages that are not acknowledged come again`
              : `pipeline ${name} failed: ${error.message}; it starts again in ${durationText(nextInMs)}`,
        }),
    });
  }
}

/** Limits with the rate limit of others, or without one. */
function withRateOf(
  { rateLimit }: FlowVertexLimits = {},
  limits: FlowVertexLimits,
): FlowVertexLimits {
  const { rateLimit: _, ...counts } = limits;
  return { ...counts, ...(rateLimit !== undefined && { rateLimit }) };
}

/** "in connects (pulsar)". */
function openingText(opening: Opening | undefined, { vertices, deadLetter }: FlowPipeline): string {
  if (opening === undefined) return "its connectors are made";
  const { vertex, what } = opening;
  if (what === "pool") return `${vertex} joins the pool of its limit in the store`;
  const { source, map, sink = deadLetter } = vertices.find(({ name }) => name === vertex) ?? {};
  const { kind } = source ?? map ?? sink ?? {};
  return `${vertex} connects${kind === undefined ? "" : ` (${kind})`}`;
}

function fleetOf(
  { maxMembers, replicas, share, lease }: FlowFleet = {},
  store: PoolStore | undefined,
): PipelineFleet {
  return {
    ...(share !== undefined && { share }),
    ...(store === undefined
      ? replicas !== undefined && { replicas }
      : {
          store,
          ...(maxMembers !== undefined && { maxMembers }),
          ...(lease !== undefined && { timing: { leaseMs: lease } }),
        }),
  };
}
