import { ConfigError } from "@sluice/core";
import { requireDuration, requireKnownKeys, requireWhole } from "@sluice/core/internal";
import { compressionOf } from "../../compression/compression.ts";
import type { Compression, CompressionName } from "../../compression/compression.ts";
import { fullTopicName } from "../../topic-name.ts";
import { ACCESS_MODE } from "../../wire/constants.ts";
import type { KeyValue } from "../../wire/definition/key-value.ts";
import { javaStringHash, murmur3Hash } from "../message/key-hash.ts";
import type { KeyHash } from "../message/key-hash.ts";
import { keyValues } from "../message/properties.ts";
import { requireBoolean, requireOneOf, requireOptions, requireText } from "../check/arguments.ts";
import type { BatchLimits } from "./send/batch-builder.ts";
import type { OutgoingMessage } from "./send/outgoing-message.ts";
import { requireSequenceId } from "./send/sequence-id.ts";

export type AccessMode = keyof typeof ACCESS_MODE;

/** Returns the partition of a message: a whole number from 0 to `partitions` − 1. */
export type Route = (message: OutgoingMessage, partitions: number) => number;

export interface ProducerOptions {
  /** A short name such as `orders` means `persistent://public/default/orders`. */
  readonly topic: string;
  /** Unique in the cluster. Default: the broker chooses one. */
  readonly name?: string | undefined;
  /** Shown in the broker's statistics. Default: none. */
  readonly properties?: Readonly<Record<string, string>> | undefined;
  /** Whether other producers may publish to the topic at the same time. @default "shared" */
  readonly accessMode?: AccessMode | undefined;
  /** Several messages in one entry; true: 1000 messages, 128 KiB or 1 ms. @default false */
  readonly batching?: boolean | Partial<BatchLimits> | undefined;
  /** @default "none" */
  readonly compression?: CompressionName | undefined;
  /** Sends a message above the broker's maxMessageSize in chunks instead of refusing it. @default false */
  readonly chunking?: boolean | undefined;
  /** From the call of `send` to the receipt; 0 for no timeout. @default 30000 */
  readonly sendTimeoutMs?: number | undefined;
  /** Messages without a receipt, over all partitions; further calls of `send` wait. @default 10000 */
  readonly pendingMessagesMax?: number | undefined;
  /** The same in bytes. @default 67108864 */
  readonly pendingBytesMax?: number | undefined;
  /** Of the first message. Default: one more than the broker has stored for this name. */
  readonly initialSequenceId?: bigint | undefined;
  /** How messages are spread over partitions. Default: those of `PartitionOptions`. */
  readonly partitions?: PartitionOptions | undefined;
}

/** How messages are spread over a partitioned topic. */
export interface PartitionOptions {
  /** Chooses the partition. Default: by key, and by round robin for messages without one. */
  readonly route?: Route | undefined;
  /** The hash of keys; all producers of a topic must use the same. @default "javaString" */
  readonly keyHash?: "javaString" | "murmur3" | undefined;
  /** Time between two looks for added partitions. @default 60000 */
  readonly updateMs?: number | undefined;
}

/** The options, checked, with defaults. */
export interface ProducerSettings {
  readonly topic: string;
  readonly name: string | undefined;
  readonly properties: readonly KeyValue[];
  readonly accessMode: number;
  readonly batching: BatchLimits | undefined;
  readonly compression: Compression;
  readonly isChunking: boolean;
  /** Infinity for no timeout. */
  readonly sendTimeoutMs: number;
  readonly room: { readonly messagesMax: number; readonly bytesMax: number };
  readonly initialSequenceId: bigint | undefined;
  readonly partitions: {
    readonly route: Route | undefined;
    readonly keyHash: KeyHash;
    readonly updateMs: number;
  };
}

const KNOWN: ReadonlySet<string> = new Set([
  "topic",
  "name",
  "properties",
  "accessMode",
  "batching",
  "compression",
  "chunking",
  "sendTimeoutMs",
  "pendingMessagesMax",
  "pendingBytesMax",
  "initialSequenceId",
  "partitions",
]);
const KNOWN_OF_BATCHING: ReadonlySet<string> = new Set(["messagesMax", "bytesMax", "delayMaxMs"]);
const KNOWN_OF_PARTITIONS: ReadonlySet<string> = new Set(["route", "keyHash", "updateMs"]);

