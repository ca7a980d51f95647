import { ConfigError } from "@sluice/core";
import { requireOptions } from "../connector/check-options.ts";
import type { SinkConnector } from "../connector/sink.ts";
import type { SourceConnector } from "../connector/source.ts";
import type {
  MapVertex,
  PipelineDefinition,
  SourceVertex,
  VertexLimits,
} from "../definition/pipeline-definition.ts";
import { mapBatch } from "../map/map-batch.ts";
import type { MapBatchFunction } from "../map/map-batch.ts";
import type { MapConnector } from "../map/map-connector.ts";
import { mapFunction } from "../map/map-function.ts";
import type { MapFunction } from "../map/map-function.ts";
import type { PipelineState } from "../run/pipeline-state.ts";
import type { PipelineRuntime, RunningPipeline } from "../run/running-pipeline.ts";
import { startPipeline } from "../run/start-pipeline.ts";

/** What holds for a whole pipeline. */
export type PipelineOptions = Omit<PipelineDefinition, "name" | "source" | "maps" | "sink">;

export interface VertexOptions {
  /** Default: `in` for the source, `map`, `map2` and so on for the maps, `out` for the sink. */
  readonly name?: string | undefined;
  /** Limits of this vertex. Default: those of the pipeline, field by field. */
  readonly limits?: VertexLimits | undefined;
}

const VERTEX_KEYS = ["name", "limits"] as const satisfies (keyof VertexOptions)[];

/**
 * Begins the definition of a pipeline in code.
 *
 * @example
 * await pipeline("orders")
 *   .source(generator({ values: [1, 2, 3] }))
 *   .map(({ value }) => ({ value: value * 2 }))
 *   .sink(blackhole())
 *   .run();
 */
export function pipeline(name: string, options: PipelineOptions = {}): PipelineStart {
  const start: PipelineStart = {
    source: (source, vertex) =>
      new PipelineMiddle(name, options, { ...named(vertex, "in"), source }, []),
  };
  // For callers without types, who would get "sink is not a function".
  return Object.assign(
    start,
    Object.fromEntries(LATER.map((call) => [call, tooEarly(name, call)])),
  );
}

/** What a pipeline without a source cannot do yet. */
const LATER = ["map", "mapBatch", "sink", "start", "run"] as const;

function tooEarly(name: string, call: string): () => never {
  return () => {
    throw new ConfigError(
      `${name}.${call}() was called on a pipeline without a source; begin with pipeline(${JSON.stringify(name)}).source(generator({ values: [1, 2, 3] }))`,
    );
  };
}

/** A pipeline that has no source yet. */
export interface PipelineStart {
  source<T>(source: SourceConnector<T>, vertex?: VertexOptions): PipelineMiddle<T>;
}

/** Nothing to add to a connector of `I` if it takes messages of `T`; otherwise no connector will do. */
type Accepts<T, I> = [T] extends [I] ? unknown : { readonly takesMessagesOf: T };

/** A pipeline that has no sink yet; its last vertex answers messages of `T`. */
export class PipelineMiddle<T> {
  readonly #name: string;
  readonly #options: PipelineOptions;
  readonly #source: SourceVertex;
  readonly #maps: readonly MapVertex[];

  /** @internal */
  constructor(
    name: string,
    options: PipelineOptions,
    source: SourceVertex,
    maps: readonly MapVertex[],
  ) {
    this.#name = name;
    this.#options = options;
    this.#source = source;
    this.#maps = maps;
  }

  /** Adds a map: a function of one message, or a connector such as `mapModule` makes. */
  map<O>(map: MapFunction<T, O, undefined>, vertex?: VertexOptions): PipelineMiddle<O>;
  map<I, O>(map: MapConnector<I, O> & Accepts<T, I>, vertex?: VertexOptions): PipelineMiddle<O>;
  map<O>(
    map: MapFunction<T, O, undefined> | MapConnector<T, O>,
    vertex?: VertexOptions,
  ): PipelineMiddle<O> {
    return this.#add(typeof map === "function" ? mapFunction(map) : map, vertex);
  }

  /** Adds a map of whole batches. */
  mapBatch<O>(map: MapBatchFunction<T, O, undefined>, vertex?: VertexOptions): PipelineMiddle<O> {
    return this.#add(mapBatch(map), vertex);
  }

  sink<I>(sink: SinkConnector<I> & Accepts<T, I>, vertex?: VertexOptions): PipelineBuilder {
    return new PipelineBuilder({
      ...this.#options,
      name: this.#name,
      source: this.#source,
      maps: this.#maps,
      sink: { ...named(vertex, "out"), sink },
    });
  }

  #add<O>(map: MapConnector<T, O>, vertex: VertexOptions | undefined): PipelineMiddle<O> {
    const count = this.#maps.length + 1;
    const added = { ...named(vertex, count === 1 ? "map" : `map${count}`), map };
    return new PipelineMiddle(this.#name, this.#options, this.#source, [...this.#maps, added]);
  }
}

/** A complete pipeline. */
export class PipelineBuilder {
  readonly definition: PipelineDefinition;

  /** @internal */
  constructor(definition: PipelineDefinition) {
    this.definition = definition;
  }

  /** Starts it, and resolves as soon as it reads. */
  start(runtime: PipelineRuntime = {}): Promise<RunningPipeline> {
    return startPipeline(this.definition, runtime);
  }

  /** Runs it until its source has ended or `signal` stops it, and answers how it ended. */
  async run(runtime: PipelineRuntime = {}): Promise<PipelineState> {
    const running = await this.start(runtime);
    return running.done;
  }
}

function named(
  vertex: VertexOptions | undefined,
  name: string,
): { readonly name: string; readonly limits: VertexLimits | undefined } {
  if (vertex !== undefined)
    requireOptions(`the vertex ${vertex.name ?? name}`, vertex, {
      known: VERTEX_KEYS,
      example: '{ name: "out", limits: { rateLimit: { max: 1000 } } }',
    });
  return { name: vertex?.name ?? name, limits: vertex?.limits };
}
