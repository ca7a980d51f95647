import type { MessageId } from "../message/message-id.ts";
import type { OutgoingMessage } from "./outgoing-message.ts";

export interface SendOptions {
  /**
   * Aborting it takes the message out of the line if it still waits for room. After that it only
   * ends the wait: the message may be stored all the same.
   */
  readonly signal?: AbortSignal | undefined;
}

/** Publishes messages to one topic, in the order of the calls of `send`. */
export interface Producer {
  /** Its full name. */
  readonly topic: string;
  /** Given by the user or by the broker. */
  readonly name: string;
  /** Of the newest message taken so far; -1 before the first. */
  readonly lastSequenceId: bigint;
  /** Messages that were taken and are not stored yet. */
  readonly pendingMessages: number;
  /** Whether it takes no more: it was closed, or the broker will not have it any longer. */
  readonly isClosed: boolean;

  /**
   * Resolves with the message's id once the broker has it. While too much is pending it waits for
   * its turn first. What is pending when a connection is lost is sent again, in order.
   *
   * Rejects with a `DeadlineError` when `sendTimeoutMs` is over, and then all that is pending does;
   * with a `BrokerError` if the broker will not have it; with a `ClosedError` after `close`.
   */
  send(message: OutgoingMessage, options?: SendOptions): Promise<MessageId>;

  /** Sends what is being gathered, and resolves once everything sent before is stored or failed. */
  flush(): Promise<void>;

  /** Takes no more, flushes for as long as an operation may take, and leaves the broker. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
