import type { Random, Timer } from "@sluice/core";
import { checkLimits } from "@sluice/pipeline";
import type {
  PipelineDefinition,
  PipelineRuntime,
  PipelineState,
  PipelineStatus,
  RunningPipeline,
  SetLimitsOptions,
  VertexLimits,
  VertexState,
} from "@sluice/pipeline";

/** `startPipeline` of `@sluice/pipeline`. */
export type StartPipeline = (
  definition: PipelineDefinition,
  runtime: PipelineRuntime,
) => RunningPipeline | Promise<RunningPipeline>;

/** Pause before the second start of a pipeline that failed, ms; it doubles up to the longest. */
const BACKOFF_MS = 1_000;
/** Raised, a pipeline whose server is back waits longer for its next start. */
const BACKOFF_MAX_MS = 60_000;
/** A pipeline that ran for this long starts again after the shortest pause. */
const HEALTHY_MS = 60_000;

export interface SupervisedOptions {
  readonly name: string;
  /** Made anew for each start: connectors may read files. */
  readonly define: () => Promise<PipelineDefinition>;
  readonly start: StartPipeline;
  readonly runtime: PipelineRuntime;
  readonly timer: Timer;
  readonly random: Random;
  /** A start or a run failed, and the next start comes after `nextInMs`; undefined: it failed in its drain, and there is none. */
  readonly onFailure: (error: Error, nextInMs: number | undefined) => void;
}

/** Why a pipeline does not run, and when it is started again. */
export interface PipelineFailure {
  readonly error: Error;
  readonly atMs: number;
  readonly nextAtMs: number;
  /** Failures in a row. */
  readonly count: number;
}

/** How limits were set. */
interface SetOptions extends SetLimitsOptions {
  /** The version of the rate limit in the store, if the store has it. */
  readonly version?: number | undefined;
}

interface ChangedLimits {
  readonly limits: VertexLimits;
  readonly options: SetOptions;
}

/** Keeps a pipeline running: a start or a run that fails is tried again, with backoff, until `stop`. */
export class SupervisedPipeline {
  readonly name: string;
  readonly #options: SupervisedOptions;
  readonly #stopped = new AbortController();
  /** Limits that were set while the pipeline ran, for its next start. */
  readonly #changed = new Map<string, ChangedLimits>();
  readonly #ended: Promise<void>;
  readonly #begun: Promise<void>;
  #onBegun: () => void = () => {};
  #running: RunningPipeline | undefined;
  #failure: PipelineFailure | undefined;
  #last: PipelineState | undefined;
  #status: PipelineStatus = "starting";

