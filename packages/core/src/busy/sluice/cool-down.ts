import {
  AFTERMATH_MS,
  COOL_DOWN_HALF_MS,
  COOL_DOWN_MIN_MS,
  COOL_DOWN_MORE_MS,
  COST_COOL_DOWN_MAX_MS,
  COST_COOL_DOWN_MS,
  COST_PER_SECOND,
  COST_RATIO,
} from "./constants.ts";
import type { Limit } from "./state.ts";

/**
 * How long a peer that was busy for `busyForMs` is left at a rate, in ms:
 *
 *     250 + 2500 × busyForMs ÷ (busyForMs + 200,000)
 *
 * It always grows with `busyForMs`, and never reaches 2750.
 */
export function coolDownMs(busyForMs: number): number {
  return COOL_DOWN_MIN_MS + (COOL_DOWN_MORE_MS * busyForMs) / (busyForMs + COOL_DOWN_HALF_MS);
}

/**
 * How much longer before a climb, in ms: until the busy answers of the last one are 0.5 % of what was
 * sent since, or one in five seconds. At most 4 s; twice as long after each costly climb, up to 30 s.
 */
export function climbCoolDownMs({ rate, costlyClimbs }: Limit, climbCost: number): number {
  const maxMs = Math.min(COST_COOL_DOWN_MAX_MS, COST_COOL_DOWN_MS * 2 ** costlyClimbs);
  return Math.min(maxMs, costMs(climbCost, rate));
}

/** Costly climbs in a row, counted when the next climb begins. */
export function costlyClimbsAfter({ rate, costlyClimbs }: Limit, climbCost: number): number {
  return costMs(climbCost, rate) > COST_COOL_DOWN_MS ? costlyClimbs + 1 : 0;
}

function costMs(climbCost: number, rate: number): number {
  return (climbCost * 1000) / Math.max(COST_RATIO * rate, COST_PER_SECOND);
}

/** Counts the busy answers that the last climb cost, those to requests sent shortly after it as well. */
export class ClimbCost {
  #fromMs = 0;
  #untilMs = 0;
  #busy = 0;

  get busy(): number {
    return this.#busy;
  }

  /** A new overload: no climb has cost anything yet. */
  clear(): void {
    this.#fromMs = 0;
    this.#untilMs = 0;
    this.#busy = 0;
  }

  begin(nowMs: number): void {
    this.#fromMs = nowMs;
    this.#untilMs = Infinity;
    this.#busy = 0;
  }

  /** Ends the climb, if there is one. */
  end(nowMs: number): void {
    if (this.#untilMs === Infinity) this.#untilMs = nowMs + AFTERMATH_MS;
  }

  /** `randomRatio`: the part of answers that is busy at any rate; it costs nothing. */
  onAnswer(sentAtMs: number, isBusy: boolean, randomRatio: number): void {
    if (sentAtMs < this.#fromMs || sentAtMs >= this.#untilMs) return;
    this.#busy = Math.max(0, this.#busy + (isBusy ? 1 : 0) - randomRatio);
  }
}
