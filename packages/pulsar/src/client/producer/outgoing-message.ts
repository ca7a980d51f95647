import { ConfigError } from "@sluice/core";
import type { Clock } from "@sluice/core";
import { requireKnownKeys, requireNumber } from "@sluice/core/internal";
import type { MessageMetadata } from "../../wire/definition/metadata.ts";
import { keyValues } from "../api/properties.ts";
import { requireSequenceId } from "./sequence-id.ts";

/** What a producer is given. Nothing in it may change before `send` has resolved. */
export interface OutgoingMessage {
  /** Text goes as UTF-8. */
  readonly data: Uint8Array | string;
  /** Messages of one key stay in order, in one partition. */
  readonly key?: string | Uint8Array | undefined;
  /** What keyShared consumers share messages by, instead of the key. */
  readonly orderingKey?: Uint8Array | undefined;
  readonly properties?: Readonly<Record<string, string>> | undefined;
  /** When it happened, by whatever clock the application has: milliseconds since 1970. */
  readonly eventTimeMs?: number | undefined;
  /** Greater than that of any message before; the next number if left out. */
  readonly sequenceId?: bigint | undefined;
  /** Shared consumers get it no sooner: milliseconds since 1970. Such a message joins no batch. */
  readonly deliverAtMs?: number | undefined;
  /** The same, from now on. */
  readonly deliverAfterMs?: number | undefined;
}

const KNOWN: ReadonlySet<string> = new Set([
  "data",
  "key",
  "orderingKey",
  "properties",
  "eventTimeMs",
  "sequenceId",
  "deliverAtMs",
  "deliverAfterMs",
]);

/** The fields that a message has in the same form whether it goes alone or in a batch. */
type CommonMetadata = Pick<
  MessageMetadata,
  "properties" | "partitionKey" | "partitionKeyB64Encoded" | "orderingKey" | "eventTime"
>;

/** A message in the terms of the wire. */
export interface PreparedMessage {
  readonly payload: Uint8Array;
  readonly metadata: CommonMetadata;
  readonly deliverAtTime: bigint | undefined;
  readonly sequenceId: bigint | undefined;
  /** What it takes in memory, near enough. */
  readonly sizeBytes: number;
}

/** Beside what its user gave it, a message costs this much while it is kept. */
const OVERHEAD_BYTES = 64;

export function prepare(message: OutgoingMessage, wallClock: Clock): PreparedMessage {
  if (typeof message !== "object")
    throw new ConfigError('a message must be an object, as in { data: "hello" }');
  requireKnownKeys("a message", message, KNOWN);
  const { data, sequenceId } = message;
  const payload = typeof data === "string" ? Buffer.from(data, "utf8") : data;
  if (!(payload instanceof Uint8Array))
    throw new ConfigError("a message's data must be a Uint8Array or a string");
  if (sequenceId !== undefined) requireSequenceId("a message's sequenceId", sequenceId);
  const metadata = metadataOf(message);
  const sizeBytes = payload.length + OVERHEAD_BYTES + metadataBytes(metadata);
  const deliverAtTime = deliverAt(message, wallClock);
  return { payload, metadata, deliverAtTime, sequenceId, sizeBytes };
}

/** A key as routing sees it: bytes by their base64, as the wire has them. */
export function keyText(key: string | Uint8Array): string {
  return typeof key === "string" ? key : Buffer.from(key).toString("base64");
}

/** One shape for all, so that the hot path stays fast: fields that are undefined are not written. */
function metadataOf({
  key,
  orderingKey,
  properties,
  eventTimeMs,
}: OutgoingMessage): CommonMetadata {
  if (key !== undefined && typeof key !== "string" && !(key instanceof Uint8Array))
    throw new ConfigError("a message's key must be a string or a Uint8Array");
  if (orderingKey !== undefined && !(orderingKey instanceof Uint8Array))
    throw new ConfigError("a message's orderingKey must be a Uint8Array");
  return {
    properties: properties === undefined ? undefined : keyValues(properties),
    partitionKey: key === undefined ? undefined : keyText(key),
    partitionKeyB64Encoded: key === undefined || typeof key === "string" ? undefined : true,
    orderingKey,
    eventTime: eventTimeMs === undefined ? undefined : instant("eventTimeMs", eventTimeMs),
  };
}

function deliverAt(message: OutgoingMessage, wallClock: Clock): bigint | undefined {
  const { deliverAtMs, deliverAfterMs } = message;
  if (deliverAfterMs === undefined)
    return deliverAtMs === undefined ? undefined : instant("deliverAtMs", deliverAtMs);
  if (deliverAtMs !== undefined)
    throw new ConfigError("a message has deliverAtMs or deliverAfterMs, not both");
  return instant("deliverAfterMs", wallClock.now() + deliverAfterMs);
}

/** Beyond this no `Date` goes. */
const INSTANT_MAX_MS = 8.64e15;

function instant(name: string, ms: number): bigint {
  requireNumber(name, ms, 0, INSTANT_MAX_MS);
  return BigInt(Math.round(ms));
}

/** A character takes at most three bytes of UTF-8 per unit of UTF-16. */
function metadataBytes({ properties, partitionKey, orderingKey }: CommonMetadata): number {
  let units = partitionKey?.length ?? 0;
  if (properties !== undefined)
    for (const { key, value } of properties) units += key.length + value.length + OVERHEAD_BYTES;
  return units * 3 + (orderingKey?.length ?? 0);
}
