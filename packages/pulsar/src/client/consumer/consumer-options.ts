import { ConfigError } from "@sluice/core";
import { requireDuration, requireKnownKeys, requireWhole } from "@sluice/core/internal";
import { fullTopicName, parseNamespace } from "../../topic-name.ts";
import type { KeyValue } from "../../wire/definition/key-value.ts";
import { MessageId } from "../message/message-id.ts";
import { keyValues } from "../api/properties.ts";

/**
 * Who else may consume: nobody (*exclusive*), others that stand by (*failover*), others that take
 * turns (*shared*), others that each have keys of their own (*keyShared*).
 */
export type SubscriptionType = "exclusive" | "shared" | "failover" | "keyShared";

export interface ConsumerOptions {
  /** This topic; all of its partitions, if it has some. */
  readonly topic?: string | undefined;
  /** Or these topics. */
  readonly topics?: readonly string[] | undefined;
  /** Or all topics of a namespace whose local name matches, now or later. */
  readonly topicsPattern?: RegExp | undefined;
  /** Where `topicsPattern` looks, as `tenant/namespace`. */
  readonly namespace?: string | undefined;
  /** How often topics and partitions are looked for that were not there before. */
  readonly topicsRefreshMs?: number | undefined;

  readonly subscription: string;
  readonly type?: SubscriptionType | undefined;
  /** Where a new subscription begins. */
  readonly initialPosition?: "latest" | "earliest" | undefined;
  /** False: the subscription ends with the consumer, and begins at `startMessageId`. */
  readonly durable?: boolean | undefined;
  readonly startMessageId?: MessageId | undefined;
  /** Whether what is at `startMessageId`, or at the target of a seek, is delivered, too. */
  readonly startInclusive?: boolean | undefined;

  /** What the broker may call this consumer. */
  readonly name?: string | undefined;
  /** Shared: those with a lower number get messages first. */
  readonly priorityLevel?: number | undefined;
  /** For the broker's statistics. */
  readonly properties?: Readonly<Record<string, string>> | undefined;
  /** Only the last message of each key, of a topic that is compacted. */
  readonly readCompacted?: boolean | undefined;

  /** Messages of one topic that may be on their way or wait here. */
  readonly receiverQueueSize?: number | undefined;
  /** The same of all topics together. */
  readonly receiverQueueTotal?: number | undefined;
  /** The largest message, uncompressed and put together from its chunks. */
  readonly messageBytesMax?: number | undefined;

  /** How long an acknowledgement may wait for others to go with it. */
  readonly ackGroupTimeMs?: number | undefined;
  /** Whether acknowledging waits for the broker's word. */
  readonly ackReceipt?: boolean | undefined;
  /** Whether the broker keeps account of single messages of a batch; it must be set up for it. */
  readonly batchIndexAck?: boolean | undefined;
  /** What is not acknowledged within this time is delivered again; 0: never. */
  readonly ackTimeoutMs?: number | undefined;
  /** After which `nack`ed messages are delivered again. */
  readonly nackRedeliveryDelayMs?: number | undefined;
}

/** Which topics. */
export type TopicSelection =
  | { readonly kind: "named"; readonly topics: readonly string[] }
  | { readonly kind: "pattern"; readonly namespace: string; readonly pattern: RegExp };

/** Options with their defaults, checked. */
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

const TYPES: readonly SubscriptionType[] = ["exclusive", "shared", "failover", "keyShared"];
const POSITIONS: readonly ConsumerSettings["initialPosition"][] = ["latest", "earliest"];

/** One consumer for each, and each asks the broker for its own. */
export const TOPICS_MAX = 10_000;

/** A shorter timeout would mostly hit messages that are being worked on. */
const ACK_TIMEOUT_MIN_MS = 1_000;

export function consumerSettingsOf(options: ConsumerOptions): ConsumerSettings {
  requireKnownKeys("a consumer", options, KNOWN);
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

/** Whether the broker keeps account of each message, and not only of how far all have come. */
export function isIndividual(type: SubscriptionType): boolean {
  return type === "shared" || type === "keyShared";
}

function check(settings: ConsumerSettings): void {
  const { subscription, type, isDurable, startMessageId, ackTimeoutMs } = settings;
  if (typeof subscription !== "string" || subscription === "")
    throw new ConfigError("subscription is empty; it must be a name");
  if (!TYPES.includes(type))
    throw new ConfigError(`type is "${type}"; it must be one of ${TYPES.join(", ")}`);
  if (!POSITIONS.includes(settings.initialPosition))
    throw new ConfigError(
      `initialPosition is "${settings.initialPosition}"; it must be one of ${POSITIONS.join(", ")}`,
    );
  if (startMessageId !== undefined && !(startMessageId instanceof MessageId))
    throw new ConfigError("startMessageId must be a MessageId, such as MessageId.earliest");
  if (isDurable && startMessageId !== undefined)
    throw new ConfigError("startMessageId is for durable: false; a durable consumer seeks");
  if (settings.readCompacted && isIndividual(type))
    throw new ConfigError(`readCompacted needs the type exclusive or failover, not ${type}`);
  requireWhole("receiverQueueSize", settings.receiverQueueSize, 1, 1_000_000);
  requireWhole("receiverQueueTotal", settings.receiverQueueTotal, 1, 10_000_000);
  requireWhole("messageBytesMax", settings.messageBytesMax, 1, 2 ** 30);
  requireDuration("topicsRefreshMs", settings.topicsRefreshMs, 1);
  requireDuration("ackGroupTimeMs", settings.ackGroupTimeMs);
  requireDuration("nackRedeliveryDelayMs", settings.nackRedeliveryDelayMs);
  if (ackTimeoutMs !== 0) requireDuration("ackTimeoutMs", ackTimeoutMs, ACK_TIMEOUT_MIN_MS);
}

function selectionOf({ topic, topics, topicsPattern, ...rest }: ConsumerOptions): TopicSelection {
  const given = [topic, topics, topicsPattern].filter((each) => each !== undefined);
  if (given.length !== 1)
    throw new ConfigError("a consumer needs one of topic, topics and topicsPattern");
  const { namespace } = rest;
  if (topicsPattern !== undefined) {
    if (!(topicsPattern instanceof RegExp))
      throw new ConfigError("topicsPattern must be a RegExp, such as /^orders-/");
    const { tenant, namespace: local } = parseNamespace(namespace ?? "public/default");
    // With these flags a pattern would remember where it last matched.
    const pattern = new RegExp(topicsPattern.source, topicsPattern.flags.replace(/[gy]/g, ""));
    return { kind: "pattern", namespace: `${tenant}/${local}`, pattern };
  }
  if (namespace !== undefined) throw new ConfigError("namespace is for topicsPattern only");
  const names = new Set((topics ?? [topic ?? ""]).map(fullTopicName));
  if (names.size === 0 || names.size > TOPICS_MAX)
    throw new ConfigError(`topics has ${names.size}; it must have from 1 to ${TOPICS_MAX}`);
  return { kind: "named", topics: [...names] };
}
