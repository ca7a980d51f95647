// A pipeline in code.
export { pipeline, PipelineBuilder, PipelineMiddle } from "./build/pipeline-builder.ts";
export type { PipelineOptions, PipelineStart, VertexOptions } from "./build/pipeline-builder.ts";
export { startPipeline } from "./run/start-pipeline.ts";

// Connectors that need no server.
export { generator } from "./connector/generator/generator.ts";
export type { GeneratorOptions } from "./connector/generator/generator.ts";
export { blackhole } from "./connector/blackhole/blackhole.ts";

// Maps in this process.
export { mapFunction } from "./map/map-function.ts";
export type { MapAnswer, MapContext, MapFunction, MapOptions } from "./map/map-function.ts";
export { mapBatch } from "./map/map-batch.ts";
export type { MapBatchFunction } from "./map/map-batch.ts";
export { mapModule } from "./map/map-module.ts";
export type { MapModuleOptions } from "./map/map-module.ts";

// How many replicas a vertex should have.
export { desiredReplicas } from "./scale/desired-replicas.ts";
export type { ScaleDecision, ScaleSettings, ScaleState } from "./scale/desired-replicas.ts";
export { measureCapacity } from "./scale/measured-capacity.ts";
export type { ReplicaLoad } from "./scale/measured-capacity.ts";

// What connectors and maps are made of.
export type { Message, Output } from "./message.ts";
export { END } from "./connector/source.ts";
export type { ReadOptions, Source, SourceConnector } from "./connector/source.ts";
export type {
  Sink,
  SinkConnector,
  SinkGate,
  SinkWaiting,
  WriteFailure,
  WriteOptions,
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
export type { MapFailure, Mapped, Mapper, MapperWaiting } from "./map/mapper.ts";
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
  VertexWork,
} from "./run/pipeline-state.ts";
export type {
  PipelineFleet,
  PipelineRuntime,
  RunningPipeline,
  SetLimitsOptions,
} from "./run/running-pipeline.ts";

// Connectors: Pulsar and HTTP.
export { pulsarSource } from "./connector/pulsar/pulsar-source.ts";
export type { PulsarSourceOptions } from "./connector/pulsar/pulsar-source.ts";
export { pulsarSink } from "./connector/pulsar/pulsar-sink.ts";
export type { PulsarSinkOptions } from "./connector/pulsar/pulsar-sink.ts";
export type { PulsarConnection } from "./connector/pulsar/connection.ts";
export { httpSource } from "./connector/http/source/http-source.ts";
export type { HttpSourceOptions } from "./connector/http/source/source-options.ts";
export { httpSink } from "./connector/http/sink/http-sink.ts";
export type {
  HttpBatchOptions,
  HttpRequestOptions,
  HttpSinkOptions,
} from "./connector/http/sink/sink-options.ts";
export { HttpAnswerError } from "./connector/http/sink/http-answer-error.ts";

// Maps apart from the process.
export { mapThreads } from "./map/threads/map-threads.ts";
export type { MapThreadsOptions } from "./map/threads/map-threads.ts";
export { mapCommand } from "./map/command/map-command.ts";
export type { MapCommandOptions } from "./map/command/map-command.ts";
export { MapError } from "./map/map-error.ts";
export { checkLimits } from "./definition/vertex-settings.ts";
export { setVertexLimits } from "./run/limit/vertex-pool.ts";
export type { VertexPool } from "./run/limit/vertex-pool.ts";
