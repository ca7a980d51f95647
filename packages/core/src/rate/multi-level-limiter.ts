import { ADMITTED, refusal } from "../admission.ts";
import type { Admission } from "../admission.ts";
import { ConfigError } from "../errors.ts";
import type { Reason } from "../reason.ts";
import { systemClock } from "../system.ts";
import type { Clock } from "../time.ts";
import { levelOf } from "./compound-limiter.ts";
import type { CompoundLimiter } from "./compound-limiter.ts";
import { requireCost } from "./level.ts";
import type { Level } from "./level.ts";

/** How long accepted work must pause, and for which limit. */
export interface Throttling {
  readonly durationMs: number;
  readonly reason: Reason;
}

/**
 * Limits that hold at once, such as those of a topic, its group and the broker. Several limiters
 * may share a level: each topic has its own, all have the broker's. The levels must have one clock.
 *
 * Of several levels that refuse, the first in the list gives the reason. `chargeAndCheck` charges
 * every level, so a tight one does not spare the others.
 *
 * @example
 * const broker = new CompoundLimiter({ reason: "broker-rate", messages: { rate: 100 } });
 * const topic = new CompoundLimiter({ reason: "topic-rate", messages: { rate: 80 } });
 * const limiter = new MultiLevelLimiter([topic, broker]);
 * const { ok, reason } = limiter.admit(1, 900);
 */
export class MultiLevelLimiter {
  readonly #clock: Clock;
  readonly #limiters: readonly CompoundLimiter[];
  readonly #levels: readonly Level[];
  /** The instant of the call under way: in a field, because V8 boxes it elsewhere. */
  #nowMs = 0;
  /** The last instant at which every level was touched: at that instant none gains more tokens. */
  #touchedAtMs: number = Number.NaN;

  constructor(levels: readonly CompoundLimiter[]) {
    this.#clock = levels[0]?.clock ?? systemClock;
    if (levels.some(({ clock }) => clock !== this.#clock))
      throw new ConfigError("levels have different clocks; give all of them the same `clock`");
    this.#limiters = [...levels];
    this.#levels = levels.map(levelOf);
  }

  // The hot path is one walk over the levels, by index, with one reading of the clock.

  /** Charges every level if all have what is asked, as `TokenBucket.tryAcquire`, else none. */
  tryAcquire(messages: number, bytes: number, nowMs?: number): boolean {
    requireCost("MultiLevelLimiter.tryAcquire", messages, bytes);
    this.#readClock(nowMs);
    const levels = this.#levels;
    for (let i = 0; i < levels.length; i++) {
      if (!(levels[i] as Level).take(messages, bytes)) {
        return this.#tryAcquireExactly(messages, bytes, i);
      }
    }
    return true;
  }

  /** As `tryAcquire`, and tells the reason of a refusal. */
  admit(messages: number, bytes: number, nowMs?: number): Admission {
    if (this.tryAcquire(messages, bytes, nowMs)) return ADMITTED;
    const refusing = this.#levels.findIndex((level) => !level.holds(messages, bytes, this.#nowMs));
    return refusal((this.#limiters[refusing] as CompoundLimiter).reason);
  }

  /** What `tryAcquire` would answer. */
  canAcquire(messages: number, bytes: number, nowMs: number = this.#clock.now()): boolean {
    requireCost("MultiLevelLimiter.canAcquire", messages, bytes);
    return this.#levels.every((level) => level.holds(messages, bytes, nowMs));
  }

  /**
   * Milliseconds until `tryAcquire(messages, bytes)` is admitted if no tokens are taken meanwhile; 0
   * if it is admitted now.
   */
  pauseMs(messages: number, bytes: number, nowMs: number = this.#clock.now()): number {
    requireCost("MultiLevelLimiter.pauseMs", messages, bytes);
    return Math.max(0, ...this.#levels.map((level) => level.pauseMs(messages, bytes, nowMs)));
  }

  /** Charges every level, into debt if necessary. */
  charge(messages: number, bytes: number, nowMs?: number): void {
    requireCost("MultiLevelLimiter.charge", messages, bytes);
    this.#readClock(nowMs);
    for (const level of this.#levels) level.takeOnCredit(messages, bytes);
  }

  /** Charges every level, into debt if necessary; true while all have at least one token left. */
  chargeAndCheck(messages: number, bytes: number, nowMs?: number): boolean {
    requireCost("MultiLevelLimiter.chargeAndCheck", messages, bytes);
    this.#readClock(nowMs);
    const levels = this.#levels;
    let left = true;
    for (let i = 0; i < levels.length; i++) {
      if (!(levels[i] as Level).takeOnCredit(messages, bytes)) left = false;
    }
    return left;
  }

  /**
   * The pause after `chargeAndCheck` answered false: that of the level which takes longest to reach
   * its target. `undefined` if all have reached theirs.
   */
  throttling(nowMs: number = this.#clock.now()): Throttling | undefined {
    let longest: Throttling | undefined;
    for (const limiter of this.#limiters) {
      const durationMs = limiter.throttlingDurationMs(nowMs);
      if (durationMs > (longest?.durationMs ?? 0)) longest = { durationMs, reason: limiter.reason };
    }
    return longest;
  }

  /** Milliseconds to pause after `chargeAndCheck` answered false. */
  throttlingDurationMs(nowMs?: number): number {
    return this.throttling(nowMs)?.durationMs ?? 0;
  }

  hasTokens(nowMs: number = this.#clock.now()): boolean {
    return this.#levels.every((level) => level.hasTokens(nowMs));
  }

  /**
   * Puts back what the first `taken` levels gave and decides again: where a balance does not cover an
   * ask, tokens may be due, or a full bucket may admit it into debt.
   */
  #tryAcquireExactly(messages: number, bytes: number, taken: number): boolean {
    for (const level of this.#levels.slice(0, taken)) level.putBack(messages, bytes);
    if (!this.canAcquire(messages, bytes, this.#nowMs)) return false;
    for (const level of this.#levels) {
      level.refresh(this.#nowMs);
      level.takeOnCredit(messages, bytes);
    }
    return true;
  }

  #readClock(nowMs: number | undefined): void {
    // Two stores: V8 boxes a number that comes from one of two places.
    if (nowMs === undefined) this.#nowMs = this.#clock.now();
    else this.#nowMs = nowMs;
    if (this.#nowMs !== this.#touchedAtMs) this.#touchAll();
  }

  #touchAll(): void {
    for (const level of this.#levels) level.touch(this.#nowMs);
    this.#touchedAtMs = this.#nowMs;
  }
}
