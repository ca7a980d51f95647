import type { LimitAlgorithm, LimitDecision, Random, EndedAttempt } from "@sluice/core";
import { clampLimit } from "./bounds.ts";
import type { PeerBounds } from "./bounds.ts";
import { decided, rttMsOf } from "./decision.ts";
import { QuantileWindow } from "./quantile-window.ts";

/**
 * Envoy's gradient controller. It pins the limit to 3 until 50 attempts begun since have ended, and
 * takes their median as the least round trip; again every 60 s and up to 15 %, and after 5 updates
 * in a row at the least limit. Else, every 0.1 s: limit times 1.25 least round trips over the median
 * of the interval, from a half to double, plus the root of that. A refusal is an answer like any
 * other; an attempt that timed out or broke is none.
 *
 * Defaults: starts at 3, which is also what it pins to, from 3 to 1000. Envoy has timers; here what
 * is due happens when the next answer comes.
 */
export class EnvoyGradientLimit implements LimitAlgorithm {
  readonly #bounds: PeerBounds;
  readonly #random: Random;
  readonly #window = new QuantileWindow();
  #limit: number;
  #minRttMs = 0;
  /** The limit to go back to; undefined unless it measures. */
  #limitAfterPin: number | undefined;
  #pinnedAtMs = 0;
  #nextPinAtMs = 0;
  #nextUpdateAtMs = 0;
  #updatesAtMin = 0;

  constructor(random: Random, bounds: Partial<PeerBounds> = {}) {
    this.#random = random;
    this.#bounds = { initialLimit: 3, minLimit: 3, maxLimit: 1000, ...bounds };
    this.#limit = clampLimit(this.#bounds.initialLimit, this.#bounds);
    this.#limitAfterPin = this.#limit;
  }

  get limit(): number {
    return this.#limit;
  }

  pauseMs(): number {
    return 0;
  }

  onStart(): void {
    // It looks at answers only.
  }

  onEnd(sample: EndedAttempt): LimitDecision | undefined {
    const { startedAtMs, endedAtMs, outcome } = sample;
    // Without an answer there is no sample; and what began before the pin met a higher limit.
    if (outcome === "ignored" || outcome === "failed" || startedAtMs < this.#pinnedAtMs)
      return undefined;
    this.#window.add(rttMsOf(sample));
    if (this.#limitAfterPin !== undefined)
      return this.#window.count < PIN_COUNT
        ? undefined
        : this.#unpin(endedAtMs, this.#limitAfterPin);
    if (endedAtMs >= this.#nextPinAtMs) return this.#pin(endedAtMs);
    return endedAtMs < this.#nextUpdateAtMs ? undefined : this.#update(endedAtMs);
  }

  #update(nowMs: number): LimitDecision {
    this.#nextUpdateAtMs = nowMs + UPDATE_INTERVAL_MS;
    const limitBefore = this.#limit;
    const rttMs = this.#window.take(QUANTILE);
    const gradient = Math.max(0.5, Math.min(2, (TOLERANCE * this.#minRttMs) / rttMs));
    const scaled = limitBefore * gradient;
    this.#limit = clampLimit(Math.floor(scaled + Math.sqrt(scaled)), this.#bounds);
    const { minLimit } = this.#bounds;
    const isAtMin = limitBefore === minLimit && this.#limit === minLimit;
    this.#updatesAtMin = isAtMin ? this.#updatesAtMin + 1 : 0;
    if (this.#updatesAtMin >= UPDATES_AT_MIN_MAX) return this.#pin(nowMs);
    return decided({ limitBefore, limit: this.#limit, rttMs });
  }

  #pin(nowMs: number): LimitDecision {
    const limitBefore = this.#limit;
    this.#limitAfterPin = limitBefore;
    this.#limit = clampLimit(this.#bounds.initialLimit, this.#bounds);
    this.#pinnedAtMs = nowMs;
    this.#updatesAtMin = 0;
    this.#window.clear();
    return {
      ...decided({ limitBefore, limit: this.#limit, rttMs: this.#minRttMs }),
      cause: "drain",
    };
  }

  #unpin(nowMs: number, limit: number): LimitDecision {
    const limitBefore = this.#limit;
    this.#minRttMs = this.#window.take(QUANTILE);
    this.#limit = limit;
    this.#limitAfterPin = undefined;
    this.#nextPinAtMs = nowMs + PIN_INTERVAL_MS * (1 + PIN_JITTER * this.#random.next());
    this.#nextUpdateAtMs = nowMs + UPDATE_INTERVAL_MS;
    return decided({ limitBefore, limit, rttMs: this.#minRttMs });
  }
}

const QUANTILE = 0.5;
const TOLERANCE = 1.25;
const PIN_COUNT = 50;
const PIN_INTERVAL_MS = 60_000;
const PIN_JITTER = 0.15;
const UPDATE_INTERVAL_MS = 100;
const UPDATES_AT_MIN_MAX = 5;
