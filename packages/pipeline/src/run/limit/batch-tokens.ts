import type { Grant, Timer } from "@sluice/core";
import type { BatchTime } from "./batch-time.ts";
import { LastSecond, SECOND_MS } from "./last-second.ts";
import type { ReadLimit } from "./read-limit.ts";
import { SavedTokens } from "./saved-tokens.ts";
import type { SentMessages } from "./sent-messages.ts";
import { ShareSecond } from "./share-second.ts";

/** Tokens of a second that are saved up at most, and the longest time that a batch gathers them, ms. */
const SAVED_MAX_MS = 1_000;
/**
 * Tokens are saved for this many mean batches, and at least for `SAVED_MIN_MS`. Raised, a sink whose batches are short sends the
 * tokens of a stall in one burst. At 1, batches that take longer than the mean would lose tokens.
 */
const SAVED_BATCHES = 2;
/** The tokens of three turns of `SAVE_MS`: with less, a timer that is late loses tokens, ms. */
const SAVED_MIN_MS = 60;
/**
 * Part of a share that a sliding second may see above it. Raised, all replicas catch up at once after a stall that they
 * share. Lower, tokens that were saved up during a stall are used up later: with 0.02 those of 100 ms take 5 s.
 */
const ABOVE = 0.02;
/**
 * Part of the limit that a sink has sent in the last second, from which on a wait is for the limit although messages wait
 * inside the sink. Raised to 1, a sink that sends a batch in parts at its limit would be told as the cause between them.
 * Chosen, not measured.
 */
const SENT_PART_MIN = 0.9;
/** A batch that could start with fewer messages than it wants. */
interface Start {
  readonly allowed: number;
  readonly wanted: number;
  /** Messages that the sliding second may see. */
  readonly most: number;
  readonly workers: number;
}

/** Tolerance in tokens, for sums that end a little above a whole number. */
const TINY = 1e-9;

/**
 * The tokens of batches that take long. A limiter keeps the tokens of 40 ms, so that a vertex that works on one batch for
 * 200 ms would get a fifth of its limit: here tokens are taken while it works, and used by the batches that follow. A
 * sliding second still sees at most 1.02 times what the share has brought in it, rounded up below 50 messages a second.
 */
export class BatchTokens {
  readonly #limit: ReadLimit;
  readonly #timer: Timer;
  readonly #saved = new SavedTokens();
  readonly #used = new LastSecond();
  readonly #sent: SentMessages | undefined;
  readonly #brought = new ShareSecond();
  #limiter: ReadLimit["limiter"];
  #startedAtMs = Number.NEGATIVE_INFINITY;
  readonly #time: BatchTime;

  /** @param sent What a sink has sent; otherwise tokens count as used when they are taken for a batch. */
  constructor(limit: ReadLimit, timer: Timer, time: BatchTime, sent: SentMessages | undefined) {
    this.#limit = limit;
    this.#timer = timer;
    this.#time = time;
    this.#sent = sent;
  }

  /** Takes what is there now towards a batch of `countMax`. Answers whether more is wanted. */
  save(countMax: number): boolean {
    return this.#save(countMax, this.#share);
  }

