import { isDeepStrictEqual } from "node:util";
import type { Random, Reason, Timer } from "@sluice/core";
import { inheritRateLimit } from "@sluice/fleet";
import type { PoolStore } from "@sluice/fleet";
import { durationText } from "@sluice/gateway/internal";
import type { PartEvent } from "@sluice/gateway";
import type { PipelineEvent, PipelineFleet, PipelineState, VertexLimits } from "@sluice/pipeline";
import type { FlowFleet, FlowPipeline, FlowVertexLimits } from "../flow/pipeline/flow-pipeline.ts";
import { definePipeline, limitsOf } from "./define/define-pipeline.ts";
import type { Connectors } from "./define/define-pipeline.ts";
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
    }));
  }

  /** Undefined while all pipelines run. */
  notReady(): string | undefined {
    if (this.#isStopping) return "the pipelines are draining";
    const { timer } = this.#world;
    for (const [name, { pipeline }] of this.#entries) {
      const { failure } = pipeline;
      if (failure === undefined) continue;
      const nextInMs = Math.max(1, failure.nextAtMs - timer.now());
      return `pipeline ${name} failed: ${failure.error.message}; next start in ${durationText(nextInMs)}`;
    }
    return undefined;
  }

  has(pipeline: string, vertex: string): boolean {
    return this.#entries.get(pipeline)?.flow.vertices.some(({ name }) => name === vertex) ?? false;
  }

  /** Limits of a vertex from now on, for the whole fleet; undefined: those of the flow file again. */
  async setLimits(
    pipeline: string,
    vertex: string,
    limits: FlowVertexLimits | undefined,
  ): Promise<void> {
    const entry = this.#entries.get(pipeline);
    if (entry === undefined) return;
    const wanted = limits ?? ownLimitsOf(entry.flow, vertex);
    await entry.pipeline.setLimits(vertex, effectiveOf(entry.flow, wanted));
    if (limits === undefined) entry.live.delete(vertex);
    else entry.live.set(vertex, { limits, setAtMs: this.#world.wallClock.now() });
  }

  /** Takes over a new file: limits at once, everything else of a pipeline by a drain and a new start. */
  reload(pipelines: Readonly<Record<string, FlowPipeline>>): Promise<Reloaded> {
    const reloaded = this.#reload(pipelines);
    this.#reloading = reloaded.then(
      () => undefined,
      () => undefined,
    );
    return reloaded;
  }

  async #reload(pipelines: Readonly<Record<string, FlowPipeline>>): Promise<Reloaded> {
    const changes = { limits: [], restarted: [], started: [], stopped: [] } as {
      [Kind in keyof Reloaded]: string[];
    };
    for (const [name, entry] of this.#entries)
      if (!Object.hasOwn(pipelines, name)) {
        changes.stopped.push(name);
        await entry.pipeline.stop();
        this.#entries.delete(name);
      }
    for (const [name, flow] of Object.entries(pipelines)) {
      const entry = this.#entries.get(name);
      if (entry === undefined) {
        changes.started.push(name);
        this.#add(name, flow);
      } else if (needsRestart(entry.flow, flow)) {
        changes.restarted.push(name);
        await entry.pipeline.stop();
        entry.flow = flow;
        entry.pipeline = this.#supervise(name, entry);
        for (const [vertex, { limits }] of entry.live)
          if (this.has(name, vertex))
            await entry.pipeline.setLimits(vertex, effectiveOf(flow, limits));
          else entry.live.delete(vertex);
      } else changes.limits.push(...(await this.#reloadLimits(name, entry, flow)));
    }
    return changes;
  }

  async #reloadLimits(name: string, entry: Entry, flow: FlowPipeline): Promise<readonly string[]> {
    const before = entry.flow;
    entry.flow = flow;
    const changed: string[] = [];
    for (const { name: vertex } of flow.vertices) {
      const wanted = effectiveOf(flow, ownLimitsOf(flow, vertex));
      if (isDeepStrictEqual(effectiveOf(before, ownLimitsOf(before, vertex)), wanted)) continue;
      await entry.pipeline.setLimits(vertex, wanted);
      entry.live.delete(vertex);
      changed.push(`${name}/${vertex}`);
    }
    return changed;
  }

  #track({ throttled }: Entry, event: PipelineEvent): void {
    if (event.kind === "throttled") {
      const { vertex, reason, detail } = event;
      throttled.set(vertex, { reason, detail, sinceMs: this.#world.timer.now() });
    } else if (event.kind === "flowing") throttled.delete(event.vertex);
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
