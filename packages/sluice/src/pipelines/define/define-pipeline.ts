import type {
  MapConnector,
  PipelineDefinition,
  SinkConnector,
  SourceConnector,
  VertexLimits,
} from "@sluice/pipeline";
import { InvariantError } from "@sluice/core";
import type { Chosen } from "../../flow/pipeline/choice.ts";
import type {
  FlowPipeline,
  FlowVertex,
  FlowVertexLimits,
} from "../../flow/pipeline/flow-pipeline.ts";

/** What the dead-letter sink of a pipeline is called where a vertex has its name. */
export const DEAD_LETTER = "dead-letter";

/** Makes connectors of their blocks in a flow file. */
export interface Connectors {
  source(block: Chosen): Promise<SourceConnector>;
  map(block: Chosen): Promise<MapConnector>;
  /** `vertex` is `pipeline/vertex`, for what the sink tells. */
  sink(block: Chosen, vertex: string): Promise<SinkConnector>;
}

/** A pipeline of a flow file as the engine takes it. The file is checked: a source, maps, a sink. */
export async function definePipeline(
  name: string,
  pipeline: FlowPipeline,
  connectors: Connectors,
): Promise<PipelineDefinition> {
  const { vertices, limits, retry, deadLetter, drain, buffer } = pipeline;
  const [first, last] = [vertices[0], vertices.at(-1)];
  if (first?.source === undefined || last?.sink === undefined)
    throw new InvariantError(`pipeline ${name} has no source or no sink`);
  return {
    name,
    source: { ...ofVertex(first), source: await connectors.source(first.source) },
    maps: await Promise.all(
      vertices.flatMap((vertex) =>
        vertex.map === undefined
          ? []
          : [connectors.map(vertex.map).then((map) => ({ ...ofVertex(vertex), map }))],
      ),
    ),
    sink: { ...ofVertex(last), sink: await connectors.sink(last.sink, `${name}/${last.name}`) },
    limits: limits && limitsOf(limits),
    retry: retry && {
      attempts: retry.attempts,
      backoffMs: retry.backoff,
      backoffMaxMs: retry.backoffMax,
    },
    deadLetter: deadLetter && (await connectors.sink(deadLetter, `${name}/${DEAD_LETTER}`)),
    bufferMax: buffer,
    drainMs: drain,
  };
}

function ofVertex({ name, limits }: FlowVertex): {
  readonly name: string;
  readonly limits?: VertexLimits | undefined;
} {
  return { name, ...(limits !== undefined && { limits: limitsOf(limits) }) };
}

/** The engine inherits a rateLimit field by field; a block without `max` has it from the pipeline. */
export function limitsOf({ rateLimit, ...limits }: FlowVertexLimits): VertexLimits {
  return {
    ...limits,
    ...(rateLimit !== undefined && {
      rateLimit: rateLimit as NonNullable<VertexLimits["rateLimit"]>,
    }),
  };
}
