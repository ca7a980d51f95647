import type { Reason } from "@sluice/core";
import type { Message } from "../message.ts";
import type { OpenContext } from "./open-context.ts";

/** A message that was not written. */
export interface WriteFailure {
  readonly error: Error;
  /** Whether the same message may succeed later. False: it goes to the dead-letter sink at once. */
  readonly isRetriable: boolean;
  /** The server asks not to be sent this message before, ms from now. */
  readonly retryAfterMs?: number | undefined;
}

export interface WriteOptions {
  /** Ends waiting half a second after the drain's deadline. */
  readonly signal: AbortSignal;
  /**
   * `count` messages are on their way to the server now. `isAgain`: this write has sent them before. Undefined while the
   * vertex has no rate limit.
   */
  readonly onSent?: ((count: number, options?: { readonly isAgain?: boolean }) => void) | undefined;
}

/** `undefined`: the server has the message. */
export type WriteResult = WriteFailure | undefined;

/**
 * Where messages go. A message that was written may be written again after a crash: at least once.
 */
export interface Sink<T = unknown> {
  /** False: what is written has no headers, so that a dead letter says in its value why it is one. Default: true. */
  readonly carriesHeaders?: boolean;
  /**
   * Whether `write` calls `onSent` when it sends messages. Default: false; a rate limit then counts all of a write as sent at
   * its start, although some may wait inside the sink and arrive together with those of the next write.
   */
  readonly tellsSent?: boolean;
  /**
   * Resolves once the server has what it is going to have: one result for each message, in their order;
   * or nothing if all are written. Rejecting is a failure of every message that may succeed later.
   * Rejecting with a `SinkClosedError` ends the pipeline without an error: nobody reads the sink any more.
   */
  write(
    messages: readonly Message<T>[],
    options: WriteOptions,
  ): Promise<readonly WriteResult[] | void>;
  /** The reason for which writing waits at present, for `why` and metrics. */
  why?(): SinkWaiting | undefined;
  /** The figures of its gate, if it has one. */
  gate?(): SinkGate;
  /** Writes what is buffered, and frees what was opened. */
  close(): Promise<void>;
}

/** Why a sink's writes wait. */
export interface SinkWaiting {
  readonly reason: Reason;
  /** Whole sentence fragment for people, such as `22 of 22 in flight, each takes 105 ms`. */
  readonly detail: string;
  readonly untilMs?: number | undefined;
}

/** The gate before a sink's server, at one instant. */
export interface SinkGate {
  /** Requests in flight, and how many may be; undefined if their number is not limited. */
  readonly inFlight: number;
  readonly limit?: number | undefined;
  /** Requests that wait to be sent. */
  readonly waiting: number;
  /** The moving mean of the time that requests take, and the lowest that it was in the last minutes, ms. */
  readonly meanMs?: number | undefined;
  readonly bestMs?: number | undefined;
  /** Requests a second that the busy throttle allows; undefined while it allows all. */
  readonly allowed?: number | undefined;
  /** How long no request starts because the server asked for a pause, ms; undefined if it did not. */
  readonly pausedForMs?: number | undefined;
  /** The status of the last answer that the server refused a request with. */
  readonly refusedStatus?: number | undefined;
  /** The rate that holds requests now, by its name. */
  readonly rate?: string | undefined;
}

/** A sink that a pipeline opens when it starts. */
export interface SinkConnector<T = unknown> {
  /** The connector's name in a flow file, such as `http`. */
  readonly kind: string;
  open(context: OpenContext): Promise<Sink<T>>;
}
