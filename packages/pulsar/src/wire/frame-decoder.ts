import { Fifo, requireWhole } from "@sluice/core/internal";
import { FRAME_PADDING_BYTES, MESSAGE_BYTES_MAX } from "./frame.ts";
import { ProtocolError } from "./protocol-error.ts";

const LENGTH_BYTES = 4;

/** Room for a first piece; it doubles from there, as bytes come. */
const FIRST_ROOM_BYTES = 1_024;

export interface FrameDecoderOptions {
  /** The largest frame, its length included. */
  readonly frameBytesMax?: number;
}

/**
 * Cuts a stream of bytes into frames, however it was chunked.
 *
 * A frame that lies whole in one chunk is a view of it. One that does not is copied once, into room
 * that grows with what has really come: a header that announces much reserves nothing. A frame is
 * handed out when it is asked for, so that whoever judges frames can stop between two of them.
 */
export class FrameDecoder {
  #frameBytesMax: number;
  readonly #chunks = new Fifo<Buffer>();
  #chunk: Buffer = EMPTY;
  #offset = 0;
  #bufferedBytes = 0;
  /** Of the chunks that wait behind the current one. */
  #chunkBytes = 0;
  /** The frame that came in pieces: how much of it is there, and how much it takes. */
  #piece: Buffer | undefined;
  #pieceBytes = 0;
  #pieceNeeds = LENGTH_BYTES;

  constructor({
    frameBytesMax = MESSAGE_BYTES_MAX + FRAME_PADDING_BYTES,
  }: FrameDecoderOptions = {}) {
    requireWhole("frameBytesMax", frameBytesMax, FRAME_BYTES_MIN, FRAME_BYTES_CEILING);
    this.#frameBytesMax = frameBytesMax;
  }

  /** Bytes that have come and are not yet handed out. Whoever stops asking must stop reading, too. */
  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  /** Whether a frame has begun and is not whole yet. */
  get isWithinFrame(): boolean {
    return this.#bufferedBytes > 0;
  }

  /** Memory that the decoder keeps: chunks as a whole, and the room for a frame that came in pieces. */
  get heldBytes(): number {
    return this.#chunkBytes + this.#chunk.length + (this.#piece?.length ?? 0);
  }

  /** Size of the frame that has begun and came in pieces; undefined before its length is known. */
  get announcedBytes(): number | undefined {
    return this.#piece === undefined || this.#pieceBytes < LENGTH_BYTES
      ? undefined
      : this.#pieceNeeds;
  }

  /** Frames that begin from now on may be this large: less before a handshake than after it. */
  set frameBytesMax(bytes: number) {
    requireWhole("frameBytesMax", bytes, FRAME_BYTES_MIN, FRAME_BYTES_CEILING);
    this.#frameBytesMax = bytes;
  }

  /** Takes bytes over: they must not change until their frames are done with. */
  push(chunk: Buffer): void {
    this.#bufferedBytes += chunk.length;
    if (this.#offset === this.#chunk.length && this.#chunks.length === 0) {
      this.#chunk = chunk;
      this.#offset = 0;
    } else {
      this.#chunks.push(chunk);
      this.#chunkBytes += chunk.length;
    }
  }

  /** The next frame that is whole, or nothing before more bytes come. */
  next(): Buffer | undefined {
    for (;;) {
      const frame = this.#piece === undefined ? this.#wholeFrame() : this.#joinedFrame(this.#piece);
      if (frame !== undefined) {
        this.#bufferedBytes -= frame.length;
        return frame;
      }
      if (this.#offset < this.#chunk.length) continue;
      const chunk = this.#chunks.shift();
      if (chunk === undefined) {
        // Handed-out frames keep their memory alive; an empty decoder should not.
        this.#chunk = EMPTY;
        this.#offset = 0;
        return undefined;
      }
      this.#chunkBytes -= chunk.length;
      this.#chunk = chunk;
      this.#offset = 0;
    }
  }

  /** The next frame if it lies whole in the current chunk; otherwise its first piece is put aside. */
  #wholeFrame(): Buffer | undefined {
    const start = this.#offset;
    const available = this.#chunk.length - start;
    if (available === 0) return undefined;
    if (available >= LENGTH_BYTES) {
      const needs = this.#checkedBytes(this.#chunk.readUInt32BE(start));
      if (available >= needs) {
        this.#offset = start + needs;
        return this.#chunk.subarray(start, this.#offset);
      }
    }
    this.#piece = Buffer.allocUnsafe(Math.max(FIRST_ROOM_BYTES, available));
    this.#pieceBytes = 0;
    this.#pieceNeeds = LENGTH_BYTES;
    return undefined;
  }

  #joinedFrame(piece: Buffer): Buffer | undefined {
    const taken = Math.min(this.#pieceNeeds - this.#pieceBytes, this.#chunk.length - this.#offset);
    const room = this.#roomFor(piece, this.#pieceBytes + taken);
    this.#chunk.copy(room, this.#pieceBytes, this.#offset, this.#offset + taken);
    this.#offset += taken;
    this.#pieceBytes += taken;
    if (this.#pieceBytes < this.#pieceNeeds) return undefined;
    if (this.#pieceNeeds === LENGTH_BYTES) {
      this.#pieceNeeds = this.#checkedBytes(room.readUInt32BE(0));
      return undefined;
    }
    this.#piece = undefined;
    return room.subarray(0, this.#pieceBytes);
  }

  #roomFor(piece: Buffer, bytes: number): Buffer {
    if (bytes <= piece.length) return piece;
    const doubled = Math.min(piece.length * 2, this.#pieceNeeds);
    const larger = Buffer.allocUnsafe(Math.max(bytes, doubled));
    piece.copy(larger, 0, 0, this.#pieceBytes);
    this.#piece = larger;
    return larger;
  }

  /** What a frame takes in all, by its length field, which does not count itself. */
  #checkedBytes(announced: number): number {
    const bytes = LENGTH_BYTES + announced;
    if (bytes < FRAME_BYTES_MIN)
      throw new ProtocolError(`a frame of ${announced} bytes has no room for a command`);
    if (bytes > this.#frameBytesMax)
      throw new ProtocolError(`a frame of ${bytes} bytes is larger than ${this.#frameBytesMax}`);
    return bytes;
  }
}

const EMPTY = Buffer.alloc(0);
const FRAME_BYTES_MIN = 2 * LENGTH_BYTES;
/** What a length field can say at most. */
const FRAME_BYTES_CEILING = 2 ** 32 + LENGTH_BYTES - 1;
