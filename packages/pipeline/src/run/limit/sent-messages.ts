import { LastSecond } from "./last-second.ts";

/** A write of a sink, as its limit sees it. */
export interface CountedWrite {
  /** Messages of it are on their way to the server; more than it has, if some are sent again. */
  onSent(count: number, nowMs: number): void;
  end(): void;
}

/** Messages that a sink has sent in the last second, and those that it may send at any time. */
export class SentMessages {
  readonly #sent = new LastSecond();
  #pending = 0;

  /** `isTold`: the sink tells when it sends messages. Otherwise it sends all of them now. */
  begin(count: number, isTold: boolean, nowMs: number): CountedWrite {
    let pending = isTold ? count : 0;
    this.#pending += pending;
    if (!isTold) this.#sent.add(count, nowMs);
    const settle = (some: number): void => {
      const settled = Math.min(some, pending);
      pending -= settled;
      this.#pending -= settled;
    };
    return {
      onSent: (some, sentMs) => {
        settle(some);
        this.#sent.add(some, sentMs);
      },
      end: () => settle(pending),
    };
  }

  /** At this instant, as the messages that it may still send count. */
  sum(nowMs: number): number {
    return this.#sent.sum(nowMs) + this.#pending;
  }
}
