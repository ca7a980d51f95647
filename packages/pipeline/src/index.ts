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
