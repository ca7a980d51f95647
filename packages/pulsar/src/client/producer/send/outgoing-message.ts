import { ConfigError } from "@sluice/core";
import type { Clock } from "@sluice/core";
import { requireKnownKeys, requireNumber } from "@sluice/core/internal";
import type { MessageMetadata } from "../../../wire/definition/metadata.ts";
import { shown } from "../../check/arguments.ts";
import { keyValues } from "../../message/properties.ts";
import { requireSequenceId } from "./sequence-id.ts";

/** A message to send. Its bytes must not change before `send` has resolved. */
export interface OutgoingMessage {
  /** Text is sent as UTF-8. */
  readonly data: Uint8Array | string;
  /** Messages of one key go to one partition, in order. */
  readonly key?: string | Uint8Array | undefined;
  /** Used instead of the key to choose the consumer of a Key_Shared subscription. */
  readonly orderingKey?: Uint8Array | undefined;
  readonly properties?: Readonly<Record<string, string>> | undefined;
  /** Event time of the application, in ms since 1970. */
  readonly eventTimeMs?: number | undefined;
  /** Above that of every message before. Default: the next number. */
  readonly sequenceId?: bigint | undefined;
  /** Delayed delivery on shared subscriptions: not before this time, in ms since 1970. Never batched. */
  readonly deliverAtMs?: number | undefined;
  /** Delayed delivery by a duration from now. */
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

/** The metadata fields that a single message and a batched one share. */
type CommonMetadata = Pick<
  MessageMetadata,
  "properties" | "partitionKey" | "partitionKeyB64Encoded" | "orderingKey" | "eventTime"
>;

/** A message as the wire format has it. */
export interface PreparedMessage {
  readonly payload: Uint8Array;
  readonly metadata: CommonMetadata;
  readonly deliverAtTime: bigint | undefined;
  readonly sequenceId: bigint | undefined;
  /** Estimated memory, for `pendingBytesMax`. */
  readonly sizeBytes: number;
}

/** Estimated bytes of a message's objects, and of one property, beside their content. */
const OVERHEAD_BYTES = 64;

export function prepare(message: OutgoingMessage, wallClock: Clock): PreparedMessage {
  requireMessage(message);
  requireKnownKeys("the message", message, KNOWN);
  const { data, sequenceId } = message;
  const payload = typeof data === "string" ? Buffer.from(data, "utf8") : data;
  if (!(payload instanceof Uint8Array))
    throw new ConfigError(
      `data is ${shown(data)}; use a string or a Uint8Array, e.g. JSON.stringify(value)`,
    );
  if (sequenceId !== undefined) requireSequenceId("sequenceId", sequenceId);
  const metadata = metadataOf(message);
  const sizeBytes = payload.length + OVERHEAD_BYTES + metadataBytes(metadata);
  const deliverAtTime = deliverAt(message, wallClock);
  return { payload, metadata, deliverAtTime, sequenceId, sizeBytes };
}

export function requireMessage(message: unknown): void {
  if (typeof message === "object" && message !== null && !(message instanceof Uint8Array)) return;
  throw new ConfigError(`the message is ${shown(message)}; write send({ data: "hello" })`);
}

/** A key as a text: bytes as base64, as in `partitionKey` of the wire. */
export function keyText(key: string | Uint8Array): string {
  if (typeof key === "string") return key;
  if (key instanceof Uint8Array) return Buffer.from(key).toString("base64");
  throw new ConfigError(`key is ${shown(key)}; use a string or a Uint8Array, e.g. String(id)`);
}

/** Always the same object shape, for speed; undefined fields are not encoded. */
function metadataOf({
  key,
  orderingKey,
  properties,
  eventTimeMs,
}: OutgoingMessage): CommonMetadata {
  if (orderingKey !== undefined && !(orderingKey instanceof Uint8Array))
    throw new ConfigError(
      `orderingKey is ${shown(orderingKey)}; use a Uint8Array, e.g. Buffer.from(text)`,
    );
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
    throw new ConfigError("deliverAtMs and deliverAfterMs are both set; use one of them");
  return instant("deliverAfterMs", wallClock.now() + deliverAfterMs);
}

/** The largest time of a `Date`, in ms. */
const INSTANT_MAX_MS = 8.64e15;

function instant(name: string, ms: number): bigint {
  requireNumber(name, ms, 0, INSTANT_MAX_MS);
  return BigInt(Math.round(ms));
}

/** An upper bound: one UTF-16 unit takes at most three bytes of UTF-8. */
function metadataBytes({ properties, partitionKey, orderingKey }: CommonMetadata): number {
  let units = partitionKey?.length ?? 0;
  if (properties !== undefined)
    for (const { key, value } of properties) units += key.length + value.length + OVERHEAD_BYTES;
  return units * 3 + (orderingKey?.length ?? 0);
}
