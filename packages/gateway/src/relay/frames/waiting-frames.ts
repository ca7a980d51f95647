import { Fifo } from "@sluice/core/internal";
import { ownBytes } from "../../memory/own-bytes.ts";
import { decodeClientFrame, isOfProducer } from "../relay-commands.ts";
import type { ProducerFrame } from "../relay-commands.ts";

type ProducerKind = ProducerFrame["command"]["kind"];

/**
 * Bytes of the frames that wait on one connection; the client is not read from here on. A frame counts for
 * `FRAME_OBJECT_BYTES` at least, so that some 450 CLOSE_PRODUCERs fit: a client that closes all its
 * producers at once sends one for each.
 */
export const WAITING_BYTES_MAX = 262_144;

/** A waiting frame's place in its queue, and its decoded command, by an estimate. */
const FRAME_OBJECT_BYTES = 512;

/**
 * Commands that wait until all held SENDs of their producer id have left, in order. `bytes` stays below
 * `WAITING_BYTES_MAX` and one frame, because nothing is read while `isFull`.
 */
export class WaitingFrames {
  readonly #byId = new Map<bigint, Fifo<ProducerFrame>>();
  readonly #lastKind = new Map<bigint, ProducerKind>();
  #sends = 0;
  #bytes = 0;

  /** Memory that the frames keep. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A SEND may be as large as a frame can be: none is read behind it. */
  get isFull(): boolean {
    return this.#sends > 0 || this.#bytes >= WAITING_BYTES_MAX;
  }

  has(id: bigint): boolean {
    return this.#byId.has(id);
  }

  /** The kind of the newest command that waits for this id. */
  lastKind(id: bigint): ProducerKind | undefined {
    return this.#lastKind.get(id);
  }

  add(id: bigint, arrived: ProducerFrame): void {
    const frame = ownFrame(arrived);
    const { kind } = frame.command;
    const waiting = this.#byId.get(id) ?? new Fifo<ProducerFrame>();
    this.#byId.set(id, waiting);
    this.#lastKind.set(id, kind);
    waiting.push(frame);
    if (kind === "send") this.#sends++;
    this.#bytes += bytesOf(frame);
  }

  /** The oldest command of the id, which waits no longer. */
  take(id: bigint): ProducerFrame | undefined {
    const waiting = this.#byId.get(id);
    const frame = waiting?.shift();
    if (waiting?.length === 0) {
      this.#byId.delete(id);
      this.#lastKind.delete(id);
    }
    if (frame === undefined) return undefined;
    if (frame.command.kind === "send") this.#sends--;
    this.#bytes -= bytesOf(frame);
    return frame;
  }

  clear(): void {
    this.#byId.clear();
    this.#lastKind.clear();
    this.#sends = 0;
    this.#bytes = 0;
  }
}

function bytesOf({ bytes }: ProducerFrame): number {
  return bytes.buffer.byteLength + FRAME_OBJECT_BYTES;
}

/** Decoded again where it is copied: the schema of a PRODUCER is a view of its frame. */
function ownFrame(frame: ProducerFrame): ProducerFrame {
  const bytes = ownBytes(frame.bytes);
  if (bytes === frame.bytes) return frame;
  const own = decodeClientFrame(bytes);
  return isOfProducer(own) ? own : frame;
}
