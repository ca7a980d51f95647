import { isDeepStrictEqual } from "node:util";
import type { Random, Reason, Timer } from "@sluice/core";
import type { PoolStore } from "@sluice/fleet";
import { durationText } from "@sluice/gateway/internal";
import type { PartEvent } from "@sluice/gateway";
import { checkLimits, setVertexLimits } from "@sluice/pipeline";
import type { PipelineEvent, PipelineFleet, PipelineState, VertexLimits } from "@sluice/pipeline";
import type { FlowFleet, FlowPipeline, FlowVertexLimits } from "../flow/pipeline/flow-pipeline.ts";
import { DEAD_LETTER, definePipeline } from "./define/define-pipeline.ts";
import type { Connectors } from "./define/define-pipeline.ts";
import type { GateCounts } from "./observe/gate-counts.ts";
import type { GateMeters } from "./observe/gate-meters.ts";
import { needsRestart, requireLiveLimits } from "./changed-pipeline.ts";
import { partEventOf } from "./observe/pipeline-events.ts";
import { SupervisedPipeline } from "./supervised-pipeline.ts";
import type { PipelineFailure, StartPipeline } from "./supervised-pipeline.ts";
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

/** A pipeline that runs, with what its file says. */
export interface PipelineView {
  readonly flow: FlowPipeline;
  readonly state: PipelineState;
  readonly failure: PipelineFailure | undefined;
  readonly limitsOf: (vertex: string) => VertexLimitSource;
  /** Since when a vertex waits, now and again, for one reason; undefined while it flows. */
  readonly throttledOf: (vertex: string) => Throttled | undefined;
  /** Since when requests of a sink wait in its gate for a reason. */
  readonly gateSinceMs: (vertex: string, reason: Reason) => number | undefined;
  /** What the gate of a sink did so far; undefined if it has none. */
  readonly gateCountsOf: (vertex: string) => GateCounts | undefined;
}

/** A vertex that reads in turns with waits is throttled from the first wait to the end of the last. */
export interface Throttled {
  readonly reason: Reason;
  readonly detail: string;
  readonly sinceMs: number;
}

interface Entry {
  flow: FlowPipeline;
  pipeline: SupervisedPipeline;
  /** Limits that were set while it ran, by vertex. */
  readonly live: Map<string, LiveLimits>;
  readonly throttled: Map<string, Throttled>;
  /** What the start has come to; undefined once it reads. */
  opening: Opening | undefined;
}

interface Opening {
  readonly vertex: string;
  readonly what: "pool" | "connector";
}

/** What a new file changed. */
export interface Reloaded {
  readonly limits: readonly string[];
  readonly restarted: readonly string[];
  readonly started: readonly string[];
  readonly stopped: readonly string[];
}

/** All pipelines of a flow file, kept running beside each other: one that fails does not stop another. */
export class FlowPipelines {
  readonly #name: string;
  readonly #store: PoolStore | undefined;
  readonly #world: PipelinesWorld;
  readonly #entries = new Map<string, Entry>();
  #isStopping = false;
  /** The reload that is under way, or the last one. Never rejects. */
  #reloading: Promise<void> = Promise.resolve();

  /** `store` is where replicas meet; it is not closed here. */
  constructor(name: string, store: PoolStore | undefined, world: PipelinesWorld) {
    this.#name = name;
    this.#store = store;
    this.#world = world;
  }

  get gates(): GateMeters {
    return this.#world.gates;
  }

