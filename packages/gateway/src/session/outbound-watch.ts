import type { SessionLimits } from "./limits.ts";

/**
 * `full`: no more messages for it. `unheard`: it does not take answers either, so that it should not
 * be heard. `tooMuch`: it should be closed. `free`: all is well again.
 */
export type OutboundChange = "same" | "full" | "unheard" | "tooMuch" | "free";

/** Watches how much a client leaves unread, so that what waits for it stays bounded. */
export class OutboundWatch {
  readonly #limits: SessionLimits;
  #fullSinceMs: number | undefined;
  #moreBytes = 0;

  constructor(limits: SessionLimits) {
    this.#limits = limits;
  }

  /** Answers were written; so many bytes are unread now. */
  onWritten(answerBytes: number, unreadBytes: number, nowMs: number): OutboundChange {
    const { outboundHighBytes, outboundMoreBytesMax } = this.#limits;
    if (this.#fullSinceMs === undefined) {
      if (unreadBytes < outboundHighBytes) return "same";
      this.#fullSinceMs = nowMs;
      return "full";
    }
    // What made it full does not count: one message may be larger than all of this.
    const beforeBytes = this.#moreBytes;
    this.#moreBytes += answerBytes;
    if (this.#moreBytes > outboundMoreBytesMax) return "tooMuch";
    const wasHeard = beforeBytes < outboundHighBytes;
    return wasHeard && this.#moreBytes >= outboundHighBytes ? "unheard" : "same";
  }

  onRead(unreadBytes: number): OutboundChange {
    if (this.#fullSinceMs === undefined || unreadBytes > this.#limits.outboundLowBytes)
      return "same";
    this.#fullSinceMs = undefined;
    this.#moreBytes = 0;
    return "free";
  }

  isOverdue(nowMs: number): boolean {
    return (
      this.#fullSinceMs !== undefined && nowMs - this.#fullSinceMs >= this.#limits.unwritableMs
    );
  }
}
