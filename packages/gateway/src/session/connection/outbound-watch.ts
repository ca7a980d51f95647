import type { SessionLimits } from "../limits.ts";

/**
 * `full`: no more messages for this client. `deaf`: it does not take answers either, so that its
 * commands are not read. `tooMuch`: it should be closed. `free`: it takes what it is sent again.
 */
export type OutboundChange = "same" | "full" | "deaf" | "tooMuch" | "free";

/**
 * Watches how many bytes a client leaves unread, so that they stay bounded. A client that takes
 * some bytes in every `unwritableMs` is slow, and stays; one that takes none is closed.
 */
export class OutboundWatch {
  readonly #limits: SessionLimits;
  #isFull = false;
  #progressAtMs = 0;
  /** Answers that were written since it is full. */
  #moreBytes = 0;

  constructor(limits: SessionLimits) {
    this.#limits = limits;
  }

  onWritten(answerBytes: number, unreadBytes: number, nowMs: number): OutboundChange {
    const { outboundHighBytes, outboundMoreBytesMax } = this.#limits;
    if (!this.#isFull) {
      if (unreadBytes < outboundHighBytes) return "same";
      this.#isFull = true;
      this.#progressAtMs = nowMs;
      return "full";
    }
    // What made it full does not count: one message may be larger than all of this.
    const beforeBytes = this.#moreBytes;
    this.#moreBytes += answerBytes;
    if (this.#moreBytes > outboundMoreBytesMax) return "tooMuch";
    const wasHeard = beforeBytes < outboundHighBytes;
    return wasHeard && this.#moreBytes >= outboundHighBytes ? "deaf" : "same";
  }

  /** The client has taken some bytes. */
  onTaken(unreadBytes: number, nowMs: number): OutboundChange {
    this.#progressAtMs = nowMs;
    if (!this.#isFull || unreadBytes > this.#limits.outboundLowBytes) return "same";
    this.#isFull = false;
    this.#moreBytes = 0;
    return "free";
  }

  /** When a client that takes nothing is closed. */
  get dueAtMs(): number {
    return this.#isFull ? this.#progressAtMs + this.#limits.unwritableMs : Infinity;
  }
}
