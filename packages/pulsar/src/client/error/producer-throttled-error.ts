import { SluiceError } from "@sluice/core";
import type { ThrottlingReason } from "../../wire/throttle.ts";

/** Why a broker limits a producer; "unknown" for a reason of a newer broker. */
export type ProducerThrottlingReason = ThrottlingReason | "unknown";

export interface ProducerThrottledDetails {
  /** The topic or partition. */
  readonly topic: string;
  readonly reason: ProducerThrottlingReason;
  readonly pauseLeftMs: number;
  readonly mayBeStored: boolean;
}

/**
 * The broker limits the producer, and a message could not be stored within `sendTimeoutMs` because of
 * that.
 */
export class ProducerThrottledError extends SluiceError {
  override readonly name = "ProducerThrottledError";
  readonly code = "THROTTLED";
  /** With the partition, if the topic has partitions. */
  readonly topic: string;
  readonly reason: ProducerThrottlingReason;
  /** Milliseconds until the producer may send again, unless the broker extends the pause; 0 if the pause is over. */
  readonly pauseLeftMs: number;
  /**
   * False if the message was refused before it was taken: sending it again cannot store it twice. True
   * if the send timeout passed for a message that was taken.
   */
  readonly mayBeStored: boolean;

  constructor(message: string, details: ProducerThrottledDetails) {
    super(message);
    this.topic = details.topic;
    this.reason = details.reason;
    this.pauseLeftMs = details.pauseLeftMs;
    this.mayBeStored = details.mayBeStored;
  }
}
