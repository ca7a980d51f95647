import type { Entitlement } from "../member/membership.ts";
import type { Ceiling } from "../limiter/ceiling.ts";
import { EPOCH_MS, exactShare } from "./pacing.ts";
import type { Glance, Pacing, TakeTokensBack } from "./pacing.ts";
import { EpochClock } from "./epoch-clock.ts";
import { RecentUse, SLOT_MS } from "./recent-use.ts";

/**
 * Tolerance in tokens: sums of fractions end a little beside whole numbers. Far above the rounding error of
 * a second's sums, far below a token.
 */
const TINY = 1e-9;

/**
 * The longest time whose tokens can be saved up, ms, so that a caller may come a little late without loss.
 * Raised, a sliding second can see more than its share: 1 + BURST_MS ÷ 1000 times it. The promise is
 * 1.05 times.
 */
const BURST_MS = 40;
/**
 * The same for shares below 25 tokens a second, whose BURST_MS bring less than a token: how late a caller
 * may take a token without losing part of the next one, ms. Raised, a sliding second can see
 * `LATE_MS ÷ 1000` of the share more; 10 keeps that to a hundredth.
 */
const LATE_MS = 10;
/** The span of `RecentUse`, ms: any sliding second lies within it. */
const RECENT_MS = EPOCH_MS + SLOT_MS;

/**
 * Spreads the share over the second. A sliding second sees at most `share + saved`, where
 * `saved = max(share × BURST_MS ÷ 1000, 1 + share × LATE_MS ÷ 1000)`: from 25 tokens a second on, at
 * most 1.05 times the share.
 *
 * Tokens deposited within a second can be taken again, as long as no sliding second sees more than a
 * hundredth of the share above that bound.
 */
export class SmoothPacing implements Pacing {
  readonly #ceiling: Ceiling;
  readonly #time: EpochClock;
  readonly #recent = new RecentUse();
  #entitlement: Entitlement | undefined;
  #divided = 0;
  #share = 0;
  #perMs = 0;
  /** Negative after a call for more than can be saved up. */
  #tokens = 0;
  /** When tokens were last added, by the member's own clock: moving the epochs adds none. */
  #lookedAtMs = 0;
  /** Tokens taken less those deposited, in the epoch that was entered last. */
  #used = 0;
  /** Tokens of that epoch that exceeded what can be saved up. */
  #lost = 0;
  /** Until when a deposit may lead to a second with more than its share: uses are summed until then. */
  #strictUntilMs: number = Number.NEGATIVE_INFINITY;
  #hasDeposit = false;
  #takeBack: TakeTokensBack = () => {};
  #takeBackSlot: number | undefined;

  constructor(ceiling: Ceiling, time: EpochClock = new EpochClock()) {
    this.#ceiling = ceiling;
    this.#time = time;
  }

