import type { Clock } from "@sluice/core";
import type { FrameRoom } from "../../../memory/frame-room.ts";

/** Frames above this size, if they come in pieces, wait for room before more of them is read. */
export const LARGE_FRAME_BYTES = 65_536;

/** A large frame must arrive in this time while others wait for room: 1 MB/s for the largest. */
export const LARGE_FRAME_MS = 5_000;

/** A frame above `LARGE_FRAME_BYTES` that arrives in pieces. */
export class LargeFrame {
  readonly #room: FrameRoom;
  readonly leave: () => void;
  isAdmitted = false;
  dueAtMs: number = Infinity;

  /** `onAdmitted` is called only if it had to wait. */
  constructor(room: FrameRoom, bytes: number, clock: Clock, onAdmitted: () => void) {
    this.#room = room;
    let isWaiting = false;
    this.leave = room.request(bytes, () => {
      this.isAdmitted = true;
      this.dueAtMs = clock.now() + LARGE_FRAME_MS;
      if (isWaiting) onAdmitted();
    });
    isWaiting = true;
  }

  /** Whether it took too long; if no other frame waits it gets the same time again. */
  isLate(nowMs: number): boolean {
    if (nowMs < this.dueAtMs) return false;
    if (this.#room.isContended) return true;
    this.dueAtMs = nowMs + LARGE_FRAME_MS;
    return false;
  }
}
