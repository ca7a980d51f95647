import { crc32c } from "@sluice/pulsar/wire";

const HEADER_BYTES = 8;
const ENTRY_HEADER_BYTES = 10;

/** The part of a frame that is not protobuf, written as plainly as can be, with our checksum. */
export function frameOf(command: Uint8Array, metadata: Uint8Array, payload: Uint8Array): Buffer {
  const entryAt = HEADER_BYTES + command.length;
  const metadataAt = entryAt + ENTRY_HEADER_BYTES;
  const payloadAt = metadataAt + metadata.length;
  const frame = Buffer.allocUnsafe(payloadAt + payload.length);
  frame.writeUInt32BE(frame.length - 4, 0);
  frame.writeUInt32BE(command.length, 4);
  frame.set(command, HEADER_BYTES);
  frame.writeUInt16BE(0x0e01, entryAt);
  frame.writeUInt32BE(metadata.length, entryAt + 6);
  frame.set(metadata, metadataAt);
  frame.set(payload, payloadAt);
  frame.writeUInt32BE(crc32c(frame, 0, entryAt + 6), entryAt + 2);
  return frame;
}

/** The command of a whole frame, without the rest. */
export function commandOf(frame: Buffer): Buffer {
  return frame.subarray(HEADER_BYTES, HEADER_BYTES + frame.readUInt32BE(4));
}
