import type { MessageId } from "../message/message-id.ts";
import type { OutgoingMessage } from "./outgoing-message.ts";

export interface SendOptions {
  /**
   * Aborting it withdraws a message that waits for room. Later it only ends the wait: the message
   * may still be stored.
   */
  readonly signal?: AbortSignal | undefined;
}

/** Publishes messages to one topic in the order of the calls of `send`. */
export interface Producer {
  /** The full name. */
  readonly topic: string;
  /** Given in the options, or by the broker. */
  readonly name: string;
  /** Of the newest accepted message; -1 before the first. */
  readonly lastSequenceId: bigint;
  /** Messages in memory without a receipt. */
  readonly pendingMessages: number;
  /** Whether the producer was closed, or refused by the broker for good. */
  readonly isClosed: boolean;

  /**
   * Resolves with the message's id once the broker has stored it. Waits for room first while too
   * many messages are pending. Messages without a receipt are sent again in order when a connection
   * is lost.
   *
   * Rejects with a `DeadlineError` after `sendTimeoutMs`, and with it all pending messages of the
   * partition; with a `BrokerError` if the broker refuses the message; with a `ClosedError` after
   * `close`.
   */
  send(message: OutgoingMessage, options?: SendOptions): Promise<MessageId>;

  /** Sends the current batch; resolves once all messages sent before are stored or failed. */
  flush(): Promise<void>;

  /**
   * Refuses new messages, flushes for at most `operationTimeoutMs`, and closes the producer at the
   * broker.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
