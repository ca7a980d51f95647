import type { Entitlement } from "../member/membership.ts";
import type { Ceiling } from "../limiter/ceiling.ts";
import { EPOCH_MS, exactShare } from "./pacing.ts";
import type { Glance, Pacing, TakeTokensBack } from "./pacing.ts";
import { EpochClock } from "./epoch-clock.ts";
import { RecentUse, SLOT_MS } from "./recent-use.ts";

/** Sums of fractions end a little beside whole numbers. */
const TINY = 1e-9;

/** So much of a share can be saved up: callers are not always there the moment a token comes. */
const BURST_MS = 40;
/** Where that is less than a token: so late may a caller be for one, and lose nothing of the next. */
const LATE_MS = 10;
/** All that is known as recent lies within. */
const RECENT_MS = EPOCH_MS + SLOT_MS;

/**
 * The share spread over the second. No sliding second sees more than the share and what can be saved
 * up: a twenty-fifth of it, or where that is less, a token and a hundredth of it. From a share of 25
 * tokens on that is at most a twentieth.
 *
 * What comes back within a second can be taken again, though not so that a second sees more than a
 * hundredth over that.
 */
export class SmoothPacing implements Pacing {
  readonly #ceiling: Ceiling;
  readonly #time: EpochClock;
  readonly #recent = new RecentUse();
  #entitlement: Entitlement | undefined;
  #divided = 0;
  #share = 0;
  #perMs = 0;
  /** Negative after a call that was larger than what can be saved up. */
  #tokens = 0;
  /** When it was last looked at, by the member's own clock: where epochs begin brings no tokens. */
  #lookedAtMs = 0;
  /** Net, in the epoch that was entered last. */
  #used = 0;
  /** What came in that epoch and nobody took in time. */
  #lost = 0;
  /** Until when tokens that came back, and went out again, may be in the same second as all others. */
  #strictUntilMs: number = Number.NEGATIVE_INFINITY;
  #hasReturned = false;
  #takeBack: TakeTokensBack = () => {};
  #takeBackSlot: number | undefined;

  constructor(ceiling: Ceiling, time: EpochClock = new EpochClock()) {
    this.#ceiling = ceiling;
    this.#time = time;
  }

  get countMax(): number {
    return Math.max(1, Math.floor(this.#capacity + TINY));
  }

  /** The same for all that was taken in one slot. */
  get takeBack(): TakeTokensBack {
    const { slot } = this.#recent;
    if (slot === this.#takeBackSlot) return this.#takeBack;
    const { epoch } = this.#ceiling;
    this.#takeBackSlot = slot;
    this.#takeBack = (count) => {
      if (this.#ceiling.epoch === epoch) this.#used -= count;
      if (!this.#recent.remove(slot, count)) return;
      this.#tokens = Math.min(this.#capacity, this.#tokens + count);
      this.#hasReturned = true;
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
    // When it changed is not known: the smaller of both is sure.
    const perMs = Math.min(before, this.#perMs);
    if (isNew) {
      this.#accrue(this.#epochEndMs - EPOCH_MS, perMs);
      this.#lost = 0;
    }
    this.#accrue(nowMs, perMs);
    // A first call that nobody came before finds what everybody may have saved up: a token.
    if (isFirst && this.#perMs > 0) this.#tokens = Math.max(1, this.#tokens);
    // A time that steps back brings nothing, and goes on from there.
    this.#lookedAtMs = nowMs;
    this.#recent.moveTo(nowMs);
    if (this.#hasReturned) {
      this.#hasReturned = false;
      this.#strictUntilMs = nowMs + RECENT_MS;
    }
    if (isNew) this.#ceiling.tell();
    return this.#left(nowMs, this.#tokens);
  }

  readyAtMs(count: number, atMs: number, entitlement: Entitlement | undefined): number | undefined {
    if (this.leftAt(atMs, entitlement) >= count) return atMs;
    if (this.#perMs === 0) return undefined;
    const readyAtMs = atMs + Math.max(0, count - this.#tokens) / this.#perMs;
    // As soon as what was used before the second is out of it.
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

  /** By the member's own clock. */
  get #epochEndMs(): number {
    return this.#time.from(this.#ceiling.endMs);
  }

  /** The epoch is over: what nobody took counts only if it could not be saved up. */
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
