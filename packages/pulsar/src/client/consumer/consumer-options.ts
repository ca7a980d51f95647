import { ConfigError } from "@sluice/core";
import { requireDuration, requireKnownKeys, requireWhole } from "@sluice/core/internal";
import { fullTopicName, parseNamespace } from "../../topic-name.ts";
import type { KeyValue } from "../../wire/definition/key-value.ts";
import { requireBoolean, requireOneOf, requireText, shown } from "../check/arguments.ts";
import { MessageId } from "../message/message-id.ts";
import { keyValues } from "../message/properties.ts";

/**
 * How the consumers of a subscription share its messages: one consumer only (*exclusive*), one active
 * and others standing by (*failover*), in turn (*shared*), by key (*keyShared*).
 */
export type SubscriptionType = "exclusive" | "shared" | "failover" | "keyShared";

export interface ConsumerOptions {
  /** One topic, with all its partitions. Default: none; one of `topic`, `topics` and `topicsPattern` is needed. */
  readonly topic?: string | undefined;
  /** Several topics, instead of `topic`. Default: none. */
  readonly topics?: readonly string[] | undefined;
  /** All topics of `namespace` whose local name matches, also topics created later. Default: none. */
  readonly topicsPattern?: RegExp | undefined;
  /** Where `topicsPattern` looks. @default "public/default" */
  readonly namespace?: string | undefined;
  /** Time between two looks for new topics and partitions. @default 60000 */
  readonly topicsRefreshMs?: number | undefined;

  readonly subscription: string;
  /** @default "exclusive" */
  readonly type?: SubscriptionType | undefined;
  /** Where a new subscription begins. @default "latest" */
  readonly initialPosition?: "latest" | "earliest" | undefined;
  /** False makes a reader: the subscription is deleted when the consumer closes. @default true */
  readonly durable?: boolean | undefined;
  /** First message of a consumer with `durable: false`. Default: `initialPosition` says it. */
  readonly startMessageId?: MessageId | undefined;
  /** Whether the message at `startMessageId`, or at the target of a seek, is delivered. @default false */
  readonly startInclusive?: boolean | undefined;

  /** Shown in the broker's statistics. Default: the broker chooses one. */
  readonly name?: string | undefined;
  /** On shared subscriptions, consumers with a lower number get messages first. Default: 0, by the broker. */
  readonly priorityLevel?: number | undefined;
  /** Shown in the broker's statistics. Default: none. */
  readonly properties?: Readonly<Record<string, string>> | undefined;
  /** Only the last message of each key, on a compacted topic. @default false */
  readonly readCompacted?: boolean | undefined;

  /** Messages of one topic that are queued here or permitted to the broker. @default 1000 */
  readonly receiverQueueSize?: number | undefined;
  /** The same over all topics. @default 50000 */
  readonly receiverQueueTotal?: number | undefined;
  /** Largest message, decompressed and assembled from its chunks. @default 67108864 */
  readonly messageBytesMax?: number | undefined;

  /** Longest wait of an acknowledgement for others to be sent with it; 0: none. @default 50 */
  readonly ackGroupTimeMs?: number | undefined;
  /** Whether `ack` waits for the broker's confirmation. @default false */
  readonly ackReceipt?: boolean | undefined;
  /** Whether single messages of a batch are acknowledged; the broker must support it. @default false */
  readonly batchIndexAck?: boolean | undefined;
  /** Unacknowledged messages are redelivered after this time; 0: never. @default 0 */
  readonly ackTimeoutMs?: number | undefined;
  /** Delay between `nack` and redelivery. @default 60000 */
  readonly nackRedeliveryDelayMs?: number | undefined;
}

/** The topics of a consumer. */
export type TopicSelection =
  | { readonly kind: "named"; readonly topics: readonly string[] }
  | { readonly kind: "pattern"; readonly namespace: string; readonly pattern: RegExp };

/** The options, checked, with defaults. */
export interface ConsumerSettings {
  readonly selection: TopicSelection;
  readonly topicsRefreshMs: number;
  readonly subscription: string;
  readonly type: SubscriptionType;
  readonly initialPosition: "latest" | "earliest";
  readonly isDurable: boolean;
  readonly startMessageId: MessageId | undefined;
  readonly startInclusive: boolean;
  readonly name: string | undefined;
  readonly priorityLevel: number | undefined;
  readonly properties: readonly KeyValue[];
  readonly readCompacted: boolean;
  readonly receiverQueueSize: number;
  readonly receiverQueueTotal: number;
  readonly messageBytesMax: number;
  readonly ackGroupTimeMs: number;
  readonly ackReceipt: boolean;
  readonly batchIndexAck: boolean;
  readonly ackTimeoutMs: number;
  readonly nackRedeliveryDelayMs: number;
}

const KNOWN: ReadonlySet<string> = new Set<keyof ConsumerOptions>([
  "topic",
  "topics",
  "topicsPattern",
  "namespace",
  "topicsRefreshMs",
  "subscription",
  "type",
  "initialPosition",
  "durable",
  "startMessageId",
  "startInclusive",
  "name",
  "priorityLevel",
  "properties",
  "readCompacted",
  "receiverQueueSize",
  "receiverQueueTotal",
  "messageBytesMax",
  "ackGroupTimeMs",
  "ackReceipt",
  "batchIndexAck",
  "ackTimeoutMs",
  "nackRedeliveryDelayMs",
]);

const TYPES: Readonly<Record<SubscriptionType, true>> = {
  exclusive: true,
  shared: true,
  failover: true,
  keyShared: true,
};
const POSITIONS = { latest: true, earliest: true } as const;

