import { LastSecond } from "./last-second.ts";

/** A write of a sink, as its limit sees it. */
export interface CountedWrite {
  /**
   * Messages of it are on their way to the server. `isAgain`: for at least the second time, so that no fewer are left to be
   * sent.
   */
  onSent(count: number, nowMs: number, isAgain: boolean): void;
  end(): void;
}

/** Messages that a sink has sent in the last second, and those that it may send at any time. */
export class SentMessages {
  readonly #sent = new LastSecond();
  #pending = 0;

  /** Messages that running writes have not sent yet. */
  get pending(): number {
    return this.#pending;
  }

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
      onSent: (some, sentMs, isAgain) => {
        if (!isAgain) settle(some);
        this.#sent.add(some, sentMs);
      },
      end: () => settle(pending),
    };
  }

  /** Messages sent in the last second, plus those that running writes have not sent yet: they may all leave now. */
  sum(nowMs: number): number {
    return this.#sent.sum(nowMs) + this.#pending;
  }

  /** How long until the sum is `countMax` or less, if running writes send no more, ms. */
  untilMs(countMax: number, nowMs: number): number {
    const sentMax = countMax - this.#pending;
    return sentMax < 0 ? Infinity : this.#sent.untilMs(sentMax, nowMs);
  }
}