  constructor(options: SupervisedOptions) {
    this.name = options.name;
    this.#options = options;
    this.#begun = new Promise((resolve) => {
      this.#onBegun = resolve;
    });
    this.#ended = this.#run().finally(() => this.#onBegun());
  }

  get status(): PipelineStatus {
    return this.#status;
  }

  /** False before its start has ended, and between two starts. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Undefined while it runs. */
  get failure(): PipelineFailure | undefined {
    return this.#failure;
  }

  /** Resolves when it reads for the first time, or has ended before. */
  get begun(): Promise<void> {
    return this.#begun;
  }

  /** Resolves when the source is at its end, or after `stop`. Never rejects. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  state(): PipelineState {
    if (this.#running !== undefined) return this.#running.state();
    const { unacknowledged = 0, vertices = [] } = this.#last ?? {};
    return {
      name: this.name,
      status: this.#status,
      unacknowledged,
      vertices: vertices.map(atRest),
    };
  }

  /** New limits of a vertex, now and after every further start. */
  async setLimits(vertex: string, limits: VertexLimits, options: SetOptions = {}): Promise<void> {
    // Limits that the next start refuses would keep the pipeline from starting.
    if (this.#running === undefined) checkLimits(limits, `${vertex}.limits`);
    else await this.#running.setLimits(vertex, limits, options);
    this.#changed.set(vertex, { limits, options });
  }

  /** Drains and ends; a start that is under way is given up. Never rejects, also if the drain fails. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { timer, random, onFailure } = this.#options;
    const { signal } = this.#stopped;
    let count = 0;
    while (!signal.aborted) {
      const startedAtMs = timer.now();
      try {
        this.#last = await this.#once();
        this.#status = "stopped";
        return;
      } catch (thrown) {
        if (this.#isStopping()) break;
        const error = asError(thrown);
        const nowMs = timer.now();
        count = nowMs - startedAtMs >= HEALTHY_MS ? 1 : count + 1;
        const pauseMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** (count - 1));
        const nextInMs = Math.ceil(pauseMs * (0.5 + random.next() / 2));
        this.#failure = { error, atMs: nowMs, nextAtMs: nowMs + nextInMs, count };
        this.#status = "failed";
        onFailure(error, nextInMs);
        await timer.sleep(nextInMs, signal).catch(() => undefined);
      }
    }
    this.#status = "stopped";
  }

  /** A method, as a stop may come while a start is awaited. */
  #isStopping(): boolean {
    return this.#stopped.signal.aborted;
  }

  async #once(): Promise<PipelineState> {
    const { define, start, runtime } = this.#options;
    const { signal } = this.#stopped;
    const definition = await define();
    signal.throwIfAborted();
    const begun = new Map(this.#changed);
    const running = await start(withLimits(definition, begun), { ...runtime, signal });
    try {
      await this.#applyChanges(running, begun);
      this.#running = running;
      this.#failure = undefined;
      this.#status = "running";
      this.#onBegun();
      return await running.done;
    } catch (error) {
      // The pipeline says in `done` why it ended; closing what is left must not hide that.
      const drainError = await running.stop().then(() => undefined, asError);
      // Before the pipeline counts as running, `error` is the stop itself, which rejects the change of limits that is under way.
      const failure = this.#running === undefined ? drainError : asError(error);
      if (this.#isStopping() && failure !== undefined) this.#options.onFailure(failure, undefined);
      throw error;
    } finally {
      this.#last = running.state();
      this.#running = undefined;
    }
  }

  /** Limits that were set during the start, and those that the store had when the pipeline ended and has forgotten since. */
  async #applyChanges(running: RunningPipeline, begun: Map<string, ChangedLimits>): Promise<void> {
    for (const [vertex, changed] of begun)
      if (isForgotten(running, vertex, changed)) await running.setLimits(vertex, changed.limits);
    for (;;) {
      const next = [...this.#changed].find(([vertex, changed]) => begun.get(vertex) !== changed);
      if (next === undefined) return;
      const [vertex, changed] = next;
      begun.set(vertex, changed);
      await running.setLimits(vertex, changed.limits, changed.options);
    }
  }
}

/** A vertex of a pipeline that does not run: only its counters are still true. */
function atRest({ name, kind, connector, counts }: VertexState): VertexState {
  return { name, kind, connector, counts, perSecond: 0, queue: undefined, inFlight: 0 };
}

/** Whether the pool of a vertex does not know limits that it knew before. A store keeps them only a while after the last member. */
function isForgotten(
  running: RunningPipeline,
  vertex: string,
  { options: { version, isUnset } }: ChangedLimits,
): boolean {
  if (version === undefined || isUnset === true) return false;
  const known = running.state().vertices.find(({ name }) => name === vertex)?.fleet?.membership;
  return known !== undefined && known.limitsVersion < version;
}

/**
 * The definition with limits that were set while the pipeline ran. A rate limit that the store has is found there: a vertex that was
 * started with it would keep it when another replica takes it back. Limits of vertices that are gone are left out.
 */
function withLimits(
  definition: PipelineDefinition,
  changed: ReadonlyMap<string, ChangedLimits>,
): PipelineDefinition {
  const limited = <V extends { readonly name: string; readonly limits?: VertexLimits | undefined }>(
    vertex: V,
  ): V => {
    const { limits, options } = changed.get(vertex.name) ?? {};
    if (limits === undefined) return vertex;
    const isStored = options?.isStored === true;
    return {
      ...vertex,
      limits: isStored ? { ...limits, rateLimit: vertex.limits?.rateLimit } : limits,
    };
  };
  const { source, maps, sink } = definition;
  return { ...definition, source: limited(source), maps: maps.map(limited), sink: limited(sink) };
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
