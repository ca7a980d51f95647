import type { Clock } from "@sluice/core";
import { ConfigError } from "@sluice/core";
import { INITIAL_POSITION, parseTopicName, SUB_TYPE } from "@sluice/pulsar/wire";
import type { CommandBodies } from "@sluice/pulsar/wire";
import { startPointOf } from "../../broker/message-id.ts";
import type { ConsumerRequest, SeekPoint } from "../../topic/consumer/consumer-handle.ts";

const SUBSCRIPTION_TYPES: ReadonlyMap<number, ConsumerRequest["type"]> = new Map([
  [SUB_TYPE.exclusive, "exclusive"],
  [SUB_TYPE.shared, "shared"],
  [SUB_TYPE.failover, "failover"],
  [SUB_TYPE.keyShared, "key-shared"],
]);

/** KeySharedMode: the broker shares the keys among consumers, or each names its hash ranges. */
const STICKY = 1;

type WithoutCallbacks = Omit<ConsumerRequest, "deliver" | "onActiveChange" | "onClosed">;

/** What SUBSCRIBE asks for, in the broker's own words. */
export function consumerRequestOf(
  request: CommandBodies["subscribe"],
  wallClock: Clock,
): WithoutCallbacks {
  const { topic, subscription, subType, consumerName, priorityLevel = 0 } = request;
  return {
    topic,
    subscription,
    type: SUBSCRIPTION_TYPES.get(subType) ?? "exclusive",
    consumerName: given(consumerName),
    priorityLevel,
    isDurable: request.durable ?? true,
    start: startOf(request, wallClock),
    keyRanges: keyRangesOf(request),
    mayCreateTopic: request.forceTopicCreation ?? true,
  };
}

function keyRangesOf({ keySharedMeta }: CommandBodies["subscribe"]): ConsumerRequest["keyRanges"] {
  return keySharedMeta?.keySharedMode === STICKY ? (keySharedMeta.hashRanges ?? []) : undefined;
}

function startOf(request: CommandBodies["subscribe"], wallClock: Clock): SeekPoint {
  const { startMessageId, initialPosition, startMessageRollbackDurationSec = 0n } = request;
  if (startMessageRollbackDurationSec > 0n)
    return {
      kind: "time",
      atMs: wallClock.now() - Number(startMessageRollbackDurationSec) * 1_000,
    };
  if (startMessageId !== undefined) return startPointOf(startMessageId);
  return { kind: initialPosition === INITIAL_POSITION.earliest ? "earliest" : "latest" };
}

/** The number of the partition that a name means; undefined if it means no partition. */
export function partitionOf(topic: string): number | undefined {
  try {
    return parseTopicName(topic).partition;
  } catch (error) {
    // The broker refuses it by name.
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** Go's client sends empty texts for what it has none of. */
export function given(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
