import { asError } from "../../as-error.ts";
import type { SinkGate } from "../../connector/sink.ts";
import { InvariantError } from "@sluice/core";
import type { FleetLimiter } from "@sluice/fleet";
import type { VertexLimits } from "../../definition/pipeline-definition.ts";
import { settingsOf } from "../../definition/vertex-settings.ts";
import type { VertexSettings } from "../../definition/vertex-settings.ts";
import type { Batch } from "../../flow/batch.ts";
import type { VertexState, VertexWaiting, VertexWork } from "../pipeline-state.ts";
import type { RunContext } from "../run-context.ts";
import type { SetLimitsOptions } from "../running-pipeline.ts";
import type { Pools } from "../limit/pools.ts";
import type { ReadLimit } from "../limit/read-limit.ts";
import type { VertexMeter } from "./vertex-meter.ts";

/** What the kinds of vertices do in their own ways. */
export interface VertexLoop {
  /** Until no message comes any more and all are done, or until the drain's deadline. */
  run(): Promise<void>;
  /** Makes the loop look at its signals again. */
  wake(): void;
  /** Resolves when no batch is read or processed. */
  idle(): Promise<void>;
  /** Batches that were read and are not done. */
  readonly inFlight: Iterable<Batch>;
  /** Messages that wait to be read. */
  queue(): number | undefined;
  /** Most messages that can wait to be read; undefined for a source, whose server decides. */
  readonly queueMax?: number;
  /** The oldest batch that it works on. */
  work(): VertexWork | undefined;
  /** Why it waits, if not for tokens. */
  why(): VertexWaiting | undefined;
  /** The gate of a sink, if it has one. */
  gate?(): SinkGate | undefined;
}

interface VertexParts {
  readonly name: string;
  readonly kind: VertexState["kind"];
  readonly connector: string;
  readonly meter: VertexMeter;
  readonly limit: ReadLimit;
  readonly pools: Pools;
  readonly context: RunContext;
  /** Defaults of the pipeline. */
  readonly defaults: VertexLimits | undefined;
}

/** A vertex that runs, with limits that can be changed. */
export class Vertex {
  readonly name: string;
  readonly #parts: VertexParts;
  #settings: VertexSettings;
  /** The rate limit of its definition. */
  #definedWith: VertexSettings["rateLimit"];
  #turn: Promise<void> = Promise.resolve();
  #loop: VertexLoop | undefined;

  constructor(parts: VertexParts, settings: VertexSettings) {
    this.name = parts.name;
    this.#parts = parts;
    this.#settings = settings;
    this.#definedWith = settings.rateLimit;
  }

  readonly settings = (): VertexSettings => this.#settings;

  get meter(): VertexMeter {
    return this.#parts.meter;
  }

  get limit(): ReadLimit {
    return this.#parts.limit;
  }

  get loop(): VertexLoop {
    if (this.#loop === undefined) throw new InvariantError(`${this.name} does not run yet`);
    return this.#loop;
  }

  /** Gives the vertex its loop, which needs the vertex's settings. */
  attach(loop: VertexLoop): void {
    this.#loop = loop;
  }

  /** New limits, at once; what is left out is the pipeline's, as in the definition. */
  setLimits(
    limits: VertexLimits,
    signal: AbortSignal,
    options: SetLimitsOptions = {},
  ): Promise<void> {
    const { defaults, name } = this.#parts;
    return this.#inTurn(async () => {
      const given = settingsOf(defaults, limits, `${name}.limits`);
      // A limit that came through the store stays while only other settings change.
      const isKept = options.isStored === true && options.isUnset !== true;
      const rateLimit = given.rateLimit ?? (isKept ? this.#settings.rateLimit : undefined);
      const settings = { ...given, rateLimit };
      await this.#share(settings.rateLimit, options);
      if (options.isDefinition === true) this.#definedWith = settings.rateLimit;
      await this.#use(settings.rateLimit, signal, options);
      this.#settings = settings;
      this.loop.wake();
    });
  }

