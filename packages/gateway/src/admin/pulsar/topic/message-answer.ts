import { formatWallTime } from "@sluice/core/system";
import {
  compressionOfWire,
  decodeBrokerEntryMetadata,
  decodeMetadata,
  MESSAGE_BYTES_MAX,
  splitEntry,
} from "@sluice/pulsar/wire";
import type { Entry, KeyValue, MessageMetadata } from "@sluice/pulsar/wire";
import { formatPosition } from "../../../storage/position.ts";
import type { StoredEntry } from "../../../storage/log/topic-log.ts";
import type { Answer } from "../../http/answer.ts";
import { HttpError } from "../../http/http-error.ts";

/** Latest time that a date can have; a client may have sent anything. */
const TIME_MAX_MS = 8_640_000_000_000_000n;

/**
 * An entry as Pulsar answers it: the payload as the body, the metadata in headers. A batch is sent
 * whole; the client splits it.
 */
export function messageAnswer({ position, bytes, messageCount }: StoredEntry): Answer {
  const entry = splitEntry(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const metadata = decodeMetadata(entry);
  const isEncrypted = (metadata.encryptionKeys?.length ?? 0) > 0;
  const headers: Record<string, string | undefined> = {
    // Pulsar calls every payload JSON.
    "content-type": "application/json",
    "X-Pulsar-Message-ID": formatPosition(position),
    // Java compares this name with its case.
    "X-Pulsar-PROPERTY": asciiJson(metadata.properties ?? []),
    "X-Pulsar-Is-Encrypted": String(isEncrypted),
    "X-Pulsar-txn-uncommitted": "false",
    "X-Pulsar-txn-aborted": "false",
    ...batchHeaders(metadata, messageCount, entry.payload.length),
    ...metadataHeaders(metadata),
    ...brokerEntryHeaders(entry),
  };
  const given = Object.entries(headers).filter((header) => header[1] !== undefined);
  return {
    status: 200,
    headers: Object.fromEntries(given) as Record<string, string>,
    body: isEncrypted ? entry.payload : decompressed(metadata, entry.payload),
  };
}

function decompressed(
  { compression = 0, uncompressedSize = 0 }: MessageMetadata,
  payload: Buffer,
): Uint8Array {
  if (compression === 0) return payload;
  if (uncompressedSize > MESSAGE_BYTES_MAX)
    throw new HttpError(412, `the message has ${uncompressedSize} bytes uncompressed`);
  try {
    return compressionOfWire(compression).codec.decompress(payload, uncompressedSize);
  } catch (cause) {
    throw new HttpError(412, "the message cannot be decompressed", { cause });
  }
}

type Headers = Readonly<Record<string, string | undefined>>;

function batchHeaders(
  { numMessagesInBatch }: MessageMetadata,
  messageCount: number,
  bytes: number,
): Headers {
  if (numMessagesInBatch === undefined) return {};
  return {
    "X-Pulsar-num-batch-message": String(messageCount),
    "X-Pulsar-batch-size": String(bytes),
  };
}

function metadataHeaders(metadata: MessageMetadata): Headers {
  return {
    "X-Pulsar-publish-time": timeText(metadata.publishTime),
    "X-Pulsar-event-time": timeText(metadata.eventTime),
    "X-Pulsar-deliver-at-time": timeText(metadata.deliverAtTime),
    "X-Pulsar-producer-name": ascii(metadata.producerName),
    "X-Pulsar-sequence-id": metadata.sequenceId.toString(),
    "X-Pulsar-highest-sequence-id": metadata.highestSequenceId?.toString(),
    "X-Pulsar-partition-key": ascii(metadata.partitionKey),
    "X-Pulsar-partition-key-b64-encoded": metadata.partitionKeyB64Encoded?.toString(),
    "X-Pulsar-compression":
      metadata.compression === undefined ? undefined : compressionName(metadata.compression),
    "X-Pulsar-uncompressed-size": metadata.uncompressedSize?.toString(),
    "X-Pulsar-null-value": metadata.nullValue?.toString(),
    "X-Pulsar-chunk-id": metadata.chunkId?.toString(),
    "X-Pulsar-num-chunks-from-msg": metadata.numChunksFromMsg?.toString(),
    "X-Pulsar-total-chunk-msg-size": metadata.totalChunkMsgSize?.toString(),
    "X-Pulsar-uuid": ascii(metadata.uuid),
    "X-Pulsar-Base64-ordering-key": base64(metadata.orderingKey),
    "X-Pulsar-Base64-schema-version": base64(metadata.schemaVersion),
    "X-Pulsar-Base64-encryption-param": base64(metadata.encryptionParam),
  };
}

function brokerEntryHeaders(entry: Entry): Headers {
  const broker = decodeBrokerEntryMetadata(entry);
  return {
    "X-Pulsar-Broker-Entry-METADATA-timestamp": timeText(broker?.brokerTimestamp),
    "X-Pulsar-Broker-Entry-METADATA-index": broker?.index?.toString(),
  };
}

function compressionName(wireType: number): string | undefined {
  try {
    return compressionOfWire(wireType).name.toUpperCase();
  } catch {
    return undefined;
  }
}

/** Undefined if there is none, and for one that is no date. */
function timeText(ms: bigint | undefined): string | undefined {
  if (ms === undefined || ms < 0n || ms > TIME_MAX_MS) return undefined;
  return formatWallTime(Number(ms));
}

function base64(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString("base64");
}

/** Headers hold ASCII only. */
function ascii(text: string | undefined): string | undefined {
  return text?.replaceAll(/[^\x20-\x7E]/gu, "?");
}

function asciiJson(properties: readonly KeyValue[]): string {
  const text = JSON.stringify(Object.fromEntries(properties.map(({ key, value }) => [key, value])));
  return text.replaceAll(
    /[^\x20-\x7E]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
