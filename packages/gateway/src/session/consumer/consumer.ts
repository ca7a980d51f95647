import type { CommandBodies } from "@sluice/pulsar/wire";

/** A consumer as its connection knows it. */
export class SessionConsumer {
  readonly key: number;
  readonly id: bigint;
  readonly requestId: bigint;
  /** `opening`: the broker subscribes it. */
  state: "opening" | "open" = "opening";
  /** The client closed it before it was open. */
  closeRequestId: bigint | undefined;
  /** Echoed with each message, so that a client can tell those from before a redelivery. */
  epoch: bigint | undefined;

  constructor(key: number, { consumerId, requestId, consumerEpoch }: CommandBodies["subscribe"]) {
    this.key = key;
    this.id = consumerId;
    this.requestId = requestId;
    this.epoch = consumerEpoch;
  }
}
