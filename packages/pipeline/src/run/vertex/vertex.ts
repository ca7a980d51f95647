import { InvariantError } from "@sluice/core";
import type { VertexLimits } from "../../definition/pipeline-definition.ts";
import { settingsOf } from "../../definition/vertex-settings.ts";
import type { VertexSettings } from "../../definition/vertex-settings.ts";
import type { Batch } from "../../flow/batch.ts";
import type { VertexState, VertexWaiting } from "../pipeline-state.ts";
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
  readonly inFlight: ReadonlySet<Batch>;
  /** Messages that wait to be read. */
  queue(): number | undefined;
  /** Why it waits, if not for tokens. */
  why(): VertexWaiting | undefined;
}

interface VertexParts {
  readonly name: string;
  readonly kind: VertexState["kind"];
  readonly connector: string;
  readonly meter: VertexMeter;
  readonly limit: ReadLimit;
  readonly pools: Pools;
  /** Defaults of the pipeline. */
  readonly defaults: VertexLimits | undefined;
}

/** A vertex that runs, with limits that can be changed. */
export class Vertex {
  readonly name: string;
  readonly #parts: VertexParts;
  #settings: VertexSettings;
  #loop: VertexLoop | undefined;

  constructor(parts: VertexParts, settings: VertexSettings) {
    this.name = parts.name;
    this.#parts = parts;
    this.#settings = settings;
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
  async setLimits(limits: VertexLimits, signal: AbortSignal): Promise<void> {
    const { pools, limit, defaults, name } = this.#parts;
    const settings = settingsOf(defaults, limits, `${name}.limits`);
    const { rateLimit } = settings;
    if (rateLimit !== undefined && limit.limiter !== undefined)
      await pools.setLimits(name, limit.limiter, rateLimit);
    else {
      const before = limit.replace(await pools.join(name, rateLimit, signal));
      await before?.leave("redeploy");
    }
    this.#settings = settings;
    this.loop.wake();
  }

  state(nowMs: number): VertexState {
    const { name, kind, connector, meter, limit } = this.#parts;
    const fleet = limit.state();
    const waiting = limit.why() ?? this.loop.why();
    return {
      name,
      kind,
      connector,
      perSecond: meter.perSecond(nowMs),
      counts: { ...meter.counts },
      queue: this.loop.queue(),
      inFlight: meter.inFlight,
      ...(fleet === undefined ? {} : { fleet }),
      ...(waiting === undefined ? {} : { waiting }),
    };
  }
}
