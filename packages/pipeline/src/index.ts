export type { Message, Output } from "./message.ts";
export { END } from "./connector/source.ts";
export type { ReadOptions, Source, SourceConnector } from "./connector/source.ts";
export type {
  Sink,
  SinkConnector,
  SinkWaiting,
  WriteFailure,
  WriteResult,
} from "./connector/sink.ts";
export type { ConnectorEvent, OpenContext } from "./connector/open-context.ts";
export { decode, encode } from "./connector/format.ts";
export type { Format } from "./connector/format.ts";
export type { MapFailure, Mapped, Mapper } from "./map/mapper.ts";
export type { MapConnector } from "./map/map-connector.ts";
export type {
  MapVertex,
  PipelineDefinition,
  RetryDefinition,
  SinkVertex,
  SourceVertex,
  VertexLimits,
} from "./definition/pipeline-definition.ts";
export type { PipelineEvent } from "./run/pipeline-event.ts";
export type {
  PipelineState,
  PipelineStatus,
  VertexCounts,
  VertexState,
  VertexWaiting,
} from "./run/pipeline-state.ts";
export type { PipelineFleet, PipelineRuntime, RunningPipeline } from "./run/running-pipeline.ts";