  /** Follows limits that others of the fleet set. Resolves once it is known whether there are any now. */
  async follow(signal: AbortSignal): Promise<void> {
    const { pools, name, context } = this.#parts;
    let taken: Promise<void> | undefined;
    await pools.watch(name, (rateLimit) => {
      taken = this.#inTurn(() => this.#onAnnounced(rateLimit, signal)).catch((error: unknown) => {
        if (signal.aborted) return;
        const text = `the limit that was set for ${name} cannot be taken: ${asError(error).message}`;
        const event = { level: "warning", text } as const;
        context.tell({ kind: "connector", pipeline: context.pipeline, vertex: name, event });
      });
    });
    await taken;
  }

  /** Another replica, or this one, has set or cleared the limit of a vertex that is defined without one. */
  async #onAnnounced(rateLimit: VertexSettings["rateLimit"], signal: AbortSignal): Promise<void> {
    // In a pool already: its next sync brings the new limit.
    const isKnown = (rateLimit === undefined) === (this.#parts.limit.limiter === undefined);
    if (this.#definedWith !== undefined || isKnown) return;
    await this.#use(rateLimit, signal);
    this.#settings = { ...this.#settings, rateLimit };
    this.#loop?.wake();
  }

  /** Tells the other replicas. */
  async #share(
    rateLimit: VertexSettings["rateLimit"],
    { isUnset = false, isStored = false, isDefinition = false }: SetLimitsOptions,
  ): Promise<void> {
    const { pools, limit, name } = this.#parts;
    const { limiter } = limit;
    if (isStored) return;
    if (this.#definedWith === undefined && !isDefinition) await pools.announce(name, rateLimit);
    else if (rateLimit !== undefined && limiter !== undefined) {
      if (!isUnset && !isDefinition) await pools.setLimits(name, rateLimit);
      // Limits of the whole pool would go before those of the definition.
      else if (isUnset || hasPoolLimits(limiter)) await pools.unsetLimits(name);
    }
  }

  /** Joins the pool, leaves it, or changes the limits of its own that the limiter has. */
  async #use(
    rateLimit: VertexSettings["rateLimit"],
    signal: AbortSignal,
    { isUnset = false, isDefinition = false }: SetLimitsOptions = {},
  ): Promise<void> {
    const { pools, limit, name } = this.#parts;
    const { limiter } = limit;
    if (rateLimit !== undefined && limiter !== undefined) {
      if (isUnset || isDefinition) limiter.setOwnLimits(rateLimit);
      // Limits that are set for the whole pool come with its next sync.
      else if (!pools.isShared) limiter.setRateLimit(rateLimit);
      return;
    }
    if (rateLimit === undefined && limiter === undefined) return;
    const isAnnounced = this.#definedWith === undefined;
    const before = limit.replace(await pools.join(name, rateLimit, signal, { isAnnounced }));
    await before?.leave("redeploy");
  }

  /** One change after the other: two joins at once would leave a member behind. */
  #inTurn(change: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(change);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  state(nowMs: number): VertexState {
    const { name, kind, connector, meter, limit } = this.#parts;
    const fleet = limit.state();
    const waiting = limit.why() ?? this.loop.why();
    const work = this.loop.work();
    const gate = this.loop.gate?.();
    const { queueMax } = this.loop;
    return {
      name,
      kind,
      connector,
      perSecond: meter.perSecond(nowMs),
      counts: { ...meter.counts },
      queue: this.loop.queue(),
      ...(queueMax === undefined ? {} : { queueMax }),
      inFlight: meter.inFlight,
      ...(work === undefined ? {} : { work }),
      ...(fleet === undefined ? {} : { fleet }),
      ...(waiting === undefined ? {} : { waiting }),
      ...(gate === undefined ? {} : { gate }),
    };
  }
}

/** Whether limits were ever set for the whole pool, as far as this member knows. */
function hasPoolLimits(limiter: FleetLimiter): boolean {
  return (limiter.state().membership?.limitsVersion ?? 0) > 0;
}
