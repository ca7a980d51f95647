import { crc32c } from "./crc32c.ts";
import { BROKER_ENTRY_METADATA, MESSAGE_METADATA } from "./definition/metadata.ts";
import type { BrokerEntryMetadata, MessageMetadata } from "./definition/metadata.ts";
import { ProtocolError } from "./protocol-error.ts";
import { ProtoReader, WIRE_TYPE } from "./proto-reader.ts";
import { ProtoWriter } from "./proto-writer.ts";

const CHECKSUM_MAGIC = 0x0e01;
const BROKER_ENTRY_MAGIC = 0x0e02;
const CHECKSUM_HEADER_BYTES = 6;
/** Magic, checksum, and the length of the metadata. */
const ENTRY_HEADER_BYTES = CHECKSUM_HEADER_BYTES + 4;

/**
 * What one SEND brings and one MESSAGE carries: metadata and a payload, which may be a batch, with
 * a checksum over both. All parts are views.
 */
export interface Entry {
  readonly brokerEntryMetadata: Buffer | undefined;
  /** What the sender says it is; nothing if the entry has none. */
  readonly checksum: number | undefined;
  /** What the checksum is of. */
  readonly checked: Buffer;
  readonly metadata: Buffer;
  readonly payload: Buffer;
}

/** Finds the parts of an entry without decoding any. */
export function splitEntry(bytes: Buffer): Entry {
  let offset = 0;
  let brokerEntryMetadata: Buffer | undefined;
  if (magicAt(bytes, offset) === BROKER_ENTRY_MAGIC) {
    const start = offset + 6;
    offset = start + uint32At(bytes, offset + 2);
    if (offset > bytes.length) throw tooShort();
    brokerEntryMetadata = bytes.subarray(start, offset);
  }
  let checksum: number | undefined;
  if (magicAt(bytes, offset) === CHECKSUM_MAGIC) {
    checksum = uint32At(bytes, offset + 2);
    offset += CHECKSUM_HEADER_BYTES;
  }
  const checked = bytes.subarray(offset);
  const payloadStart = 4 + uint32At(checked, 0);
  if (payloadStart > checked.length) throw tooShort();
  return {
    brokerEntryMetadata,
    checksum,
    checked,
    metadata: checked.subarray(4, payloadStart),
    payload: checked.subarray(payloadStart),
  };
}

/** Whether an entry is as it was sent. One without a checksum is believed. */
export function isIntact({ checksum, checked }: Entry): boolean {
  return checksum === undefined || checksum === crc32c(checked);
}

export function decodeMetadata(entry: Entry): MessageMetadata {
  return MESSAGE_METADATA.decodeFrom(new ProtoReader(entry.metadata));
}

/** Field 19 of the metadata as a varint. */
const DELIVER_AT_TIME = (19 << 3) | 0;

/**
 * When an entry is to be delivered at the earliest, in wall time; undefined if at once. Steps over
 * the other fields without an object for any, so that a dispatcher can ask for every entry. Fields
 * of a kind that no metadata has are left to a `ProtoReader`.
 */
export function deliverAtMsOf(bytes: Uint8Array): number | undefined {
  let offset = 0;
  if (magicOf(bytes, offset) === BROKER_ENTRY_MAGIC) offset += 6 + lengthAt(bytes, offset + 2);
  if (magicOf(bytes, offset) === CHECKSUM_MAGIC) offset += CHECKSUM_HEADER_BYTES;
  const end = offset + 4 + lengthAt(bytes, offset);
  if (end > bytes.length) throw tooShort();
  for (let at = offset + 4; at < end;) {
    const fieldAt = at;
    let tag = bytes[at++] ?? 0;
    if (tag >= 0x80) {
      const high = bytes[at++] ?? 0;
      if (high >= 0x80) return slowDeliverAtMsOf(bytes, fieldAt, end);
      tag = (tag & 0x7f) | (high << 7);
    }
    if (tag === DELIVER_AT_TIME) return slowDeliverAtMsOf(bytes, fieldAt, end);
    const wireType = tag & 7;
    let length = bytes[at++] ?? 0;
    if (wireType === WIRE_TYPE.varint) {
      while (length >= 0x80 && at < end) length = bytes[at++] ?? 0;
    } else if (wireType === WIRE_TYPE.bytes && length < 0x80) {
      at += length;
    } else return slowDeliverAtMsOf(bytes, fieldAt, end);
  }
  return undefined;
}

