import type { Grant, Timer } from "@sluice/core";
import { LastSecond } from "./last-second.ts";
import type { ReadLimit } from "./read-limit.ts";
import { SavedTokens } from "./saved-tokens.ts";

/** Tokens of a second that are saved up at most, and the longest time that a batch gathers them, ms. */
const SAVED_MAX_MS = 1_000;
/** Part of a share that a sliding second may see above it, as of a limiter. */
const ABOVE = 0.04;

/**
 * The tokens of batches that take long. A limiter keeps the tokens of 40 ms, so that a vertex that works on one batch for
 * 200 ms would get a fifth of its limit: here tokens are taken while it works, and used by the batches that follow. A
 * sliding second still sees at most 1.05 times the share.
 */
export class BatchTokens {
  readonly #limit: ReadLimit;
  readonly #timer: Timer;
  readonly #saved = new SavedTokens();
  readonly #used = new LastSecond();
  #limiter: ReadLimit["limiter"];
  #startedAtMs = Number.NEGATIVE_INFINITY;

  constructor(limit: ReadLimit, timer: Timer) {
    this.#limit = limit;
    this.#timer = timer;
  }

  /** Takes what is there now towards a batch of `countMax`. Answers whether more is wanted. */
  save(countMax: number): boolean {
    const limiter = this.#limit.limiter;
    if (limiter !== this.#limiter) this.giveBack();
    this.#limiter = limiter;
    const share = limiter?.state().share ?? countMax;
    const most = Math.ceil((share * SAVED_MAX_MS) / 1_000);
    // A share that has shrunk: its limiter must see the demand, so what was saved before must not stand in for it.
    this.#saved.keep(most);
    const wanted = Math.min(countMax, Math.max(1, most));
    if (this.#saved.count >= wanted) return false;
    const grant = this.#limit.tryAcquire(wanted - this.#saved.count);
    if (grant !== undefined) this.#saved.add(grant);
    return this.#saved.count < wanted;
  }

  /**
   * Tokens for a batch of 1 to `countMax` messages: as many as came within `gatherMs` since the last batch. Undefined if
   * the signal ended the wait, or the limit has changed.
   */
  async next(countMax: number, gatherMs: number, signal: AbortSignal): Promise<Grant | undefined> {
    for (;;) {
      const isShort = this.save(countMax);
      const nowMs = this.#timer.now();
      const wanted = Math.min(countMax, this.#saved.count);
      const usable = this.#usable(wanted, nowMs);
      const leftMs = this.#startedAtMs + Math.min(gatherMs, SAVED_MAX_MS) - nowMs;
      if (usable > 0 && (!isShort || leftMs <= 0)) return this.#use(usable, nowMs);
      if (this.#saved.count > 0) {
        if (!(await this.#limit.gather(usable > 0 ? leftMs : Infinity, signal))) return undefined;
        continue;
      }
      const grant = await this.#limit.acquire(countMax, signal);
      if (grant === undefined) return undefined;
      this.#saved.add(grant);
    }
  }

  /** Gives back what is not used: there is nothing to use it for. */
  giveBack(): void {
    this.#saved.keep(0);
  }

  #use(count: number, nowMs: number): Grant {
    this.#startedAtMs = nowMs;
    return this.#saved.take(count, this.#used.add(count, nowMs));
  }

  /** A batch of a few messages would keep its worker as long as a full one: the second that has seen too much must end first. */
  #usable(wanted: number, nowMs: number): number {
    const usable = Math.min(wanted, this.#allowed(nowMs));
    return usable * 2 >= wanted ? usable : 0;
  }

  /** Tokens that may be used now without a second that sees more than its part: one more than the share, or 4 %. */
  #allowed(nowMs: number): number {
    const share = this.#limit.limiter?.state().share;
    if (share === undefined) return Infinity;
    return Math.floor(share + Math.max(1, share * ABOVE) - this.#used.sum(nowMs));
  }
}
