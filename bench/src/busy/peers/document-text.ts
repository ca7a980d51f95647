import type { BusyState, BusyThrottle, Clock } from "@sluice/core";
import { RateMeter, SECOND_MS, DOCUMENT_LIMIT_MAX } from "@sluice/core/internal";
import { Tokens } from "./tokens.ts";

const BURST_S = 0.02;

/**
 * The text of TChannel's document, word by word: a busy answer sets the limit to half of what was
 * sent in the second before it, at once; every second makes it three times as much.
 */
export class DocumentTextThrottle implements BusyThrottle {
  readonly #clock: Clock;
  readonly #sent: RateMeter;
  readonly #tokens = new Tokens();
  #limit: number = DOCUMENT_LIMIT_MAX;
  #second = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sent = new RateMeter({ clock });
    this.#tokens.set(DOCUMENT_LIMIT_MAX, DOCUMENT_LIMIT_MAX, clock.now());
  }

  state(nowMs: number = this.#clock.now()): BusyState {
    this.#advance(nowMs);
    if (this.#limit === DOCUMENT_LIMIT_MAX) return { limit: undefined, move: "open" };
    return { limit: this.#limit, move: "recover" };
  }

  pauseMs(nowMs: number = this.#clock.now()): number {
    this.#advance(nowMs);
    return this.#tokens.pauseMs(nowMs);
  }

  trySend(nowMs: number = this.#clock.now()): boolean {
    this.#advance(nowMs);
    if (!this.#tokens.tryTake(nowMs)) return false;
    this.#sent.record(1, nowMs);
    return true;
  }

  onAnswer(_sentAtMs: number, isBusy: boolean, nowMs: number = this.#clock.now()): void {
    this.#advance(nowMs);
    if (isBusy) this.#set(this.#sent.perSecond(nowMs) / 2, nowMs);
  }

  #advance(nowMs: number): void {
    for (; (this.#second + 1) * SECOND_MS <= nowMs; this.#second++) {
      this.#set(this.#limit * 3, (this.#second + 1) * SECOND_MS);
    }
  }

  #set(limit: number, nowMs: number): void {
    this.#limit = Math.min(DOCUMENT_LIMIT_MAX, limit);
    this.#tokens.set(this.#limit, Math.max(1, this.#limit * BURST_S), nowMs);
  }
}
