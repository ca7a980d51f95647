import { InvariantError } from "@sluice/core";
import { decodeFrame, typeOf } from "@sluice/pulsar/wire";
import type { CommandOf, Frame } from "@sluice/pulsar/wire";

/**
 * SEND and SEND_RECEIPT are nearly all that a relay sees, and it needs next to nothing of them. They are
 * read here where they have the form that all known clients and brokers write. Every other form is
 * left to the decoder for all commands, which also says what is wrong with it.
 */

/** The frame's length and the command's length, four bytes each. */
const HEADER_BYTES = 8;

/** Where the body of a command begins whose type, tag and length take one byte each. */
const BODY_AT = HEADER_BYTES + 4;

const VARINT = 0;
const BYTES = 2;
const TYPE_TAG = (1 << 3) | VARINT;
const PRODUCER_ID = (1 << 3) | VARINT;
const SEQUENCE_ID = (2 << 3) | VARINT;
const NUM_MESSAGES = (3 << 3) | VARINT;
const MESSAGE_ID = (3 << 3) | BYTES;

/** From here on a byte is not the whole varint. */
const LONG = 0x80;

/** Bits of the numbers that are read here. */
const BITS_MAX = 28;
/** Bits of a varint of 10 bytes, the longest. */
const VARINT_BITS_MAX = 70;

const SEND_TYPE = typeOf("send");
const RECEIPT_TYPE = typeOf("sendReceipt");

/** Producer ids for which no BigInt is made. */
const IDS: readonly bigint[] = Array.from({ length: 1_024 }, (_, id) => BigInt(id));

/** Bytes of a frame behind its command. */
export function entryBytesOf(frame: Pick<Frame, "bytes">): number {
  return frame.bytes.length - entryStartOf(frame);
}

/** Where the entry of a frame begins. */
export function entryStartOf({ bytes }: Pick<Frame, "bytes">): number {
  return HEADER_BYTES + bytes.readUInt32BE(4);
}

/** A SEND: its frame, command and body are one object. What a relay does not need is read when asked for. */
class SlimSend implements Frame<CommandOf<"send">> {
  readonly kind = "send";
  readonly bytes: Buffer;
  readonly producerId: bigint;
  readonly numMessages: number | undefined;

  constructor(bytes: Buffer, producerId: bigint, numMessages: number | undefined) {
    this.bytes = bytes;
    this.producerId = producerId;
    this.numMessages = numMessages;
  }

  get command(): this {
    return this;
  }

  get body(): this {
    return this;
  }

  get entry(): Buffer {
    return entryOf(this);
  }

  get sequenceId(): bigint {
    return sequenceIdOf(this);
  }
}

/** A SEND_RECEIPT, in the same way. */
class SlimReceipt implements Frame<CommandOf<"sendReceipt">> {
  readonly kind = "sendReceipt";
  readonly bytes: Buffer;
  readonly producerId: bigint;

  constructor(bytes: Buffer, producerId: bigint) {
    this.bytes = bytes;
    this.producerId = producerId;
  }

  get command(): this {
    return this;
  }

  get body(): this {
    return this;
  }

  get entry(): Buffer {
    return entryOf(this);
  }

  get sequenceId(): bigint {
    return sequenceIdOf(this);
  }
}

/** Undefined: not a SEND, or one of a rare form. */
export function slimSend(bytes: Buffer): Frame<CommandOf<"send">> | undefined {
  const end = bodyEnd(bytes, SEND_TYPE);
  let producerId = -1;
  let numMessages: number | undefined;
  let hasSequenceId = false;
  for (let at = BODY_AT; at < end;) {
    const tag = bytes[at++] as number;
    if ((tag & 7) !== VARINT || tag < PRODUCER_ID || tag >= LONG) return undefined;
    let value = 0;
    let bits = 0;
    for (let byte = LONG; byte >= LONG; bits += 7) {
      if (at >= end || bits >= VARINT_BITS_MAX) return undefined;
      byte = bytes[at++] as number;
      value |= (byte & 0x7f) << bits;
    }
    if (tag === SEQUENCE_ID) hasSequenceId = true;
    else if (tag === PRODUCER_ID || tag === NUM_MESSAGES) {
      if (bits > BITS_MAX) return undefined;
      if (tag === PRODUCER_ID) producerId = value;
      else numMessages = value;
    }
  }
  if (producerId < 0 || !hasSequenceId) return undefined;
  return new SlimSend(bytes, IDS[producerId] ?? BigInt(producerId), numMessages);
}

/** Undefined: not a SEND_RECEIPT, or one of a rare form. The message id is not looked into. */
export function slimReceipt(bytes: Buffer): Frame<CommandOf<"sendReceipt">> | undefined {
  const end = bodyEnd(bytes, RECEIPT_TYPE);
  let producerId = -1;
  let hasSequenceId = false;
  for (let at = BODY_AT; at < end;) {
    const tag = bytes[at++] as number;
    if (tag === MESSAGE_ID) {
      const length = at < end ? (bytes[at] as number) : LONG;
      at += 1 + length;
      if (length >= LONG || at > end) return undefined;
      continue;
    }
    if ((tag & 7) !== VARINT || tag < PRODUCER_ID || tag >= LONG) return undefined;
    let value = 0;
    let bits = 0;
    for (let byte = LONG; byte >= LONG; bits += 7) {
      if (at >= end || bits >= VARINT_BITS_MAX) return undefined;
      byte = bytes[at++] as number;
      value |= (byte & 0x7f) << bits;
    }
    if (tag === SEQUENCE_ID) hasSequenceId = true;
    else if (tag === PRODUCER_ID) {
      if (bits > BITS_MAX) return undefined;
      producerId = value;
    }
  }
  if (producerId < 0 || !hasSequenceId) return undefined;
  return new SlimReceipt(bytes, IDS[producerId] ?? BigInt(producerId));
}

/** Where the body of a command of this type ends; 0 if it is another one, or of a rare form. */
function bodyEnd(bytes: Buffer, type: number): number {
  if (bytes.length < BODY_AT || bytes[8] !== TYPE_TAG || bytes[9] !== type) return 0;
  const length = bytes[11] as number;
  if (bytes[10] !== ((type << 3) | BYTES) || length >= LONG) return 0;
  const end = BODY_AT + length;
  return end === HEADER_BYTES + bytes.readUInt32BE(4) && end <= bytes.length ? end : 0;
}

function entryOf(frame: Pick<Frame, "bytes">): Buffer {
  return frame.bytes.subarray(entryStartOf(frame));
}

function sequenceIdOf({ bytes }: Pick<Frame, "bytes">): bigint {
  const { command } = decodeFrame(bytes);
  if (command.kind === "send" || command.kind === "sendReceipt") return command.body.sequenceId;
  throw new InvariantError(`${command.kind} has no sequence id`);
}
