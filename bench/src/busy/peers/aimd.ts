import type { BusyState, BusyThrottle, Clock } from "@sluice/core";
import { RateMeter, DOCUMENT_LIMIT_MAX } from "@sluice/core/internal";
import { Tokens } from "./tokens.ts";

const FACTOR = 0.7;
const GROWTH_PER_SECOND = 0.05;
const BURST_S = 0.02;

/** Times 0.7 for each generation of requests with a busy answer, and 5 % more each second. */
export class AimdThrottle implements BusyThrottle {
  readonly #clock: Clock;
  readonly #sent: RateMeter;
  readonly #tokens = new Tokens();
  #rate: number | undefined;
  #cutAtMs = -1;
  #grownAtMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sent = new RateMeter({ clock });
  }

  state(nowMs: number = this.#clock.now()): BusyState {
    this.#grow(nowMs);
    if (this.#rate === undefined) return { limit: undefined, move: "open" };
    return { limit: this.#rate, move: "recover" };
  }

  pauseMs(nowMs: number = this.#clock.now()): number {
    this.#grow(nowMs);
    return this.#rate === undefined ? 0 : this.#tokens.pauseMs(nowMs);
  }

  trySend(nowMs: number = this.#clock.now()): boolean {
    this.#grow(nowMs);
    if (this.#rate !== undefined && !this.#tokens.tryTake(nowMs)) return false;
    this.#sent.record(1, nowMs);
    return true;
  }

  onAnswer(sentAtMs: number, isBusy: boolean, nowMs: number = this.#clock.now()): void {
    this.#grow(nowMs);
    if (!isBusy || sentAtMs <= this.#cutAtMs) return;
    this.#cutAtMs = nowMs;
    this.#set(FACTOR * (this.#rate ?? this.#sent.perSecond(nowMs)), nowMs);
  }

  #grow(nowMs: number): void {
    const elapsedS = (nowMs - this.#grownAtMs) / 1000;
    if (elapsedS < 0.01) return;
    this.#grownAtMs = nowMs;
    if (this.#rate !== undefined)
      this.#set(this.#rate * (1 + GROWTH_PER_SECOND) ** elapsedS, nowMs);
  }

  #set(rate: number, nowMs: number): void {
    this.#rate = Math.min(rate, DOCUMENT_LIMIT_MAX);
    this.#tokens.set(this.#rate, Math.max(1, this.#rate * BURST_S), nowMs);
  }
}