function slowDeliverAtMsOf(bytes: Uint8Array, start: number, end: number): number | undefined {
  const { buffer, byteOffset, byteLength } = bytes;
  const reader = new ProtoReader(Buffer.from(buffer, byteOffset, byteLength), start, end);
  while (!reader.isAtEnd) {
    const tag = reader.tag();
    if (tag === DELIVER_AT_TIME) return Number(reader.int64());
    reader.skip(tag);
  }
  return undefined;
}

function magicOf(bytes: Uint8Array, offset: number): number {
  return ((bytes[offset] ?? 0) << 8) | (bytes[offset + 1] ?? 0);
}

function lengthAt(bytes: Uint8Array, offset: number): number {
  if (offset + 4 > bytes.length) throw tooShort();
  const high = ((bytes[offset] ?? 0) << 8) | (bytes[offset + 1] ?? 0);
  const low = ((bytes[offset + 2] ?? 0) << 8) | (bytes[offset + 3] ?? 0);
  return high * 65_536 + low;
}

export function decodeBrokerEntryMetadata(entry: Entry): BrokerEntryMetadata | undefined {
  const { brokerEntryMetadata } = entry;
  if (brokerEntryMetadata === undefined) return undefined;
  return BROKER_ENTRY_METADATA.decode(brokerEntryMetadata);
}

/** One buffer with checksum, metadata and a copy of the payload. */
export function encodeEntry(metadata: MessageMetadata, payload: Uint8Array): Buffer {
  const writer = new ProtoWriter(0, payload.length);
  encodeEntryInto(writer, metadata, payload);
  return writer.finish();
}

/** Writes checksum, metadata and payload behind what is there. */
export function encodeEntryInto(
  writer: ProtoWriter,
  metadata: MessageMetadata,
  payload: Uint8Array,
): void {
  const start = writer.offset;
  writer.skip(ENTRY_HEADER_BYTES);
  MESSAGE_METADATA.encodeInto(writer, metadata);
  const metadataBytes = writer.offset - start - ENTRY_HEADER_BYTES;
  writer.raw(payload);
  const written = writer.finish();
  written.writeUInt16BE(CHECKSUM_MAGIC, start);
  written.writeUInt32BE(metadataBytes, start + CHECKSUM_HEADER_BYTES);
  written.writeUInt32BE(crc32c(written, 0, start + CHECKSUM_HEADER_BYTES), start + 2);
}

/** What stands before an entry for a client that asked for it: when and as which it was stored. */
export function encodeBrokerEntryHead(metadata: BrokerEntryMetadata): Buffer {
  const body = BROKER_ENTRY_METADATA.encode(metadata);
  const head = Buffer.allocUnsafe(6 + body.length);
  head.writeUInt16BE(BROKER_ENTRY_MAGIC, 0);
  head.writeUInt32BE(body.length, 2);
  body.copy(head, 6);
  return head;
}

function magicAt(bytes: Buffer, offset: number): number | undefined {
  return offset + 2 <= bytes.length ? bytes.readUInt16BE(offset) : undefined;
}

function uint32At(bytes: Buffer, offset: number): number {
  if (offset + 4 > bytes.length) throw tooShort();
  return bytes.readUInt32BE(offset);
}

function tooShort(): ProtocolError {
  return new ProtocolError("an entry is shorter than it says");
}