/** Topics and partitions of one consumer. Each is a SUBSCRIBE of its own. */
export const TOPICS_MAX = 10_000;

/** Lowered, messages are redelivered while the application still handles them. Pulsar's Java client has the same. */
const ACK_TIMEOUT_MIN_MS = 1_000;

export function consumerSettingsOf(options: ConsumerOptions): ConsumerSettings {
  requireKnownKeys("subscribe", options, KNOWN);
  const settings: ConsumerSettings = {
    selection: selectionOf(options),
    topicsRefreshMs: options.topicsRefreshMs ?? 60_000,
    subscription: options.subscription,
    type: options.type ?? "exclusive",
    initialPosition: options.initialPosition ?? "latest",
    isDurable: options.durable ?? true,
    startMessageId: options.startMessageId,
    startInclusive: options.startInclusive ?? false,
    name: options.name,
    priorityLevel: options.priorityLevel,
    properties: keyValues(options.properties ?? {}),
    readCompacted: options.readCompacted ?? false,
    receiverQueueSize: options.receiverQueueSize ?? 1_000,
    receiverQueueTotal: options.receiverQueueTotal ?? 50_000,
    messageBytesMax: options.messageBytesMax ?? 64 * 1_048_576,
    ackGroupTimeMs: options.ackGroupTimeMs ?? 50,
    ackReceipt: options.ackReceipt ?? false,
    batchIndexAck: options.batchIndexAck ?? false,
    ackTimeoutMs: options.ackTimeoutMs ?? 0,
    nackRedeliveryDelayMs: options.nackRedeliveryDelayMs ?? 60_000,
  };
  check(settings);
  return settings;
}

/** Whether messages are acknowledged individually, so that each can be redelivered alone. */
export function isIndividual(type: SubscriptionType): boolean {
  return type === "shared" || type === "keyShared";
}

function check(settings: ConsumerSettings): void {
  const { type, isDurable, startMessageId, ackTimeoutMs } = settings;
  requireText("subscription", settings.subscription, '"shop"');
  requireOneOf("type", type, TYPES);
  requireOneOf("initialPosition", settings.initialPosition, POSITIONS);
  if (settings.name !== undefined) requireText("name", settings.name, '"shop-1"');
  if (settings.priorityLevel !== undefined)
    requireWhole("priorityLevel", settings.priorityLevel, 0, 2 ** 31 - 1);
  requireBoolean("durable", isDurable);
  requireBoolean("startInclusive", settings.startInclusive);
  requireBoolean("readCompacted", settings.readCompacted);
  requireBoolean("ackReceipt", settings.ackReceipt);
  requireBoolean("batchIndexAck", settings.batchIndexAck);
  if (startMessageId !== undefined && !(startMessageId instanceof MessageId))
    throw new ConfigError(
      `startMessageId is ${shown(startMessageId)}; use a MessageId, e.g. MessageId.earliest`,
    );
  if (isDurable && startMessageId !== undefined)
    throw new ConfigError(
      "startMessageId needs durable: false; with a durable subscription call seek instead",
    );
  if (settings.readCompacted && isIndividual(type))
    throw new ConfigError(
      `readCompacted is not possible with the type ${type}; use exclusive or failover`,
    );
  requireWhole("receiverQueueSize", settings.receiverQueueSize, 1, 1_000_000);
  requireWhole("receiverQueueTotal", settings.receiverQueueTotal, 1, 10_000_000);
  requireWhole("messageBytesMax", settings.messageBytesMax, 1, 2 ** 30);
  requireDuration("topicsRefreshMs", settings.topicsRefreshMs, 1);
  requireDuration("ackGroupTimeMs", settings.ackGroupTimeMs);
  requireDuration("nackRedeliveryDelayMs", settings.nackRedeliveryDelayMs);
  if (ackTimeoutMs !== 0) requireDuration("ackTimeoutMs", ackTimeoutMs, ACK_TIMEOUT_MIN_MS);
}

function selectionOf({ topic, topics, topicsPattern, ...rest }: ConsumerOptions): TopicSelection {
  const given = Object.entries({ topic, topics, topicsPattern }).filter(
    ([, value]) => value !== undefined,
  );
  if (given.length !== 1) {
    const found = given.map(([name]) => name).join(" and ") || "none";
    throw new ConfigError(
      `subscribe needs one of topic, topics and topicsPattern, and has ${found}; e.g. { topic: "orders", subscription: "shop" }`,
    );
  }
  const { namespace } = rest;
  if (topicsPattern !== undefined) {
    if (!(topicsPattern instanceof RegExp))
      throw new ConfigError(
        `topicsPattern is ${shown(topicsPattern)}; use a RegExp, e.g. /^orders-/`,
      );
    const { tenant, namespace: local } = parseNamespace(namespace ?? "public/default");
    // With the flags g and y a RegExp remembers where it last matched.
    const pattern = new RegExp(topicsPattern.source, topicsPattern.flags.replace(/[gy]/g, ""));
    return { kind: "pattern", namespace: `${tenant}/${local}`, pattern };
  }
  if (namespace !== undefined)
    throw new ConfigError(
      'namespace is for topicsPattern; write the namespace into the topic, e.g. "tenant/namespace/orders"',
    );
  if (topics !== undefined && !Array.isArray(topics))
    throw new ConfigError(`topics is ${shown(topics)}; use an array, e.g. ["orders", "returns"]`);
  const names = new Set((topics ?? [topic ?? ""]).map(fullTopicName));
  if (names.size === 0 || names.size > TOPICS_MAX)
    throw new ConfigError(`topics has ${names.size} names; use 1 to ${TOPICS_MAX}`);
  return { kind: "named", topics: [...names] };
}
