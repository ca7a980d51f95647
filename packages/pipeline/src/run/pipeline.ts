import { ConfigError } from "@sluice/core";
import { asError } from "../as-error.ts";
import { SinkClosedError } from "../connector/connector-error.ts";
import type { Source } from "../connector/source.ts";
import type { VertexLimits } from "../definition/pipeline-definition.ts";
import type { Origin } from "../flow/origin.ts";
import type { Message } from "../message.ts";
import type { Acknowledger } from "./vertex/acknowledger.ts";
import type { Closing } from "./open-connectors.ts";
import type { PipelineState, PipelineStatus } from "./pipeline-state.ts";
import type { Pools } from "./limit/pools.ts";
import { slept } from "./run-context.ts";
import type { RunContext } from "./run-context.ts";
import type { RunningPipeline, SetLimitsOptions } from "./running-pipeline.ts";
import type { Channel } from "./vertex/channel.ts";
import type { Vertex } from "./vertex/vertex.ts";

/** How long calls that were cut off at the drain's deadline may take to end, ms: what they wrote is then acknowledged. */
const CUT_OFF_MS = 1000;
/**
 * Time from the drain's deadline until writes of sinks are aborted, ms; part of `CUT_OFF_MS`. An aborted request may have
 * arrived, and its message would come again.
 */
const ENDING_MS = 500;
/** How long a connector may take to close, ms. */
const CLOSE_MS = 5000;

/** The messages in a buffer, at most. */
const EVERYTHING: number = Number.MAX_SAFE_INTEGER;

interface PipelineParts {
  readonly context: RunContext;
  readonly stop: AbortController;
  readonly cut: AbortController;
  readonly abandon: AbortController;
  readonly vertices: readonly Vertex[];
  readonly channels: readonly Channel[];
  readonly source: Source;
  /** Frees the connectors, in this order. */
  readonly closings: readonly Closing[];
  readonly acknowledger: Acknowledger;
  readonly pools: Pools;
  readonly drainMs: number;
  /** The user's signal. */
  readonly signal: AbortSignal | undefined;
}

/** A pipeline from its start to its end. */
export class Pipeline implements RunningPipeline {
  readonly #parts: PipelineParts;
  readonly done: Promise<PipelineState>;
  #status: PipelineStatus = "running";
  #drainEnd: AbortController | undefined;

  constructor(parts: PipelineParts) {
    this.#parts = parts;
    const { context, signal } = parts;
    context.tell({ kind: "started", pipeline: context.pipeline, unacknowledged: 0 });
    const stop = (): void => this.#beginDrain();
    if (signal?.aborted === true) stop();
    else signal?.addEventListener("abort", stop, { once: true });
    this.done = this.#run().finally(() => signal?.removeEventListener("abort", stop));
  }

  get name(): string {
    return this.#parts.context.pipeline;
  }

  state(): PipelineState {
    const { vertices, context } = this.#parts;
    const nowMs = context.timer.now();
    return {
      name: this.name,
      status: this.#status,
      unacknowledged: this.#unacknowledged,
      vertices: vertices.map((vertex) => vertex.state(nowMs)),
    };
  }

  async setLimits(
    vertex: string,
    limits: VertexLimits,
    options: SetLimitsOptions = {},
  ): Promise<void> {
    const { vertices, context } = this.#parts;
    const found = vertices.find(({ name }) => name === vertex);
    if (found === undefined) {
      const names = vertices.map(({ name }) => name).join(", ");
      throw new ConfigError(`${this.name} has no vertex "${vertex}"; it has ${names}`);
    }
    await found.setLimits(limits, context.stopped, options);
  }

  async stop(): Promise<PipelineState> {
    this.#beginDrain();
    return this.done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  get #unacknowledged(): number {
    const { vertices, acknowledger } = this.#parts;
    return (vertices[0]?.meter.counts.read ?? 0) - acknowledger.acknowledged;
  }

