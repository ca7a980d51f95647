import type { Command } from "../../wire/command.ts";
import { INITIAL_POSITION, SUB_TYPE } from "../../wire/constants.ts";
import type { MessageId } from "../message/message-id.ts";
import type { ConsumerSettings } from "./consumer-options.ts";

export interface Subscriber {
  readonly topic: string;
  readonly consumerId: bigint;
  readonly requestId: bigint;
  /** The start of a subscription with `durable: false`. */
  readonly startMessageId: MessageId | undefined;
  readonly epoch: bigint;
}

/** Pulsar's `KeySharedMode.AUTO_SPLIT`: the broker divides the key hashes. */
const AUTO_SPLIT = 0;

export function subscribeCommand(settings: ConsumerSettings, subscriber: Subscriber): Command {
  const { topic, consumerId, requestId, startMessageId, epoch } = subscriber;
  const { type, isDurable, properties } = settings;
  return {
    kind: "subscribe",
    body: {
      topic,
      subscription: settings.subscription,
      subType: SUB_TYPE[type],
      consumerId,
      requestId,
      consumerName: settings.name,
      priorityLevel: settings.priorityLevel,
      durable: isDurable,
      startMessageId: isDurable ? undefined : startMessageId?.toData(),
      metadata: properties,
      readCompacted: settings.readCompacted,
      initialPosition: INITIAL_POSITION[settings.initialPosition],
      keySharedMeta: type === "keyShared" ? { keySharedMode: AUTO_SPLIT } : undefined,
      consumerEpoch: epoch,
    },
  };
}
