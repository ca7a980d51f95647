import type { BusyState, BusyThrottle, Clock } from "@sluice/core";
import { Tokens } from "./tokens.ts";

const BETA = 0.7;
const SCALE = 0.4;
const FILL_MIN = 0.5;
const BUCKET_MS = 500;
const SMOOTH = 0.8;

/**
 * The send-rate limiter of the AWS SDKs' adaptive mode, from its formulas: a cubic curve around
 * the rate at which it was last throttled, never beyond twice the measured rate of answers.
 */
export class CubicThrottle implements BusyThrottle {
  readonly #clock: Clock;
  readonly #isOnePerGeneration: boolean;
  readonly #tokens = new Tokens();
  #isEnabled = false;
  #rate = 0;
  #lastMax = 0;
  #cutAtMs = 0;
  #measured = 0;
  #bucket = 0;
  #count = 0;

  /** `isOnePerGeneration`: answers to requests sent before the last cut do not cut. */
  constructor(clock: Clock, isOnePerGeneration: boolean) {
    this.#clock = clock;
    this.#isOnePerGeneration = isOnePerGeneration;
  }

  state(): BusyState {
    if (!this.#isEnabled) return { limit: undefined, move: "open" };
    return { limit: Math.max(FILL_MIN, this.#rate), move: "recover" };
  }

  pauseMs(nowMs: number = this.#clock.now()): number {
    return this.#isEnabled ? this.#tokens.pauseMs(nowMs) : 0;
  }

  trySend(nowMs: number = this.#clock.now()): boolean {
    return !this.#isEnabled || this.#tokens.tryTake(nowMs);
  }

  onAnswer(sentAtMs: number, isBusy: boolean, nowMs: number = this.#clock.now()): void {
    this.#measure(nowMs);
    if (isBusy && this.#isOnePerGeneration && this.#isEnabled && sentAtMs <= this.#cutAtMs) return;
    const rate = isBusy ? this.#cut(nowMs) : this.#grow(nowMs);
    if (!this.#isEnabled) return;
    this.#rate = Math.min(rate, 2 * this.#measured);
    this.#tokens.set(Math.max(FILL_MIN, this.#rate), Math.max(1, this.#rate), nowMs);
  }

  #measure(nowMs: number): void {
    this.#count++;
    const bucket = Math.floor(nowMs / BUCKET_MS);
    if (bucket === this.#bucket) return;
    const perSecond = (this.#count * 1000) / ((bucket - this.#bucket) * BUCKET_MS);
    this.#measured = SMOOTH * perSecond + (1 - SMOOTH) * this.#measured;
    this.#bucket = bucket;
    this.#count = 0;
  }

  #cut(nowMs: number): number {
    this.#lastMax = this.#isEnabled ? Math.min(this.#measured, this.#rate) : this.#measured;
    this.#isEnabled = true;
    this.#cutAtMs = nowMs;
    return BETA * this.#lastMax;
  }

  #grow(nowMs: number): number {
    const flatAfterS = Math.cbrt((this.#lastMax * (1 - BETA)) / SCALE);
    return SCALE * ((nowMs - this.#cutAtMs) / 1000 - flatAfterS) ** 3 + this.#lastMax;
  }
}
