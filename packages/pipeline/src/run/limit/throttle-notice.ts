import type { Reason } from "@sluice/core";

/** Reads without a wait for this long end a throttling, ms. Lower, a vertex at its limit would tell of every read. */
const CALM_MS = 1000;

export type ThrottleChange =
  | { readonly kind: "throttled"; readonly reason: Reason }
  | { readonly kind: "flowing"; readonly waitedMs: number };

/** Whether a vertex is throttled, as people see it: not between two waits that follow each other closely. */
export class ThrottleNotice {
  #reason: Reason | undefined;
  #lastWaitMs = 0;
  #waitedMs = 0;

  get isThrottled(): boolean {
    return this.#reason !== undefined;
  }

  /** A read has to wait. Answers a change, if this is one. */
  onWait(reason: Reason, nowMs: number): ThrottleChange | undefined {
    this.#lastWaitMs = nowMs;
    if (reason === this.#reason) return undefined;
    this.#reason = reason;
    return { kind: "throttled", reason };
  }

  /** A read may go on, after `waitedMs`. */
  onRead(nowMs: number, waitedMs: number): ThrottleChange | undefined {
    if (this.#reason === undefined) return undefined;
    this.#waitedMs += waitedMs;
    if (waitedMs > 0) this.#lastWaitMs = nowMs;
    if (nowMs - this.#lastWaitMs < CALM_MS) return undefined;
    const change = { kind: "flowing", waitedMs: this.#waitedMs } as const;
    this.#reason = undefined;
    this.#waitedMs = 0;
    return change;
  }
}
