import type { Message } from "../message.ts";
import type { Format } from "./format.ts";
import type { OpenContext } from "./open-context.ts";

export interface ReadOptions {
  /** Ends the wait: `read` then answers what it has, or nothing. It never rejects for this. */
  readonly signal: AbortSignal;
  /** The longest wait for a first message, ms. */
  readonly waitMs: number;
}

/** A whole source was read: `read` answers this from then on. Endless sources never do. */
export const END: unique symbol = Symbol("end of the source");

/**
 * Where messages come from. The pipeline calls `read` once at a time, with no more than it may take, and
 * acknowledges messages in any order, once each, by the objects that `read` answered.
 * A message that was read and not acknowledged comes again: to another reader, or after a restart.
 */
export interface Source<T = unknown> {
  /** At most `countMax` messages, at least one of them as soon as there is one; empty after `waitMs`. Rejects if the server cannot be reached: the pipeline tries again, with backoff. */
  read(countMax: number, options: ReadOptions): Promise<readonly Message<T>[] | typeof END>;
  /** The sink, or the dead-letter sink, has these messages, or a map has dropped them. */
  ack(messages: readonly Message<T>[]): Promise<void>;
  /** These messages could not be processed: the source delivers them again, now or later. Without it, they come again after a restart. */
  nack?(messages: readonly Message<T>[]): Promise<void>;
  /** Messages that wait to be read, for autoscaling; undefined if the server does not say. */
  backlog?(): Promise<number | undefined>;
  /** Ends reading and frees what was opened. `ack` is not called any more. */
  close(): Promise<void>;
}

/** A source that a pipeline opens when it starts. */
export interface SourceConnector<T = unknown> {
  /** The connector's name in a flow file, such as `pulsar`. */
  readonly kind: string;
  /**
   * How the pipeline reads the bytes that the source answers. Bytes that cannot be read so, such as broken JSON,
   * make a poison message: it goes to the dead-letter sink. Undefined: values are taken as they are.
   */
  readonly format?: Format | undefined;
  open(context: OpenContext): Promise<Source<T>>;
}
