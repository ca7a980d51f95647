import type { Clock } from "@sluice/core";
import type { FrameRoom } from "../memory/frame-room.ts";
import { LARGE_FRAME_BYTES, LargeFrame } from "../server/socket/read/large-frame.ts";

/**
 * Room for the large frames of one broker connection. A large frame has its room from before it is read
 * until its client has taken it, so that clients which do not read cannot fill the memory with the
 * messages that they ask for.
 */
export class LargeDelivery {
  readonly #room: FrameRoom;
  readonly #clock: Clock;
  readonly #onAdmitted: () => void;
  #frame: LargeFrame | undefined;
  #isArriving = false;

  constructor(room: FrameRoom, clock: Clock, onAdmitted: () => void) {
    this.#room = room;
    this.#clock = clock;
    this.#onAdmitted = onAdmitted;
  }

  get dueAtMs(): number {
    return this.#frame?.dueAtMs ?? Infinity;
  }

  /** Whether others wait for the room that this frame has had for too long. */
  isLate(nowMs: number): boolean {
    return this.#frame?.isLate(nowMs) ?? false;
  }

  /** A frame of this size was handed over. */
  onFrame(bytes: number): void {
    if (bytes > LARGE_FRAME_BYTES) this.#isArriving = false;
  }

  /** Answers whether more may be read of a frame that says it has `announcedBytes`. */
  update(announcedBytes: number, hasClientTaken: boolean): boolean {
    if (this.#frame !== undefined && !this.#isArriving && hasClientTaken) this.leave();
    if (announcedBytes <= LARGE_FRAME_BYTES) return true;
    if (this.#frame === undefined) {
      this.#isArriving = true;
      this.#frame = new LargeFrame(this.#room, announcedBytes, this.#clock, this.#onAdmitted);
    }
    return this.#isArriving && this.#frame.isAdmitted;
  }

  leave(): void {
    this.#frame?.leave();
    this.#frame = undefined;
    this.#isArriving = false;
  }
}