  get countMax(): number {
    return Math.max(1, Math.floor(this.#capacity + TINY));
  }

  /** The same function for all tokens that were taken in one slot of `RecentUse`. */
  get takeBack(): TakeTokensBack {
    const { slot } = this.#recent;
    if (slot === this.#takeBackSlot) return this.#takeBack;
    const { epoch } = this.#ceiling;
    this.#takeBackSlot = slot;
    this.#takeBack = (count) => {
      // A gate may give back tokens that were taken in an earlier epoch.
      if (this.#ceiling.epoch === epoch) this.#used = Math.max(0, this.#used - count);
      if (!this.#recent.remove(slot, count)) return;
      this.#tokens = Math.min(this.#capacity, this.#tokens + count);
      this.#hasDeposit = true;
    };
    return this.#takeBack;
  }

  take(ask: number, atMs: number, entitlement: Entitlement | undefined): number {
    const count = Math.min(ask, this.leftAt(atMs, entitlement));
    this.spend(count);
    return count;
  }

  spend(count: number): void {
    this.#tokens -= count;
    this.#used += count;
    this.#recent.add(count);
  }

  leftAt(atMs: number, entitlement: Entitlement | undefined): number {
    const nowMs = this.#time.from(atMs);
    const before = this.#perMs;
    const isNew = this.#ceiling.isDue(atMs);
    const isFirst = this.#ceiling.epoch === undefined;
    if (isNew) this.#judge(atMs);
    if (entitlement !== this.#entitlement || this.#ceiling.now !== this.#divided)
      this.#divide(entitlement);
    // When the rate changed is not known; the smaller one never adds too much.
    const perMs = Math.min(before, this.#perMs);
    if (isNew) {
      this.#accrue(this.#epochEndMs - EPOCH_MS, perMs);
      this.#lost = 0;
    }
    this.#accrue(nowMs, perMs);
    // The first call of a process finds one token: every share may save up one.
    if (isFirst && this.#perMs > 0) this.#tokens = Math.max(1, this.#tokens);
    // A clock that steps back adds nothing; tokens come from the new time on.
    this.#lookedAtMs = nowMs;
    this.#recent.moveTo(nowMs);
    if (this.#hasDeposit) {
      this.#hasDeposit = false;
      this.#strictUntilMs = nowMs + RECENT_MS;
    }
    if (isNew) this.#ceiling.tell();
    return this.#left(nowMs, this.#tokens);
  }

  readyAtMs(count: number, atMs: number, entitlement: Entitlement | undefined): number | undefined {
    if (this.leftAt(atMs, entitlement) >= count) return atMs;
    if (this.#perMs === 0) return undefined;
    const readyAtMs = atMs + Math.max(0, count - this.#tokens) / this.#perMs;
    // The oldest slot of the last second must end first.
    const isHeldBack = this.#left(this.#time.from(atMs), count) < count;
    return isHeldBack ? Math.max(readyAtMs, atMs + SLOT_MS) : readyAtMs;
  }

  glance(atMs: number, entitlement: Entitlement | undefined): Glance {
    const nowMs = this.#time.from(atMs);
    const share = exactShare(this.#ceiling.shown, entitlement);
    const perMs = Math.min(this.#perMs, share / EPOCH_MS);
    const came = Math.max(0, nowMs - this.#lookedAtMs) * perMs;
    const tokens = perMs === 0 ? 0 : Math.min(this.#capacity, this.#tokens + came);
    return { share, left: this.#left(nowMs, tokens) };
  }

  #left(nowMs: number, tokens: number): number {
    let most = tokens;
    if (nowMs < this.#strictUntilMs)
      most = Math.min(most, this.#perMs * RECENT_MS + this.#capacity - this.#recent.sum);
    return Math.max(0, Math.floor(most + TINY));
  }

  /** When the epoch that was entered last ends, by the member's own clock. */
  get #epochEndMs(): number {
    return this.#time.from(this.#ceiling.endMs);
  }

  /** Judges the epoch that is over: unused tokens count only if they could not be saved up. */
  #judge(atMs: number): void {
    const hasEpoch = this.#ceiling.epoch !== undefined;
    const restMs = hasEpoch ? Math.max(0, this.#epochEndMs - this.#lookedAtMs) : 0;
    const saved = this.#tokens + restMs * this.#perMs;
    const lost = this.#lost + Math.max(0, saved - this.#capacity);
    const unused = lost < 1 ? 0 : Math.max(0, Math.floor(this.#share) - this.#used);
    this.#ceiling.enter(atMs, { used: this.#used, unused });
    this.#used = 0;
  }

  #divide(entitlement: Entitlement | undefined): void {
    this.#entitlement = entitlement;
    this.#divided = this.#ceiling.now;
    this.#share = exactShare(this.#divided, entitlement);
    this.#perMs = this.#share / EPOCH_MS;
    this.#tokens = Math.min(this.#tokens, this.#perMs === 0 ? 0 : this.#capacity);
  }

  #accrue(nowMs: number, perMs: number): void {
    const elapsedMs = nowMs - this.#lookedAtMs;
    if (elapsedMs <= 0) return;
    this.#lookedAtMs = nowMs;
    const tokens = this.#tokens + elapsedMs * perMs;
    const capacity = this.#capacity;
    this.#lost += Math.max(0, tokens - capacity);
    this.#tokens = Math.min(capacity, tokens);
  }

  get #capacity(): number {
    return Math.max(1 + this.#perMs * LATE_MS, this.#perMs * BURST_MS);
  }
}
