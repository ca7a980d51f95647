import { TokenBucket } from "@sluice/core";
import type { Clock, Random, Timer } from "@sluice/core";
import { SECOND_MS } from "@sluice/core/internal";
import { joinFleet, setPoolLimits } from "@sluice/fleet";
import type { FleetLimiter, FleetState, PoolStore } from "@sluice/fleet";
import { messageOf } from "../../observe/message-of.ts";
import type { LevelTokens } from "../limits/level-tokens.ts";
import type { StoreNotice } from "./store-notice.ts";

/** What all shared limits of a gateway have in common. */
export interface ShareDependencies {
  readonly store: PoolStore;
  /** The most gateways that run: without the store each uses the rate divided by it. */
  readonly maxMembers: number;
  readonly timer: Timer;
  /** Of the same time as the timer; may be behind by one turn of the event loop. */
  readonly clock: Clock;
  readonly random: Random;
}

/** What waits for the tokens. */
export interface ShareUser {
  wake(): void;
  isWaiting(): boolean;
}

/**
 * This gateway's share of a rate that several gateways have together. Each charge is checked against the
 * lease by time: without one, only the safe share is used, rate ÷ `maxMembers`. The same holds until the
 * store has answered for the first time.
 */
export class SharedTokens implements LevelTokens {
  readonly #pool: string;
  readonly #dependencies: ShareDependencies;
  readonly #notice: StoreNotice;
  readonly #safe: TokenBucket;
  readonly #leaving = new AbortController();
  #rate: number;
  #latestMs: number;
  #limiter: FleetLimiter | undefined;
  #joining: Promise<void> = Promise.resolve();
  #setting: Promise<void> = Promise.resolve();

  constructor(
    pool: string,
    rate: number,
    dependencies: ShareDependencies,
    { user, notice }: { readonly user: ShareUser; readonly notice: StoreNotice },
  ) {
    const { maxMembers, clock } = dependencies;
    this.#pool = pool;
    this.#notice = notice;
    this.#rate = rate;
    this.#latestMs = clock.now();
    this.#dependencies = dependencies;
    // `rate` tokens in `maxMembers` seconds, exact also for less than one a second.
    this.#safe = new TokenBucket({
      rate,
      periodMs: maxMembers * SECOND_MS,
      capacity: Math.max(1, Math.floor(rate / maxMembers)),
      initialTokens: 0,
      resolutionMs: 0,
      clock,
    });
    this.#joining = this.#join(user);
  }

  get capacity(): number {
    return this.#limiter?.countMax ?? this.#safe.capacity;
  }

  get leftAtLeast(): number {
    return this.tokens(this.#latestMs);
  }

  /** Undefined until the store has answered. */
  state(): FleetState | undefined {
    return this.#limiter?.state();
  }

  tokens(nowMs: number): number {
    const atMs = this.#at(nowMs);
    return this.#limiter?.tokens(atMs) ?? this.#safe.tokens(atMs);
  }

  hasMoreThan(count: number, nowMs: number): boolean {
    return this.tokens(nowMs) > count;
  }

  charge(count: number): void {
    if (this.#limiter === undefined) this.#safe.charge(count, this.#latestMs);
    else this.#limiter.charge(count, this.#latestMs);
  }

  pauseMs(reserved: number, nowMs: number): number {
    const target = reserved + Math.max(1, Math.floor(this.capacity * TARGET_PART));
    // More than the capacity is never there: reservations must end first.
    if (target > this.capacity && reserved > 0) return Infinity;
    const atMs = this.#at(nowMs);
    return this.#limiter?.pauseMs(target, atMs) ?? this.#safe.pauseMs(target, atMs);
  }

  msUntilLeft(part: number, held: number, nowMs: number): number {
    const missing = Math.max(1, this.capacity * part) + held - this.tokens(nowMs);
    const share = this.#limiter?.state().share ?? this.#rate / this.#dependencies.maxMembers;
    return Math.max(0, (missing * SECOND_MS) / Math.max(share, LEAST_PER_SECOND));
  }

  /** For all gateways: each follows at its next sync with the store. */
  setRate(rate: number, nowMs: number): void {
    if (rate === this.#rate) return;
    this.#rate = rate;
    this.#safe.setRate(rate, nowMs);
    this.#setting = this.#set(rate, this.#setting);
  }

  /** Gives the share back to the other gateways. */
  async leave(): Promise<void> {
    this.#leaving.abort();
    await this.#joining;
    await this.#setting;
    await this.#limiter?.leave();
  }

  /** Callers have different clocks: a step back would let the same time bring its tokens twice. */
  #at(nowMs: number): number {
    this.#latestMs = Math.max(this.#latestMs, nowMs);
    return this.#latestMs;
  }

  /** One after the other, so that the last rate holds. A store that cannot be reached is asked again. */
  async #set(rate: number, before: Promise<void>): Promise<void> {
    await before;
    let isTold = false;
    await this.#untilDone(
      () =>
        rate !== this.#rate ||
        setPoolLimits(this.#dependencies.store, this.#pool, { max: rate, min: rate }),
      (error) => {
        if (!isTold) this.#notice.onNotStored(error);
        isTold = true;
      },
    );
  }

  async #join(user: ShareUser): Promise<void> {
    const { store, maxMembers, timer, clock, random } = this.#dependencies;
    const safeShare = (): number => this.#rate / maxMembers;
    await this.#untilDone(
      async () => {
        const limiter = await joinFleet({
          pool: this.#pool,
          store,
          maxMembers,
          rateLimit: { max: this.#rate, min: this.#rate },
          joinOn: "safe-share",
          signal: this.#leaving.signal,
          runtime: { timer, clock, random },
          onEvent: (event) => this.#notice.onEvent(event, safeShare()),
          onWarning: (warning) => this.#notice.onWarning(warning),
        });
        limiter.subscribe(user);
        this.#limiter = limiter;
        user.wake();
      },
      // What joinFleet gives up on, such as a wrong password: the safe share stays until it is right.
      (error) => this.#notice.onLost(messageOf(error), safeShare(), timer.now()),
    );
  }

  /** Tries again after a failure, until this gateway leaves. */
  async #untilDone(act: () => unknown, onFailure: (error: unknown) => void): Promise<void> {
    const { signal } = this.#leaving;
    try {
      for (;;) {
        try {
          await act();
          return;
        } catch (error) {
          signal.throwIfAborted();
          onFailure(error);
        }
        await this.#dependencies.timer.sleep(RETRY_MS, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** Between two attempts at what the store has refused, ms. Raised, a store that was mended is used later. */
const RETRY_MS = 5_000;

/** The part of the capacity at which waiting frames go on, as in Pulsar. */
const TARGET_PART = 1 / 100;

/** A share of nothing would make pauses endless. */
const LEAST_PER_SECOND = 0.001;
