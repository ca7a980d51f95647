import type { MessageId } from "../message/message-id.ts";
import type { ProducerThrottlingReason } from "../error/producer-throttled-error.ts";
import type { OutgoingMessage } from "./send/outgoing-message.ts";
import type { Throttling } from "./throttle/producer-throttle.ts";

export interface CloseOptions {
  /** Ends the wait for receipts. Default: none. */
  readonly signal?: AbortSignal | undefined;
}

export interface SendOptions {
  /**
   * Aborting it withdraws a message that waits for room. Later it only ends the wait: the message
   * may still be stored. Default: none.
   */
  readonly signal?: AbortSignal | undefined;
}

export interface ProducerStats {
  /**
   * How long brokers limited the producer, in ms by reason, over all partitions; reasons that never came
   * are left out. For pause 0: until the next receipt, at most 1 s each time.
   */
  readonly throttledMs: Readonly<Partial<Record<ProducerThrottlingReason, number>>>;
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
  /** Whether the broker asked for a pause that is not over, on any partition. */
  readonly isThrottled: boolean;
  /** That pause; of several partitions, the one that ends last. Undefined while `isThrottled` is false. */
  readonly throttling: Throttling | undefined;

  /**
   * Resolves with the message's id once the broker has stored it. Waits for room first while too
   * many messages are pending. Messages without a receipt are sent again in order when a connection
   * is lost. While the broker limits the producer, messages wait in order and none is written.
   *
   * Rejects with a `DeadlineError` after `sendTimeoutMs`, and with it all pending messages of the
   * partition; with a `ProducerThrottledError` instead if the broker limited the producer for more than
   * 80 % of the wait, and at once if its pause lasts longer than `sendTimeoutMs`; with a `BrokerError` if the broker refuses the message; with a `ClosedError` after
   * `close`.
   */
  send(message: OutgoingMessage, options?: SendOptions): Promise<MessageId>;

  stats(): ProducerStats;

  /** Sends the current batch; resolves once all messages sent before are stored or failed. */
  flush(): Promise<void>;

  /**
   * Refuses new messages, flushes for at most `operationTimeoutMs`, also through a pause, and closes the
   * producer at the broker. Aborting `signal` ends both waits: messages without a receipt fail, and those that are written
   * may still be stored.
   */
  close(options?: CloseOptions): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
