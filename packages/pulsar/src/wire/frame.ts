import { COMMANDS, encodeCommand, PULSAR_COMMANDS, writeCommandHead } from "./command.ts";
import type {
  Command,
  CommandBodies,
  CommandIn,
  CommandKind,
  CommandTable,
  UnknownCommand,
} from "./command.ts";
import type { MessageMetadata } from "./definition/metadata.ts";
import type { CommandSend } from "./definition/producer.ts";
import { encodeEntryInto } from "./entry.ts";
import { ProtocolError } from "./protocol-error.ts";
import { ProtoWriter } from "./proto-writer.ts";

/** Bytes of a frame beside its payload: command and metadata. Pulsar's own number. */
export const FRAME_PADDING_BYTES = 10_240;

/** Pulsar's default `maxMessageSize`: the largest payload unless the broker says another one. */
export const MESSAGE_BYTES_MAX = 5_242_880;

/** The frame's length and the command's length, four bytes each, big-endian. */
const FRAME_HEADER_BYTES = 8;

/** A decoded frame: a command and, for some commands, an entry. */
export interface Frame<AnyCommand = Command> {
  /** The whole frame, with its length. */
  readonly bytes: Buffer;
  readonly command: AnyCommand;
  /** The bytes behind the command: a view of the frame, empty for most commands. */
  readonly entry: Buffer;
}

/** Decodes the command of a whole frame. The entry is not decoded. */
export function decodeFrame(bytes: Buffer): Frame {
  return decodeFrameBy(PULSAR_COMMANDS, bytes);
}

/** Decodes a frame of a connection that has a command table of its own. */
export function decodeFrameBy<Bodies extends object>(
  commands: CommandTable<Bodies>,
  bytes: Buffer,
): Frame<CommandIn<Bodies> | UnknownCommand> {
  const commandEnd = FRAME_HEADER_BYTES + bytes.readUInt32BE(4);
  if (commandEnd > bytes.length)
    throw new ProtocolError("a command goes beyond the end of its frame");
  const command = commands.decode(bytes, FRAME_HEADER_BYTES, commandEnd);
  return { bytes, command, entry: bytes.subarray(commandEnd) };
}

/** Encodes a command without an entry as a whole frame. */
export function encodeFrame(command: Command): Buffer {
  return encodeFrameHead(command, 0);
}

/** Encodes a frame of a connection that has a command table of its own. */
export function encodeFrameBy<Bodies extends object>(
  commands: CommandTable<Bodies>,
  command: CommandIn<Bodies> | UnknownCommand,
  entryBytes: number = 0,
): Buffer {
  const writer = new ProtoWriter(FRAME_HEADER_BYTES);
  commands.encodeInto(writer, command);
  const head = writer.finish();
  head.writeUInt32BE(head.length - 4 + entryBytes, 0);
  head.writeUInt32BE(head.length - FRAME_HEADER_BYTES, 4);
  return head;
}

/**
 * Encodes a frame up to the last fields of its command's body, `tailBytes` of them, which the caller
 * has encoded before: a large answer that many clients ask for is encoded once.
 */
export function encodeFrameBeforeTail<Kind extends CommandKind>(
  kind: Kind,
  body: CommandBodies[Kind],
  tailBytes: number,
): Buffer {
  const { type, body: bodyType } = COMMANDS[kind];
  const writer = new ProtoWriter(FRAME_HEADER_BYTES);
  const bodyHead = bodyType.encode(body);
  writeCommandHead(writer, type);
  writer.uint32(bodyHead.length + tailBytes);
  writer.raw(bodyHead);
  const head = writer.finish();
  head.writeUInt32BE(head.length - 4 + tailBytes, 0);
  head.writeUInt32BE(head.length - FRAME_HEADER_BYTES + tailBytes, 4);
  return head;
}

/** Encodes a SEND with its entry as a whole frame. */
export function encodeSendFrame(
  send: CommandSend,
  metadata: MessageMetadata,
  payload: Uint8Array,
): Buffer {
  const writer = new ProtoWriter(FRAME_HEADER_BYTES, payload.length);
  encodeCommand(writer, COMMANDS.send, send);
  const commandEnd = writer.offset;
  encodeEntryInto(writer, metadata, payload);
  const frame = writer.finish();
  frame.writeUInt32BE(frame.length - 4, 0);
  frame.writeUInt32BE(commandEnd - FRAME_HEADER_BYTES, 4);
  return frame;
}

/** Encodes a frame up to its entry of `entryBytes`, so that the entry need not be copied. */
export function encodeFrameHead(command: Command, entryBytes: number): Buffer {
  return encodeFrameBy(PULSAR_COMMANDS, command, entryBytes);
}