  #save(countMax: number, share: number = countMax): boolean {
    const { limiter } = this.#limit;
    if (limiter !== this.#limiter) this.giveBack();
    this.#limiter = limiter;
    const savedMs = Math.max(SAVED_MIN_MS, SAVED_BATCHES * this.#time.meanMs);
    const most = Math.ceil((share * Math.min(savedMs, SAVED_MAX_MS)) / 1_000);
    // A share that has shrunk: its limiter must see the demand, so what was saved before must not stand in for it.
    this.#saved.keep(most);
    const wanted = Math.min(countMax, Math.max(1, most));
    if (this.#saved.count >= wanted) return false;
    const grant = this.#limit.tryAcquire(wanted - this.#saved.count);
    if (grant !== undefined) this.#saved.add(grant);
    return this.#saved.count < wanted;
  }

  /** Tokens for all of `countMax` messages, without a promise, if the limiter itself keeps that many and nothing was saved. */
  tryNext(countMax: number): Grant | undefined {
    const { limiter } = this.#limit;
    if (limiter === undefined || this.#saved.count > 0 || limiter.countMax < countMax)
      return undefined;
    const nowMs = this.#timer.now();
    if (this.#most(limiter.share, nowMs) - this.#counted.sum(nowMs) < countMax) return undefined;
    const grant = this.#limit.tryAcquire(countMax);
    if (grant === undefined) return undefined;
    this.#saved.add(grant);
    return grant.count === countMax ? this.#use(countMax, nowMs) : undefined;
  }

  /**
   * Tokens for a batch of 1 to `countMax` messages. One of several workers takes its part of the tokens that come while a batch is
   * worked on. Undefined if the signal ended the wait, or the limit has changed.
   */
  async next(countMax: number, workers: number, signal: AbortSignal): Promise<Grant | undefined> {
    for (;;) {
      const share = this.#share;
      const isShort = this.#save(countMax, share);
      const nowMs = this.#timer.now();
      const wanted = Math.min(countMax, this.#saved.count);
      const most = this.#most(share, nowMs);
      const allowed = Math.min(wanted, most - this.#counted.sum(nowMs));
      const isWorthIt =
        allowed >= wanted || this.#isWorthStarting({ allowed, wanted, most, workers }, nowMs);
      const usable = isWorthIt ? allowed : 0;
      const gatherMs = workers === 1 ? 0 : Math.min(this.#time.meanMs / workers, SAVED_MAX_MS);
      const leftMs = this.#startedAtMs + gatherMs - nowMs;
      if (usable > 0 && (!isShort || leftMs <= 0)) return this.#use(usable, nowMs);
      if (this.#saved.count > 0) {
        const gatheredMs = usable > 0 ? leftMs : Infinity;
        const waited = this.#isHeldInSink(most, nowMs)
          ? this.#limit.hold(gatheredMs, signal)
          : this.#limit.gather(gatheredMs, signal);
        if (!(await waited)) return undefined;
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
    return this.#saved.take(
      count,
      this.#sent === undefined ? this.#used.add(count, nowMs) : () => {},
    );
  }

  /** Tokens a second that may be used now; undefined without a limit. */
  get #share(): number | undefined {
    return this.#limit.limiter?.share;
  }

  /** Messages of the last second. */
  get #counted(): LastSecond | SentMessages {
    return this.#sent ?? this.#used;
  }

  /**
   * Whether batches of `allowed` messages now move as many messages a second as batches of `wanted` would after the wait for them, or as
   * many as this worker's part of the limit.
   */
  #isWorthStarting({ allowed, wanted, most, workers }: Start, nowMs: number): boolean {
    if (allowed <= 0) return false;
    const perMs = allowed / this.#time.ms(allowed);
    if (perMs * SECOND_MS >= most / workers) return true;
    const waitMs = this.#counted.untilMs(most - wanted, nowMs);
    return perMs >= wanted / (waitMs + this.#time.ms(wanted));
  }

  /** Whether messages wait inside the sink, and it sends less than the limit allows: its server is the cause, not the limit. */
  #isHeldInSink(most: number, nowMs: number): boolean {
    const sent = this.#sent;
    if (sent === undefined || sent.pending === 0) return false;
    return sent.sum(nowMs) - sent.pending < most * SENT_PART_MIN;
  }

  /** Tokens that the sliding second which ends now may see. */
  #most(share: number | undefined, nowMs: number): number {
    if (share === undefined) return Infinity;
    const brought = this.#brought.look(share, nowMs);
    return Math.max(1, Math.ceil(brought - TINY), Math.floor(brought * (1 + ABOVE)));
  }
}
