import type { CommandBodies, MessageIdData } from "@sluice/pulsar/wire";

/** A consumer as its connection knows it. */
export class SessionConsumer {
  readonly id: bigint;
  readonly requestId: bigint;
  /** Which partition of a topic it reads; undefined if the topic has none. */
  readonly partition: number | undefined;
  /** `opening`: asked for. `closed`: gone, for whatever reason. */
  state: "opening" | "open" | "closed" = "opening";
  /** It wants to go before it was there. */
  closeRequestId: bigint | undefined;
  /** Echoed with each message, so that a client can tell those from before a redelivery. */
  epoch: bigint | undefined;

  constructor({ consumerId, requestId, topic, consumerEpoch }: CommandBodies["subscribe"]) {
    this.id = consumerId;
    this.requestId = requestId;
    this.partition = partitionOf(topic);
    this.epoch = consumerEpoch;
  }
}

/** One entry for one consumer. */
export interface MessageToDeliver {
  readonly messageId: MessageIdData;
  readonly redeliveryCount: number;
  /** Which messages of a batch are not acknowledged; all of them if absent. */
  readonly ackSet: readonly bigint[] | undefined;
  readonly entry: Buffer;
}

function partitionOf(topic: string): number | undefined {
  const index = /-partition-(\d{1,5})$/.exec(topic)?.[1];
  return index === undefined ? undefined : Number(index);
}
