import type { Reason } from "../reason.ts";
import type { Clock } from "../time.ts";
import type { CompoundLimiter } from "./compound-limiter.ts";

export interface Pause {
  readonly pauseMs: number;
  readonly reason: Reason;
}

/**
 * Limits that hold at once, such as those of a topic, its group and the broker. Several limiters
 * may share a level: each topic has its own, all have the broker's.
 *
 * The order of the levels is the order in which reasons are told; every level is always charged,
 * so a tight one does not spare the others.
 */
export class MultiLevelLimiter {
  readonly #clock: Clock;
  readonly #levels: readonly CompoundLimiter[];

  constructor(clock: Clock, levels: readonly CompoundLimiter[]) {
    this.#clock = clock;
    this.#levels = levels;
  }

  /** For work already accepted: charges every level; the first reason to pause, if there is one. */
  chargeAndCheck(
    messages: number,
    bytes: number,
    nowMs: number = this.#clock.now(),
  ): Reason | undefined {
    let reason: Reason | undefined;
    const levels = this.#levels;
    for (let i = 0; i < levels.length; i++) {
      const level = levels[i] as CompoundLimiter;
      const levelReason = level.chargeAndCheck(messages, bytes, nowMs);
      reason ??= levelReason;
    }
    return reason;
  }

  /** For work that can still be refused: charges every level, or none and gives the reason. */
  tryAcquire(
    messages: number,
    bytes: number,
    nowMs: number = this.#clock.now(),
  ): Reason | undefined {
    const levels = this.#levels;
    for (let i = 0; i < levels.length; i++) {
      const level = levels[i] as CompoundLimiter;
      if (!level.canTake(messages, bytes, nowMs)) return level.reason;
    }
    this.charge(messages, bytes);
    return undefined;
  }

  /** Charges every level, into debt if it must. Reads no clock. */
  charge(messages: number, bytes: number): void {
    const levels = this.#levels;
    for (let i = 0; i < levels.length; i++) (levels[i] as CompoundLimiter).charge(messages, bytes);
  }

  hasTokens(nowMs: number = this.#clock.now()): boolean {
    return this.#levels.every((level) => level.hasTokens(nowMs));
  }

  /** The longest pause of any level and whose it is; `undefined` if none asks for one. */
  pause(nowMs: number = this.#clock.now()): Pause | undefined {
    let longest: Pause | undefined;
    for (const level of this.#levels) {
      const pauseMs = level.pauseMs(nowMs);
      if (pauseMs > (longest?.pauseMs ?? 0)) longest = { pauseMs, reason: level.reason };
    }
    return longest;
  }
}
