import { decodeCommand, encodeCommandInto } from "./command.ts";
import type { Command } from "./command.ts";
import type { MessageMetadata } from "./definition/metadata.ts";
import type { CommandSend } from "./definition/producer.ts";
import { encodeEntryInto } from "./entry.ts";
import { ProtocolError } from "./protocol-error.ts";
import { ProtoWriter } from "./proto-writer.ts";

/** What a frame may have besides its payload: command and metadata. Pulsar's own number. */
export const FRAME_PADDING_BYTES = 10_240;

/** The largest payload unless a broker says otherwise. */
export const MESSAGE_BYTES_MAX = 5_242_880;

/** A frame's own length and that of its command, four bytes each, big-endian. */
const FRAME_HEADER_BYTES = 8;

/** A whole frame, as it came: its length, its command, and for some commands an entry. */
export interface Frame {
  readonly bytes: Buffer;
  readonly command: Command;
  /** What follows the command: a view of the frame, empty for most. */
  readonly entry: Buffer;
}

/** Reads the command of a whole frame. The entry behind it is not looked at. */
export function decodeFrame(bytes: Buffer): Frame {
  const commandEnd = FRAME_HEADER_BYTES + bytes.readUInt32BE(4);
  if (commandEnd > bytes.length)
    throw new ProtocolError("a command goes beyond the end of its frame");
  const command = decodeCommand(bytes, FRAME_HEADER_BYTES, commandEnd);
  return { bytes, command, entry: bytes.subarray(commandEnd) };
}

/** A whole frame for a command without an entry. */
export function encodeFrame(command: Command): Buffer {
  return encodeFrameHead(command, 0);
}

/** A whole frame that brings an entry made of these. */
export function encodeSendFrame(
  send: CommandSend,
  metadata: MessageMetadata,
  payload: Uint8Array,
): Buffer {
  const writer = new ProtoWriter(FRAME_HEADER_BYTES, payload.length);
  encodeCommandInto(writer, { kind: "send", body: send });
  const commandEnd = writer.offset;
  encodeEntryInto(writer, metadata, payload);
  const frame = writer.finish();
  frame.writeUInt32BE(frame.length - 4, 0);
  frame.writeUInt32BE(commandEnd - FRAME_HEADER_BYTES, 4);
  return frame;
}

/** A frame up to where its entry of `entryBytes` begins, so that an entry need not be copied. */
export function encodeFrameHead(command: Command, entryBytes: number): Buffer {
  const writer = new ProtoWriter(FRAME_HEADER_BYTES);
  encodeCommandInto(writer, command);
  const head = writer.finish();
  head.writeUInt32BE(head.length - 4 + entryBytes, 0);
  head.writeUInt32BE(head.length - FRAME_HEADER_BYTES, 4);
  return head;
}