const BATCH_LIMITS: BatchLimits = { messagesMax: 1_000, bytesMax: 131_072, delayMaxMs: 1 };
const SEND_TIMEOUT_MS = 30_000;
const PENDING_MESSAGES_MAX = 10_000;
const PENDING_BYTES_MAX = 67_108_864;
const PARTITIONS_UPDATE_MS = 60_000;
const KEY_HASHES = { javaString: javaStringHash, murmur3: murmur3Hash };

export function settingsOf(options: ProducerOptions): ProducerSettings {
  requireKnownKeys("createProducer", options, KNOWN);
  const { accessMode = "shared", sendTimeoutMs = SEND_TIMEOUT_MS, initialSequenceId } = options;
  const { pendingMessagesMax = PENDING_MESSAGES_MAX, pendingBytesMax = PENDING_BYTES_MAX } =
    options;
  if (options.name !== undefined) requireText("name", options.name, '"orders-1"');
  if (options.chunking !== undefined) requireBoolean("chunking", options.chunking);
  requireDuration("sendTimeoutMs", sendTimeoutMs);
  requireWhole("pendingMessagesMax", pendingMessagesMax, 1);
  requireWhole("pendingBytesMax", pendingBytesMax, 1);
  if (initialSequenceId !== undefined) requireSequenceId("initialSequenceId", initialSequenceId);
  const batching = batchingOf(options.batching ?? false);
  if (batching !== undefined && sendTimeoutMs > 0 && batching.delayMaxMs >= sendTimeoutMs)
    throw new ConfigError(
      `batching.delayMaxMs is ${batching.delayMaxMs}; use less than sendTimeoutMs, which is ${sendTimeoutMs}`,
    );
  return {
    topic: fullTopicName(options.topic),
    name: options.name,
    properties: keyValues(options.properties ?? {}),
    accessMode: requireOneOf("accessMode", accessMode, ACCESS_MODE),
    batching,
    compression: usableCompression(options.compression ?? "none"),
    isChunking: options.chunking ?? false,
    sendTimeoutMs: sendTimeoutMs === 0 ? Infinity : sendTimeoutMs,
    room: { messagesMax: pendingMessagesMax, bytesMax: pendingBytesMax },
    initialSequenceId,
    partitions: partitionsOf(options.partitions ?? {}),
  };
}

/** Fails here if this Node lacks the codec, not at the first message. */
function usableCompression(name: CompressionName): Compression {
  const compression = compressionOf(name);
  compression.codec.compress(new Uint8Array());
  return compression;
}

function batchingOf(batching: boolean | Partial<BatchLimits>): BatchLimits | undefined {
  if (batching === false) return undefined;
  if (batching === true) return BATCH_LIMITS;
  requireOptions("batching", batching, "{ batching: true } or { batching: { delayMaxMs: 5 } }");
  requireKnownKeys("batching", batching, KNOWN_OF_BATCHING);
  const { messagesMax, bytesMax, delayMaxMs } = batching;
  return {
    messagesMax: messagesMax ?? BATCH_LIMITS.messagesMax,
    bytesMax: bytesMax ?? BATCH_LIMITS.bytesMax,
    delayMaxMs: delayMaxMs ?? BATCH_LIMITS.delayMaxMs,
  };
}

function partitionsOf(options: PartitionOptions): ProducerSettings["partitions"] {
  requireOptions("partitions", options, '{ partitions: { keyHash: "murmur3" } }');
  requireKnownKeys("partitions", options, KNOWN_OF_PARTITIONS);
  const { route, keyHash = "javaString", updateMs = PARTITIONS_UPDATE_MS } = options;
  requireDuration("partitions.updateMs", updateMs, 1);
  if (route !== undefined && typeof route !== "function")
    throw new ConfigError(
      "partitions.route must be a function (message, partitions) => number, e.g. () => 0",
    );
  return { route, keyHash: requireOneOf("partitions.keyHash", keyHash, KEY_HASHES), updateMs };
}
