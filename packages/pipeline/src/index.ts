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
export { ConnectorError, SinkClosedError } from "./connector/connector-error.ts";
export { fileSource } from "./connector/file/file-source.ts";
export type { FileSourceOptions } from "./connector/file/file-source.ts";
export { fileSink } from "./connector/file/file-sink.ts";
export type { FileSinkOptions } from "./connector/file/file-sink.ts";
export { stdinSource } from "./connector/stdio/stdin-source.ts";
export type { StdinSourceOptions } from "./connector/stdio/stdin-source.ts";
export { stdoutSink } from "./connector/stdio/stdout-sink.ts";
export type { StdoutSinkOptions } from "./connector/stdio/stdout-sink.ts";
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
