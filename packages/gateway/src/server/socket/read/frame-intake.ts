import type { Clock } from "@sluice/core";
import { FrameDecoder, ProtocolError } from "@sluice/pulsar/wire";
import type { Frame } from "@sluice/pulsar/wire";
import type { ByteBudget } from "../../../memory/byte-budget.ts";
import type { FrameRoom } from "../../../memory/frame-room.ts";
import { LARGE_FRAME_BYTES, LargeFrame } from "./large-frame.ts";

/** What the intakes of all connections share. */
export interface IntakeWorld {
  readonly clock: Clock;
  readonly memory: ByteBudget;
  readonly frameRoom: FrameRoom;
  /** Decodes the command of a frame, as far as the backend needs it. */
  readonly decode: (bytes: Buffer) => Frame;
  readonly limits: { readonly greetingBytesMax: number; readonly commandBytesMax: number };
}

/** Where a frame says how long its command is. */
const COMMAND_LENGTH_AT = 4;

/** While memory is exhausted, a connection that has more than this in a begun frame is not read. */
const PARTIAL_BYTES_MAX = 8_192;

/**
 * While memory is exhausted, SENDs still pass of a connection that keeps no more than this. Raised, many
 * connections fill what is left up to `isFull`: 36 MiB by default are 2,300 of them.
 */
const SMALL_BYTES_MAX = 16_384;

/** The bytes of one connection become frames; what is not a frame yet, or waits for memory, is counted. */
export class FrameIntake {
  readonly #world: IntakeWorld;
  readonly #decoder: FrameDecoder;
  readonly #onRoom: () => void;
  /** A SEND that waits for memory. */
  #waiting: Frame | undefined;
  #bytes = 0;
  #largeFrame: LargeFrame | undefined;

  /** `onRoom`: a large frame that waited for room may be read. */
  constructor(world: IntakeWorld, onRoom: () => void) {
    this.#world = world;
    this.#onRoom = onRoom;
    this.#decoder = new FrameDecoder({ frameBytesMax: world.limits.greetingBytesMax });
  }

  set frameBytesMax(bytes: number) {
    this.#decoder.frameBytesMax = bytes;
  }

  /** Whether all whole frames were taken. */
  get isDrained(): boolean {
    return this.#waiting === undefined;
  }

  /** Bytes that have come and were not handed over. */
  get bufferedBytes(): number {
    return this.#decoder.bufferedBytes;
  }

  get isWithinFrame(): boolean {
    return this.#decoder.isWithinFrame;
  }

  /** Whether more bytes may come: a large frame needs room. */
  get hasRoom(): boolean {
    return this.#largeFrame?.isAdmitted ?? true;
  }

  get waitsForMemory(): boolean {
    if (this.#waiting !== undefined) return true;
    const isLargeAdmitted = this.#largeFrame?.isAdmitted === true;
    const { isExhausted } = this.#world.memory;
    return isExhausted && !isLargeAdmitted && this.#bytes > PARTIAL_BYTES_MAX;
  }

  /** When `isLate` is to be asked. */
  get dueAtMs(): number {
    return this.#largeFrame?.dueAtMs ?? Infinity;
  }

  /** Whether a large frame took too long while others waited for room. */
  isLate(nowMs: number): boolean {
    return this.#largeFrame?.isLate(nowMs) ?? false;
  }

  push(chunk: Buffer): void {
    this.#decoder.push(chunk);
  }

  /**
   * Undefined if there is none, or if it is a SEND and memory is exhausted. `keptBytes` says what the
   * connection keeps beside what is here.
   */
  next(keptBytes: () => number): Frame | undefined {
    const frame = this.#waiting ?? this.#decodeNext();
    if (frame === undefined) return undefined;
    const { memory } = this.#world;
    const mustWait =
      memory.isExhausted &&
      frame.command.kind === "send" &&
      (memory.isFull || keptBytes() + this.#bytesNow(frame) > SMALL_BYTES_MAX);
    this.#waiting = mustWait ? frame : undefined;
    return mustWait ? undefined : frame;
  }

  /** Bytes that were counted last. */
  get bytes(): number {
    return this.#bytes;
  }

  #bytesNow(frame: Frame): number {
    return this.#decoder.bufferedBytes + frame.bytes.length;
  }

  /** Counts what has arrived and was not handed over; a large frame must ask for room. */
  count(): void {
    const { memory, frameRoom, clock } = this.#world;
    const bytes = this.#decoder.heldBytes + (this.#waiting?.bytes.length ?? 0);
    if (bytes > this.#bytes) memory.reserve("partial-frame", bytes - this.#bytes);
    else if (bytes < this.#bytes) memory.release("partial-frame", this.#bytes - bytes);
    this.#bytes = bytes;
    const announcedBytes = this.#decoder.announcedBytes ?? 0;
    if (announcedBytes <= LARGE_FRAME_BYTES) {
      this.#largeFrame?.leave();
      this.#largeFrame = undefined;
    } else this.#largeFrame ??= new LargeFrame(frameRoom, announcedBytes, clock, this.#onRoom);
  }

  /** The connection ends. */
  forget(): void {
    this.#waiting = undefined;
    this.#decoder.drop();
    this.#largeFrame?.leave();
    this.#largeFrame = undefined;
    this.#world.memory.release("partial-frame", this.#bytes);
    this.#bytes = 0;
  }

  #decodeNext(): Frame | undefined {
    const bytes = this.#decoder.next();
    if (bytes === undefined) return undefined;
    const { commandBytesMax } = this.#world.limits;
    if (bytes.readUInt32BE(COMMAND_LENGTH_AT) > commandBytesMax)
      throw new ProtocolError(`a command has ${commandBytesMax} bytes at most`);
    return this.#world.decode(bytes);
  }
}
