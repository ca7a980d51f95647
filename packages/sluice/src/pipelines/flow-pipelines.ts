import type { PoolStore } from "@sluice/fleet";
import type { FlowPipeline, FlowVertexLimits } from "../flow/pipeline/flow-pipeline.ts";
import { needsRestart, requireLiveLimits } from "./changed-pipeline.ts";
import { definePipeline } from "./define/define-pipeline.ts";
import { ManagedPipeline } from "./managed-pipeline.ts";
import type { PipelineHome, PipelinesWorld } from "./managed-pipeline.ts";
import type { GateMeters } from "./observe/gate-meters.ts";
import type { PipelineView } from "./pipeline-view.ts";
import type { SupervisedPipeline } from "./supervised-pipeline.ts";

type PipelinesOfFile = Readonly<Record<string, FlowPipeline>>;

/** What a new file changed. */
export interface Reloaded {
  readonly limits: readonly string[];
  readonly restarted: readonly string[];
  readonly started: readonly string[];
  readonly stopped: readonly string[];
}

/** All pipelines of a flow file, kept running beside each other: one that fails does not stop another. */
export class FlowPipelines {
  readonly #home: PipelineHome;
  readonly #world: PipelinesWorld;
  readonly #pipelines = new Map<string, ManagedPipeline>();
  #isStopping = false;
  /** The reload that is under way, or the last one. Never rejects. */
  #reloading: Promise<void> = Promise.resolve();

  /** `store` is where replicas meet; it is not closed here. */
  constructor(flow: string, store: PoolStore | undefined, world: PipelinesWorld) {
    this.#home = { flow, store };
    this.#world = world;
  }

  get gates(): GateMeters {
    return this.#world.gates;
  }

  get names(): readonly string[] {
    return [...this.#pipelines.keys()];
  }

  start(pipelines: PipelinesOfFile): void {
    for (const [name, flow] of Object.entries(pipelines)) this.#add(name, flow);
  }

  /** Resolves once every pipeline has come to the end of its source. One that a reload replaces has not. */
  async ended(): Promise<void> {
    const over = new WeakSet<SupervisedPipeline>();
    for (;;) {
      await this.#reloading;
      const left = [...this.#pipelines.values()]
        .map(({ supervised }) => supervised)
        .filter((supervised) => !over.has(supervised));
      if (left.length === 0) return;
      await Promise.all(left.map(({ ended }) => ended));
      for (const supervised of left) over.add(supervised);
    }
  }

  /** Sources stop first; what was read is written and acknowledged. A reload that is under way starts nothing more. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#pipelines.values()].map((pipeline) => pipeline.stop()));
  }

  views(): readonly PipelineView[] {
    return [...this.#pipelines.values()].map((pipeline) => pipeline.view());
  }

  /** Resolves once every pipeline of the file has read for the first time, or has ended. */
  async begun(): Promise<void> {
    await Promise.all([...this.#pipelines.values()].map(({ supervised }) => supervised.begun));
  }

  /** Undefined while all pipelines run. */
  notReady(): string | undefined {
    if (this.#isStopping) return "the pipelines are draining";
    for (const pipeline of this.#pipelines.values()) {
      const text = pipeline.notReady();
      if (text !== undefined) return text;
    }
    return undefined;
  }

  has(pipeline: string, vertex: string): boolean {
    return this.#pipelines.get(pipeline)?.has(vertex) ?? false;
  }

  /** `ManagedPipeline.setLimits` of a pipeline. */
  async setLimits(
    pipeline: string,
    vertex: string,
    limits: FlowVertexLimits | undefined,
  ): Promise<"now" | "at its next start"> {
    return (await this.#pipelines.get(pipeline)?.setLimits(vertex, limits)) ?? "now";
  }

  /** Takes over a new file: limits at once, everything else of a pipeline by a drain and a new start. */
  reload(pipelines: PipelinesOfFile): Promise<Reloaded> {
    return this.#asReload(this.#takeOver(pipelines).finally(() => this.#forgetGates()));
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
      const pipeline = this.#pipelines.get(name);
      // One at the end of its source would read it again.
      if (pipeline === undefined || pipeline.supervised.status === "stopped") continue;
      await pipeline.stop();
      if (!this.#isStopping) await pipeline.restart();
    }
  }

  /** Gates of vertices that are gone, or that a file which was refused would have had. */
  #forgetGates(): void {
    this.gates.keepOnly(new Set([...this.#pipelines.values()].flatMap(({ gateKeys }) => gateKeys)));
  }

  async #takeOver(pipelines: PipelinesOfFile): Promise<Reloaded> {
    const present = [...this.#pipelines.values()];
    const gone = present.filter(({ name }) => !Object.hasOwn(pipelines, name));
    const restarted = present.filter(({ name, flow }) => {
      const next = pipelines[name];
      return next !== undefined && needsRestart(flow, next);
    });
    const kept = present.filter((one) => !gone.includes(one) && !restarted.includes(one));
    const added = Object.keys(pipelines).filter((name) => !this.#pipelines.has(name));
    // What may fail comes first, and is undone: after that a pipeline that cannot start is a failed one.
    const { connectors } = this.#world;
    for (const { name, live } of restarted)
      requireLiveLimits(name, live, pipelines[name] as FlowPipeline);
    for (const name of [...restarted.map((one) => one.name), ...added])
      await definePipeline(name, pipelines[name] as FlowPipeline, connectors);
    const limits = await this.#reloadLimits(kept, pipelines);
    for (const pipeline of gone) {
      await pipeline.stop();
      this.#pipelines.delete(pipeline.name);
    }
    for (const pipeline of restarted) {
      await pipeline.stop();
      if (!this.#isStopping) await pipeline.restart(pipelines[pipeline.name]);
    }
    if (!this.#isStopping)
      for (const name of added) this.#add(name, pipelines[name] as FlowPipeline);
    return {
      limits,
      restarted: restarted.map(({ name }) => name),
      started: added,
      stopped: gone.map(({ name }) => name),
    };
  }

  /** New limits of the pipelines that go on; all of them, or none if one is refused. */
  async #reloadLimits(
    kept: readonly ManagedPipeline[],
    pipelines: PipelinesOfFile,
  ): Promise<readonly string[]> {
    const changed = kept.map((pipeline) => {
      const flow = pipelines[pipeline.name] as FlowPipeline;
      return { pipeline, flow, changes: pipeline.changesOf(flow) };
    });
    const undo: (() => Promise<void>)[] = [];
    try {
      for (const { pipeline, changes } of changed)
        for (const change of changes) {
          // A change that fails may have cleared limits, too.
          undo.unshift(pipeline.undoOf(change));
          await pipeline.define(change);
        }
    } catch (error) {
      for (const back of undo) await back().catch(() => undefined);
      throw error;
    }
    for (const { pipeline, flow, changes } of changed) pipeline.follow(flow, changes);
    return changed.flatMap(({ pipeline, changes }) =>
      changes.map(({ vertex }) => `${pipeline.name}/${vertex}`),
    );
  }

  #add(name: string, flow: FlowPipeline): void {
    this.#pipelines.set(name, new ManagedPipeline(name, flow, this.#home, this.#world));
  }
}