  get names(): readonly string[] {
    return [...this.#entries.keys()];
  }

  start(pipelines: Readonly<Record<string, FlowPipeline>>): void {
    for (const [name, flow] of Object.entries(pipelines)) this.#add(name, flow);
  }

  /** Resolves once every pipeline has come to the end of its source. One that a reload replaces has not. */
  async ended(): Promise<void> {
    const over = new WeakSet<SupervisedPipeline>();
    for (;;) {
      await this.#reloading;
      const left = [...this.#entries.values()]
        .map(({ pipeline }) => pipeline)
        .filter((pipeline) => !over.has(pipeline));
      if (left.length === 0) return;
      await Promise.all(left.map(({ ended }) => ended));
      for (const pipeline of left) over.add(pipeline);
    }
  }

  /** Sources stop first; what was read is written and acknowledged. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#entries.values()].map(({ pipeline }) => pipeline.stop()));
  }

  views(): readonly PipelineView[] {
    const { gates } = this.#world;
    return [...this.#entries].map(([name, entry]) => {
      const { flow, pipeline, throttled } = entry;
      const state = pipeline.state();
      return {
        flow,
        state,
        failure: pipeline.failure,
        limitsOf: (vertex) => heldLimitsOf(entry, vertex, state),
        throttledOf: (vertex) => throttled.get(vertex),
        gateSinceMs: (vertex, reason) => gates.waitingSinceMs(`${name}/${vertex}`, reason),
        gateCountsOf: (vertex) => gates.countsOf(`${name}/${vertex}`),
      };
    });
  }

  /** Resolves once every pipeline of the file has read for the first time, or has ended. */
  async begun(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ pipeline }) => pipeline.begun));
  }

  /** Undefined while all pipelines run. */
  notReady(): string | undefined {
    if (this.#isStopping) return "the pipelines are draining";
    const { timer } = this.#world;
    for (const [name, { pipeline, opening, flow }] of this.#entries) {
      const { failure, status } = pipeline;
      if (failure === undefined && status === "starting")
        return `pipeline ${name} starts: ${openingText(opening, flow)}`;
      if (failure === undefined) continue;
      const nextInMs = Math.max(1, failure.nextAtMs - timer.now());
      return `pipeline ${name} failed: ${failure.error.message}; next start in ${durationText(nextInMs)}`;
    }
    return undefined;
  }

  has(pipeline: string, vertex: string): boolean {
    return this.#entries.get(pipeline)?.flow.vertices.some(({ name }) => name === vertex) ?? false;
  }

  /**
   * Limits of a vertex from now on, the rate limit for the whole fleet; undefined: those of the flow file again. A
   * pipeline that is down has them at its next start, and its other replicas within a second.
   */
  async setLimits(
    pipeline: string,
    vertex: string,
    limits: FlowVertexLimits | undefined,
  ): Promise<"now" | "at its next start"> {
    const entry = this.#entries.get(pipeline);
    if (entry === undefined) return "now";
    const isUnset = limits === undefined;
    const whole = withOwnRate(entry.flow, vertex, limits ?? {});
    const effective = effectiveOf(entry.flow, isUnset ? ownLimitsOf(entry.flow, vertex) : whole);
    const isDown = !entry.pipeline.isRunning;
    checkLimits(effective, `${vertex}.limits`);
    const held = heldLimitsOf(entry, vertex).limits.rateLimit;
    const isChanged =
      effective.rateLimit !== undefined && !isDeepStrictEqual(whole.rateLimit, held);
    const isShared = isUnset || isChanged;
    const former = entry.live.get(vertex);
    const version = isShared
      ? await this.#share(pipeline, vertex, isUnset ? undefined : effective.rateLimit)
      : former?.version;
    const isStored = this.#store !== undefined;
    await entry.pipeline.setLimits(vertex, effective, { isUnset, isStored, version });
    // A rate limit of the file, or of another replica, that was only repeated would outlast a change of it.
    const set = isShared ? limits : withRateOf(former?.limits, limits);
    entry.live.set(vertex, { limits: set, setAtMs: this.#world.wallClock.now(), version });
    return isDown ? "at its next start" : "now";
  }

  /** Sets a rate limit for all replicas; undefined: that of their flow files again. Answers its version; undefined without a store. */
  async #share(
    pipeline: string,
    vertex: string,
    rateLimit: VertexLimits["rateLimit"],
  ): Promise<number | undefined> {
    const flow = this.#entries.get(pipeline)?.flow;
    if (this.#store === undefined || flow === undefined) return undefined;
    const isUnlimited = !isLimited(flow, vertex);
    const pool = { flow: this.#name, pipeline, vertex };
    return setVertexLimits(this.#store, pool, rateLimit, { isUnlimited });
  }

  /** Takes over a new file: limits at once, everything else of a pipeline by a drain and a new start. */
  reload(pipelines: Readonly<Record<string, FlowPipeline>>): Promise<Reloaded> {
    return this.#asReload(this.#reload(pipelines));
  }

  /** Drains pipelines and starts them with the same settings: a file that they load has changed. */
  restart(names: readonly string[]): Promise<void> {
    return this.#asReload(this.#restartAll(names));
  }

  #asReload<T>(reloaded: Promise<T>): Promise<T> {
    this.#reloading = reloaded.then(
      () => undefined,
      () => undefined,
    );
    return reloaded;
  }

  async #restartAll(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const entry = this.#entries.get(name);
      // One at the end of its source would read it again.
      if (entry === undefined || entry.pipeline.status === "stopped") continue;
      await entry.pipeline.stop();
      await this.#restart(name, entry);
    }
  }

  async #reload(pipelines: Readonly<Record<string, FlowPipeline>>): Promise<Reloaded> {
    try {
      return await this.#takeOver(pipelines);
    } finally {
      this.#forgetGates();
    }
  }

  /** Gates of vertices that are gone, or that a file which was refused would have had. */
  #forgetGates(): void {
    const entries = [...this.#entries];
    this.gates.keepOnly(
      new Set(
        entries.flatMap(([name, { flow }]) =>
          [...flow.vertices.map((vertex) => vertex.name), DEAD_LETTER].map(
            (vertex) => `${name}/${vertex}`,
          ),
        ),
      ),
    );
  }

  async #takeOver(pipelines: Readonly<Record<string, FlowPipeline>>): Promise<Reloaded> {
    const entries = [...this.#entries];
    const gone = entries.filter(([name]) => !Object.hasOwn(pipelines, name));
    const restarted = entries.filter(([name, { flow }]) => {
      const next = pipelines[name];
      return next !== undefined && needsRestart(flow, next);
    });
    const kept = entries.filter((entry) => !gone.includes(entry) && !restarted.includes(entry));
    const added = Object.keys(pipelines).filter((name) => !this.#entries.has(name));
    // What may fail comes first, and is undone: after that a pipeline that cannot start is a failed one.
    const { connectors } = this.#world;
    for (const [name, entry] of restarted)
      requireLiveLimits(name, entry.live, pipelines[name] as FlowPipeline);
    for (const name of [...restarted.map(([one]) => one), ...added])
      await definePipeline(name, pipelines[name] as FlowPipeline, connectors);
    const limits = await this.#reloadLimits(kept, pipelines);
    for (const [name, { pipeline }] of gone) {
      await pipeline.stop();
      this.#entries.delete(name);
    }
    for (const [name, entry] of restarted) {
      await entry.pipeline.stop();
      entry.flow = pipelines[name] as FlowPipeline;
      await this.#restart(name, entry);
    }
    for (const name of added) this.#add(name, pipelines[name] as FlowPipeline);
    return {
      limits,
      restarted: restarted.map(([name]) => name),
      started: added,
      stopped: gone.map(([name]) => name),
    };
  }

  /** Starts a pipeline with its new settings; limits that were set while it ran stay. */
  async #restart(name: string, entry: Entry): Promise<void> {
    entry.pipeline = this.#supervise(name, entry);
    for (const [vertex, live] of entry.live) {
      const { limits } = live;
      if (limits === undefined || !this.has(name, vertex)) {
        entry.live.delete(vertex);
        continue;
      }
      const effective = effectiveOf(entry.flow, withOwnRate(entry.flow, vertex, limits));
      const version = await this.#versionAfterRestart(name, vertex, live, effective);
      entry.live.set(vertex, { ...live, version });
      // The rate limit of the file is a replica's own, and is not written to the store.
      const isStored = version !== undefined || limits.rateLimit === undefined;
      await entry.pipeline.setLimits(vertex, effective, { isStored, version });
    }
  }

  /** The version in the store of a limit that was set before; undefined if the store does not have it. */
  async #versionAfterRestart(
    pipeline: string,
    vertex: string,
    { version }: LiveLimits,
    { rateLimit }: VertexLimits,
  ): Promise<number | undefined> {
    const flow = this.#entries.get(pipeline)?.flow;
    // A vertex that has lost its limit in the file has no pool yet: its replicas look for an announcement.
    if (flow === undefined || rateLimit === undefined || isLimited(flow, vertex)) return version;
    // Without the store it holds for this replica alone.
    return this.#share(pipeline, vertex, rateLimit).catch(() => undefined);
  }

  /** New limits of the pipelines that go on; all of them, or none if one is refused. */
  async #reloadLimits(
    entries: readonly (readonly [string, Entry])[],
    pipelines: Readonly<Record<string, FlowPipeline>>,
  ): Promise<readonly string[]> {
    const changed = entries.flatMap(([name, entry]) => {
      const flow = pipelines[name] as FlowPipeline;
      return flow.vertices.flatMap(({ name: vertex }) => {
        const [from, to] = [entry.flow, flow].map((one) =>
          effectiveOf(one, ownLimitsOf(one, vertex)),
        ) as [VertexLimits, VertexLimits];
        return isDeepStrictEqual(from, to) ? [] : [{ name, entry, vertex, to }];
      });
    });
    const undo: (() => Promise<void>)[] = [];
    try {
      for (const { entry, vertex, to } of changed) {
        // Read before the change, which clears the limits that another replica has set.
        const held = heldLimitsOf(entry, vertex);
        // A change that fails may have cleared them, too.
        undo.unshift(() => this.#takeBack(entry, vertex, held));
        await entry.pipeline.setLimits(vertex, to, { isDefinition: true });
      }
    } catch (error) {
      for (const back of undo) await back().catch(() => undefined);
      throw error;
    }
    for (const [name, entry] of entries) entry.flow = pipelines[name] as FlowPipeline;
    for (const { entry, vertex } of changed) entry.live.delete(vertex);
    return changed.map(({ name, vertex }) => `${name}/${vertex}`);
  }

  /** The limits of the present file, and over them those that were set while the pipeline ran, here or by another replica. */
  async #takeBack(
    { flow, pipeline }: Entry,
    vertex: string,
    { limits, setAtMs }: VertexLimitSource,
  ): Promise<void> {
    const own = ownLimitsOf(flow, vertex);
    await pipeline.setLimits(vertex, effectiveOf(flow, own), { isDefinition: true });
    if (setAtMs === undefined) return;
    // A rate limit that is the file's is not written to the store.
    const isStored = isDeepStrictEqual(limits.rateLimit, own.rateLimit);
    await pipeline.setLimits(vertex, effectiveOf(flow, limits), { isStored });
  }

  #track(entry: Entry, event: PipelineEvent): void {
    const { throttled } = entry;
    if (event.kind === "throttled") {
      const { vertex, reason, detail } = event;
      throttled.set(vertex, { reason, detail, sinceMs: this.#world.timer.now() });
    } else if (event.kind === "flowing") throttled.delete(event.vertex);
    else if (event.kind === "opening") entry.opening = { vertex: event.vertex, what: event.what };
    else if (event.kind === "started") entry.opening = undefined;
    else if (event.kind === "stopped" || event.kind === "failed") throttled.clear();
  }

  #add(name: string, flow: FlowPipeline): void {
    const entry = { flow, live: new Map(), throttled: new Map() } as unknown as Entry;
    entry.pipeline = this.#supervise(name, entry);
    this.#entries.set(name, entry);
  }

  #supervise(name: string, entry: Entry): SupervisedPipeline {
    const { start, connectors, timer, random, tell } = this.#world;
    return new SupervisedPipeline({
      name,
      // Read at every start: a reload may have changed the limits since.
      define: () => definePipeline(name, entry.flow, connectors),
      start,
      timer,
      random,
      runtime: {
        flow: this.#name,
        fleet: fleetOf(entry.flow.fleet, this.#store),
        timer,
        random,
        observe: (event) => {
          this.#track(entry, event);
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

/** The limits that hold for a vertex, wherever they were set. */
function heldLimitsOf(
  { flow, pipeline, live }: Entry,
  vertex: string,
  { vertices }: PipelineState = pipeline.state(),
): VertexLimitSource {
  const fleet = vertices.find(({ name }) => name === vertex)?.fleet;
  return limitSourceOf(flow, vertex, live.get(vertex), fleet);
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
