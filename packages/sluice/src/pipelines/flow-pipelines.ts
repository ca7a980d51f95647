import { isDeepStrictEqual } from "node:util";
import type { Random, Reason, Timer } from "@sluice/core";
import { inheritRateLimit } from "@sluice/fleet";
import type { PoolStore } from "@sluice/fleet";
import { durationText } from "@sluice/gateway/internal";
import type { PartEvent } from "@sluice/gateway";
import { checkLimits, setVertexLimits } from "@sluice/pipeline";
import type { PipelineEvent, PipelineFleet, PipelineState, VertexLimits } from "@sluice/pipeline";
import type { FlowFleet, FlowPipeline, FlowVertexLimits } from "../flow/pipeline/flow-pipeline.ts";
import { definePipeline, limitsOf } from "./define/define-pipeline.ts";
import type { Connectors } from "./define/define-pipeline.ts";
import type { GateCounts } from "./observe/gate-counts.ts";
import type { GateMeters } from "./observe/gate-meters.ts";
import { partEventOf } from "./observe/pipeline-events.ts";
import { SupervisedPipeline } from "./supervised-pipeline.ts";
import type { PipelineFailure, StartPipeline } from "./supervised-pipeline.ts";

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

/** Where the limits of a vertex come from. */
interface VertexLimitSource {
  /** What it leaves out comes from the pipeline. */
  readonly limits: FlowVertexLimits;
  /** Wall time; undefined: the flow file has them. */
  readonly setAtMs?: number | undefined;
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
  /** Limits that were set while it ran. */
  readonly live: Map<string, VertexLimitSource>;
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
    return [...this.#entries].map(([name, entry]) => ({
      flow: entry.flow,
      state: entry.pipeline.state(),
      failure: entry.pipeline.failure,
      limitsOf: (vertex) => limitSourceOf(entry, vertex),
      throttledOf: (vertex) => entry.throttled.get(vertex),
      gateSinceMs: (vertex, reason) => gates.waitingSinceMs(`${name}/${vertex}`, reason),
      gateCountsOf: (vertex) => gates.countsOf(`${name}/${vertex}`),
    }));
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
    const effective = effectiveOf(entry.flow, limits ?? ownLimitsOf(entry.flow, vertex));
    const isDown = !entry.pipeline.isRunning;
    checkLimits(effective, `${vertex}.limits`);
    if (isUnset) await this.#share(pipeline, vertex, undefined);
    else if (effective.rateLimit !== undefined)
      await this.#share(pipeline, vertex, effective.rateLimit);
    const isStored = this.#store !== undefined;
    await entry.pipeline.setLimits(vertex, effective, { isUnset, isStored });
    if (isUnset) entry.live.delete(vertex);
    else entry.live.set(vertex, { limits, setAtMs: this.#world.wallClock.now() });
    return isDown ? "at its next start" : "now";
  }

  /** Sets a rate limit for all replicas; undefined: that of their flow files again. */
  async #share(
    pipeline: string,
    vertex: string,
    rateLimit: VertexLimits["rateLimit"],
  ): Promise<void> {
    const flow = this.#entries.get(pipeline)?.flow;
    if (this.#store === undefined || flow === undefined) return;
    const isUnlimited = !isLimited(flow, vertex);
    const pool = { flow: this.#name, pipeline, vertex };
    await setVertexLimits(this.#store, pool, rateLimit, { isUnlimited });
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
    for (const [vertex, { limits }] of entry.live) {
      if (!this.has(name, vertex)) {
        entry.live.delete(vertex);
        continue;
      }
      const effective = effectiveOf(entry.flow, limits);
      const isStored = await this.#isFound(name, vertex, effective.rateLimit);
      await entry.pipeline.setLimits(vertex, effective, { isStored });
    }
  }

  /** Whether the store has a limit that was set before. A vertex that has lost its limit in the file has no pool yet. */
  async #isFound(
    pipeline: string,
    vertex: string,
    rateLimit: VertexLimits["rateLimit"],
  ): Promise<boolean> {
    const flow = this.#entries.get(pipeline)?.flow;
    if (this.#store === undefined || flow === undefined) return false;
    if (isLimited(flow, vertex)) return true;
    return this.#share(pipeline, vertex, rateLimit).then(
      () => true,
      // It then holds for this replica alone.
      () => false,
    );
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
        const former = effectiveOf(entry.flow, limitSourceOf(entry, vertex).limits);
        await entry.pipeline.setLimits(vertex, to, { isDefinition: true });
        undo.unshift(() => entry.pipeline.setLimits(vertex, former, { isDefinition: true }));
      }
    } catch (error) {
      for (const back of undo) await back().catch(() => undefined);
      throw error;
    }
    for (const [name, entry] of entries) entry.flow = pipelines[name] as FlowPipeline;
    for (const { entry, vertex } of changed) entry.live.delete(vertex);
    return changed.map(({ name, vertex }) => `${name}/${vertex}`);
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
          nextInMs,
          text: `pipeline ${name} failed: ${error.message}; it starts again in ${durationText(nextInMs)}`,
        }),
    });
  }
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

function limitSourceOf({ flow, live }: Entry, vertex: string): VertexLimitSource {
  return live.get(vertex) ?? { limits: ownLimitsOf(flow, vertex) };
}

function ownLimitsOf({ vertices }: FlowPipeline, vertex: string): FlowVertexLimits {
  return vertices.find(({ name }) => name === vertex)?.limits ?? {};
}

/** The limits of a vertex with what the pipeline gives. */
export function effectiveOf({ limits: outer }: FlowPipeline, own: FlowVertexLimits): VertexLimits {
  const rateLimit = inheritRateLimit(outer?.rateLimit, own.rateLimit);
  return limitsOf({
    ...outer,
    ...own,
    ...(rateLimit !== undefined && { rateLimit }),
  });
}

/** Limits are changed live, but for one that the new file does not have: the engine would inherit the former one. */
function needsRestart(before: FlowPipeline, after: FlowPipeline): boolean {
  if (!isDeepStrictEqual(withoutLimits(before), withoutLimits(after))) return true;
  return after.vertices.some(({ name }) => isLimited(before, name) && !isLimited(after, name));
}

function isLimited(flow: FlowPipeline, vertex: string): boolean {
  return effectiveOf(flow, ownLimitsOf(flow, vertex)).rateLimit !== undefined;
}

/** What cannot be changed while a pipeline runs. */
function withoutLimits(flow: FlowPipeline): object {
  const vertices = flow.vertices.map((vertex) => ({ ...vertex, limits: undefined }));
  return { ...flow, limits: undefined, vertices };
}