  async #run(): Promise<PipelineState> {
    const { vertices, acknowledger, cut, abandon } = this.#parts;
    let failure: { readonly error: Error } | undefined;
    const drained = Promise.all(vertices.map(({ loop }) => loop.run())).then(() =>
      acknowledger.idle(),
    );
    try {
      await Promise.race([drained, aborted(cut.signal)]);
    } catch (thrown) {
      // The reader of a pipe has gone, as after `| head`: that ends a pipeline, and is no failure.
      if (!(thrown instanceof SinkClosedError)) failure = { error: asError(thrown) };
      cut.abort();
    }
    this.#beginDrain();
    this.#drainEnd?.abort();
    if (cut.signal.aborted) {
      // What a loop rejects with after its pipeline has ended is of no use.
      drained.catch(() => {});
      this.#wake();
      const idle = Promise.all(vertices.map(({ loop }) => loop.idle()));
      const isIdle = await this.#within(idle, ENDING_MS);
      abandon.abort();
      if (!isIdle) await this.#within(idle, CUT_OFF_MS - ENDING_MS);
    }
    await this.#close();
    return this.#end(failure);
  }

  #beginDrain(): void {
    if (this.#status !== "running") return;
    const { context, stop, drainMs } = this.#parts;
    this.#status = "draining";
    context.tell({ kind: "draining", pipeline: this.name, unacknowledged: this.#unacknowledged });
    stop.abort();
    this.#wake();
    this.#drainEnd = new AbortController();
    void this.#cutAfter(drainMs, this.#drainEnd.signal);
  }

  async #cutAfter(drainMs: number, drained: AbortSignal): Promise<void> {
    const { context, cut } = this.#parts;
    if (!(await slept(context.timer, drainMs, drained))) return;
    cut.abort();
    this.#wake();
  }

  #wake(): void {
    for (const { loop } of this.#parts.vertices) loop.wake();
  }

  /** Gives back what is not done, frees what was opened and leaves the pools. */
  async #close(): Promise<void> {
    const { acknowledger, vertices, source, closings, pools } = this.#parts;
    const vertex = vertices[0]?.name ?? "";
    await this.#closing({ vertex, end: () => acknowledger.idle() });
    acknowledger.close();
    const unfinished = this.#unfinished();
    if (unfinished.length > 0)
      await this.#closing({ vertex, end: async () => source.nack?.(unfinished) });
    for (const each of closings) await this.#closing(each);
    for (const { name, limit } of vertices)
      await this.#closing({ vertex: name, end: async () => limit.limiter?.leave("redeploy") });
    await this.#closing({ vertex, end: () => pools.close() });
  }

  /** Messages that were read and whose outputs are not all done. */
  #unfinished(): readonly Message[] {
    const { channels, vertices } = this.#parts;
    const origins = new Set<Origin>();
    for (const channel of channels)
      for (const origin of channel.take(EVERYTHING).origins) origins.add(origin);
    for (const { loop } of vertices)
      for (const batch of loop.inFlight) for (const origin of batch.origins) origins.add(origin);
    return [...origins].filter(({ isComplete }) => !isComplete).map(({ message }) => message);
  }

  async #closing({ vertex, end }: Closing): Promise<void> {
    let text: string;
    try {
      if (await this.#within(end(), CLOSE_MS)) return;
      text = `closing took longer than ${CLOSE_MS} ms`;
    } catch (thrown) {
      text = `closing failed: ${asError(thrown).message}`;
    }
    const event = { level: "warning", text } as const;
    this.#parts.context.tell({ kind: "connector", pipeline: this.name, vertex, event });
  }

  /** Whether the promise has settled within `ms`; throws what it rejects with. */
  async #within(promise: Promise<unknown>, ms: number): Promise<boolean> {
    const { timer } = this.#parts.context;
    const end = new AbortController();
    const late = slept(timer, ms, end.signal).then(() => false);
    try {
      return await Promise.race([promise.then(() => true), late]);
    } finally {
      end.abort();
    }
  }

  #end(failure: { readonly error: Error } | undefined): PipelineState {
    const { context } = this.#parts;
    const { pipeline } = context;
    if (failure === undefined) {
      this.#status = "stopped";
      context.tell({ kind: "stopped", pipeline, unacknowledged: this.#unacknowledged });
      return this.state();
    }
    this.#status = "failed";
    context.tell({ kind: "failed", pipeline, error: failure.error });
    throw failure.error;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
