import { ConfigError } from "@sluice/core";
import { requireDuration, requireKnownKeys, requireWhole } from "@sluice/core/internal";
import { compressionOf } from "../../compression/compression.ts";
import type { Compression, CompressionName } from "../../compression/compression.ts";
import { fullTopicName } from "../../topic-name.ts";
import { ACCESS_MODE } from "../../wire/constants.ts";
import type { KeyValue } from "../../wire/definition/key-value.ts";
import { javaStringHash, murmur3Hash } from "../message/key-hash.ts";
import type { KeyHash } from "../message/key-hash.ts";
import { keyValues } from "../api/properties.ts";
import type { BatchLimits } from "./batch-builder.ts";
import type { OutgoingMessage } from "./outgoing-message.ts";
import { requireSequenceId } from "./sequence-id.ts";

export type AccessMode = keyof typeof ACCESS_MODE;

/** Which of `partitions` partitions, from 0, a message goes to. */
export type Route = (message: OutgoingMessage, partitions: number) => number;

export interface ProducerOptions {
  readonly topic: string;
  /** Unique in the cluster; the broker gives one if it is left out. */
  readonly name?: string | undefined;
  /** For those who look at the topic's producers. */
  readonly properties?: Readonly<Record<string, string>> | undefined;
  /** `shared`: others may publish, too. */
  readonly accessMode?: AccessMode | undefined;
  /** Several messages in one entry: 1000, 128 KiB or 1 ms, whichever is first. Off if left out. */
  readonly batching?: boolean | Partial<BatchLimits> | undefined;
  readonly compression?: CompressionName | undefined;
  /** Sends messages that are larger than the broker takes in pieces. Refused if left out. */
  readonly chunking?: boolean | undefined;
  /** From the call of `send`; 0 for no end. */
  readonly sendTimeoutMs?: number | undefined;
  /** Messages taken and not stored yet, of all partitions together. More wait in `send`. */
  readonly pendingMessagesMax?: number | undefined;
  readonly pendingBytesMax?: number | undefined;
  /** Of the first message; one more than the broker remembers of this name if left out. */
  readonly initialSequenceId?: bigint | undefined;
  readonly partitions?: PartitionOptions | undefined;
}

/** How messages are spread over a partitioned topic. */
export interface PartitionOptions {
  /** Instead of by key, and in turn for messages without one. */
  readonly route?: Route | undefined;
  /** How keys are spread. Other clients of the topic must do the same. */
  readonly keyHash?: "javaString" | "murmur3" | undefined;
  /** How often to look for new partitions. */
  readonly updateMs?: number | undefined;
}

/** The options with nothing left open. */
export interface ProducerSettings {
  readonly topic: string;
  readonly name: string | undefined;
  readonly properties: readonly KeyValue[];
  readonly accessMode: number;
  readonly batching: BatchLimits | undefined;
  readonly compression: Compression;
  readonly isChunking: boolean;
  /** Infinity for no end. */
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
  requireKnownKeys("a producer", options, KNOWN);
  const { accessMode = "shared", sendTimeoutMs = SEND_TIMEOUT_MS, initialSequenceId } = options;
  const { pendingMessagesMax = PENDING_MESSAGES_MAX, pendingBytesMax = PENDING_BYTES_MAX } =
    options;
  requireDuration("sendTimeoutMs", sendTimeoutMs);
  requireWhole("pendingMessagesMax", pendingMessagesMax, 1);
  requireWhole("pendingBytesMax", pendingBytesMax, 1);
  if (initialSequenceId !== undefined) requireSequenceId("initialSequenceId", initialSequenceId);
  const batching = batchingOf(options.batching ?? false);
  if (batching !== undefined && sendTimeoutMs > 0 && batching.delayMaxMs >= sendTimeoutMs)
    throw new ConfigError(
      `batching.delayMaxMs is ${batching.delayMaxMs}; it must be less than sendTimeoutMs, ${sendTimeoutMs}`,
    );
  return {
    topic: fullTopicName(options.topic),
    name: options.name,
    properties: keyValues(options.properties ?? {}),
    accessMode: oneOf("accessMode", accessMode, ACCESS_MODE),
    batching,
    compression: usableCompression(options.compression ?? "none"),
    isChunking: options.chunking ?? false,
    sendTimeoutMs: sendTimeoutMs === 0 ? Infinity : sendTimeoutMs,
    room: { messagesMax: pendingMessagesMax, bytesMax: pendingBytesMax },
    initialSequenceId,
    partitions: partitionsOf(options.partitions ?? {}),
  };
}

/** Some need a newer Node, and say so when they are used. */
function usableCompression(name: CompressionName): Compression {
  const compression = compressionOf(name);
  compression.codec.compress(new Uint8Array());
  return compression;
}

function batchingOf(batching: boolean | Partial<BatchLimits>): BatchLimits | undefined {
  if (batching === false) return undefined;
  if (batching === true) return BATCH_LIMITS;
  requireKnownKeys("batching", batching, KNOWN_OF_BATCHING);
  const { messagesMax, bytesMax, delayMaxMs } = batching;
  return {
    messagesMax: messagesMax ?? BATCH_LIMITS.messagesMax,
    bytesMax: bytesMax ?? BATCH_LIMITS.bytesMax,
    delayMaxMs: delayMaxMs ?? BATCH_LIMITS.delayMaxMs,
  };
}

function partitionsOf(options: PartitionOptions): ProducerSettings["partitions"] {
  requireKnownKeys("partitions", options, KNOWN_OF_PARTITIONS);
  const { route, keyHash = "javaString", updateMs = PARTITIONS_UPDATE_MS } = options;
  requireDuration("partitions.updateMs", updateMs, 1);
  return { route, keyHash: oneOf("partitions.keyHash", keyHash, KEY_HASHES), updateMs };
}

function oneOf<Name extends string, T>(
  what: string,
  name: Name,
  choices: Readonly<Record<Name, T>>,
): T {
  if (Object.hasOwn(choices, name)) return choices[name];
  throw new ConfigError(
    `${what} is "${name}"; it must be one of ${Object.keys(choices).join(", ")}`,
  );
}
