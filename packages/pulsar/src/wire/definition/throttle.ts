/** PIP-385's messages. No Pulsar release has them, so their command types are settings. */
import { int32, message, required, uint64 } from "../message.ts";
import type { MessageType, WithUnknown } from "../message.ts";

export interface CommandThrottleProducer extends WithUnknown {
  /** Unique within the connection. */
  readonly requestId: bigint;
  readonly producerId: bigint;
  /** One of `THROTTLING_REASON`, or a number of a newer peer. */
  readonly throttlingReason: number;
  /** Milliseconds from the arrival of the command. */
  readonly pauseForMillis: bigint;
}

/** Field 3 is not used by the document. */
export const THROTTLE_PRODUCER: MessageType<CommandThrottleProducer> = message(
  "CommandThrottleProducer",
  {
    requestId: required(1, uint64),
    producerId: required(2, uint64),
    throttlingReason: required(4, int32),
    pauseForMillis: required(5, uint64),
  },
);

export interface CommandThrottleProducerReceipt extends WithUnknown {
  readonly requestId: bigint;
}

export const THROTTLE_PRODUCER_RECEIPT: MessageType<CommandThrottleProducerReceipt> = message(
  "CommandThrottleProducerReceipt",
  { requestId: required(1, uint64) },
);
