import { Fifo, requireWhole } from "@sluice/core/internal";
import { FRAME_PADDING_BYTES, MESSAGE_BYTES_MAX } from "./frame.ts";
import { PagedBytes } from "./paged-bytes.ts";
import { ProtocolError } from "./protocol-error.ts";

const LENGTH_BYTES = 4;

/** Smallest allocation for a frame that comes in pieces, in bytes. */
const ROOM_BYTES_MIN = 1_024;

/**
 * Frames up to this size, such as batches, get four times the bytes that have come, so that most are
 * allocated and copied once. The memory of larger ones doubles as bytes come, in pages.
 */
const BATCH_BYTES_MAX = 262_144;

export interface FrameDecoderOptions {
  /** Largest frame, including its length field. Default: 5 MiB and 10 KiB, as Pulsar. */
  readonly frameBytesMax?: number;
}

/**
 * Splits a byte stream into frames.
 *
 * A frame within one chunk is a view of that chunk. A frame over several chunks is copied once, a large
 * one twice, into memory that grows with the received bytes: a length field alone allocates nothing.
 * Frames are returned one at a time, so that the caller can stop between two of them.
 */
export class FrameDecoder {
  #frameBytesMax: number;
  #chunks = new Fifo<Buffer>();
  #chunk: Buffer = EMPTY;
  #offset = 0;
  #bufferedBytes = 0;
  /** Of the chunks that wait behind the current one. */
  #chunkBytes = 0;
  /** The frame that comes in pieces: bytes so far, and bytes in all. */
  #piece: Uint8Array | undefined;
  /** What `#piece` is a view of, if the frame is large. */
  #pages: PagedBytes | undefined;
  #pieceBytes = 0;
  #pieceNeeds = LENGTH_BYTES;

  constructor({
    frameBytesMax = MESSAGE_BYTES_MAX + FRAME_PADDING_BYTES,
  }: FrameDecoderOptions = {}) {
    requireWhole("frameBytesMax", frameBytesMax, FRAME_BYTES_MIN, FRAME_BYTES_CEILING);
    this.#frameBytesMax = frameBytesMax;
  }

  /**
   * Received bytes that were not returned yet. A caller that stops calling `next` must stop reading
   * too.
   */
  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  /** Whether a frame has begun and is not complete. */
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

  /** Bound for frames that begin from now on: smaller before the handshake than after it. */
  set frameBytesMax(bytes: number) {
    requireWhole("frameBytesMax", bytes, FRAME_BYTES_MIN, FRAME_BYTES_CEILING);
    this.#frameBytesMax = bytes;
  }

  /** Takes over the bytes: they must not change while their frames are in use. */
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

  /** Forgets all bytes. The memory of a large frame is free at once. */
  drop(): void {
    this.#pages?.drop();
    this.#pages = undefined;
    this.#piece = undefined;
    this.#chunks = new Fifo();
    this.#chunkBytes = 0;
    this.#chunk = EMPTY;
    this.#offset = 0;
    this.#bufferedBytes = 0;
  }

  /** The next complete frame; undefined until more bytes come. */
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
        // Returned frames keep their memory alive; an empty decoder should not.
        this.#chunk = EMPTY;
        this.#offset = 0;
        return undefined;
      }
      this.#chunkBytes -= chunk.length;
      this.#chunk = chunk;
      this.#offset = 0;
    }
  }

  /** The next frame if it is complete in the current chunk; else its first piece is stored. */
  #wholeFrame(): Buffer | undefined {
    const start = this.#offset;
    const available = this.#chunk.length - start;
    if (available === 0) return undefined;
    let room = ROOM_BYTES_MIN;
    if (available >= LENGTH_BYTES) {
      const needs = this.#checkedBytes(this.#chunk.readUInt32BE(start));
      if (available >= needs) {
        this.#offset = start + needs;
        return this.#chunk.subarray(start, this.#offset);
      }
      room = Math.max(ROOM_BYTES_MIN, roomOf(available, needs));
    }
    this.#piece = Buffer.allocUnsafe(room);
    this.#pieceBytes = 0;
    this.#pieceNeeds = LENGTH_BYTES;
    return undefined;
  }

  #joinedFrame(piece: Uint8Array): Buffer | undefined {
    const taken = Math.min(this.#pieceNeeds - this.#pieceBytes, this.#chunk.length - this.#offset);
    const room = this.#roomFor(piece, this.#pieceBytes + taken);
    this.#chunk.copy(room, this.#pieceBytes, this.#offset, this.#offset + taken);
    this.#offset += taken;
    this.#pieceBytes += taken;
    if (this.#pieceBytes < this.#pieceNeeds) return undefined;
    if (this.#pieceNeeds === LENGTH_BYTES) {
      this.#pieceNeeds = this.#checkedBytes(lengthIn(room));
      return undefined;
    }
    this.#piece = undefined;
    const pages = this.#pages;
    if (pages === undefined) return Buffer.from(room.buffer, room.byteOffset, this.#pieceBytes);
    this.#pages = undefined;
    return pages.take();
  }

  #roomFor(piece: Uint8Array, bytes: number): Uint8Array {
    if (bytes <= piece.length) return piece;
    const needs = this.#pieceNeeds;
    const room = Math.max(bytes, roomOf(piece.length, needs));
    const pages = this.#pages ?? (needs > BATCH_BYTES_MAX ? new PagedBytes(needs) : undefined);
    pages?.grow(room);
    const larger = pages?.bytes ?? Buffer.allocUnsafe(room);
    if (larger !== piece) larger.set(piece.subarray(0, this.#pieceBytes));
    this.#pages = pages;
    this.#piece = larger;
    return larger;
  }

  /** Bytes of a frame by its length field, which does not count itself. */
  #checkedBytes(announced: number): number {
    const bytes = LENGTH_BYTES + announced;
    if (bytes < FRAME_BYTES_MIN)
      throw new ProtocolError(`a frame of ${announced} bytes has no room for a command`);
    if (bytes > this.#frameBytesMax)
      throw new ProtocolError(`a frame of ${bytes} bytes is larger than ${this.#frameBytesMax}`);
    return bytes;
  }
}

/** Bytes to allocate for a frame of `needs` bytes of which `come` have come. */
function roomOf(come: number, needs: number): number {
  return Math.min(needs, come * (needs > BATCH_BYTES_MAX ? 2 : 4));
}

/** The value of the length field. */
function lengthIn({ buffer, byteOffset }: Uint8Array): number {
  return new DataView(buffer, byteOffset).getUint32(0);
}

const EMPTY = Buffer.alloc(0);
const FRAME_BYTES_MIN = 2 * LENGTH_BYTES;
/** The largest value of a length field. */
const FRAME_BYTES_CEILING = 2 ** 32 + LENGTH_BYTES - 1;
