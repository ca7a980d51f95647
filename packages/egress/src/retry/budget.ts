import type { Clock } from "@sluice/core";
import { requireKnownKeys, requireNumber } from "@sluice/core/internal";

export interface RetryBudgetOptions {
  /** Retries per first attempt; 0.2 unless given. */
  readonly ratio?: number;
  /** Retries per second that need no traffic; 10 unless given. */
  readonly minPerSecond?: number;
  /** How long a first attempt stands for retries; 10 000 unless given. */
  readonly ttlMs?: number;
}

const KEYS: ReadonlySet<string> = new Set([
  "ratio",
  "minPerSecond",
  "ttlMs",
] satisfies (keyof RetryBudgetOptions)[]);

/** What is forgotten, is forgotten a tenth of the ttl at a time. */
const SLICES = 10;

/**
 * Bounds what retries add to the load, of all kinds together.
 *
 * Over any stretch of `ttlMs` that ends with a retry: retries <= ratio x first attempts +
 * minPerSecond x ttl. The second part is there from the start and may be spent at once; without it
 * a client with little traffic could never retry. First attempts are forgotten up to a tenth of the
 * ttl early and retries as much late, so that the bound has no exception.
 *
 * One budget serves one key, and one layer: two layers that share it would deposit twice.
 */
export class RetryBudget {
  readonly #clock: Clock;
  readonly #ratio: number;
  readonly #reserve: number;
  readonly #sliceMs: number;
  // One more than the ttl has: with the one now filling, the rest make up all of it.
  readonly #attempts: Float64Array = new Float64Array(SLICES + 1);
  readonly #retries: Float64Array = new Float64Array(SLICES + 1);
  /** Number of the newest slice, counted from the start of the clock. */
  #slice: number;

  constructor(clock: Clock, options: RetryBudgetOptions = {}) {
    requireKnownKeys("budget", options, KEYS);
    const { ratio = 0.2, minPerSecond = 10, ttlMs = 10_000 } = options;
    requireNumber("ratio", ratio, 0, 10);
    requireNumber("minPerSecond", minPerSecond, 0, 1_000_000);
    requireNumber("ttlMs", ttlMs, 100, 3_600_000);
    this.#clock = clock;
    this.#ratio = ratio;
    this.#reserve = (minPerSecond * ttlMs) / 1000;
    this.#sliceMs = ttlMs / SLICES;
    this.#slice = Math.floor(clock.now() / this.#sliceMs);
  }

  /** Counts a first attempt. Not a retry: those would pay for more of themselves. */
  deposit(nowMs: number = this.#clock.now()): void {
    this.#forget(nowMs);
    this.#count(this.#attempts);
  }

  /** Counts a retry that is about to be sent, or says that it must not be. */
  tryWithdraw(nowMs: number = this.#clock.now()): boolean {
    if (this.balance(nowMs) < 1) return false;
    this.#count(this.#retries);
    return true;
  }

  /** Retries that would be allowed now, with fractions. Below 0 when attempts were forgotten first. */
  balance(nowMs: number = this.#clock.now()): number {
    this.#forget(nowMs);
    const oldest = this.#attempts[(this.#slice + 1) % this.#attempts.length] as number;
    const attempts = sum(this.#attempts) - oldest;
    return this.#ratio * attempts + this.#reserve - sum(this.#retries);
  }

  #count(counts: Float64Array): void {
    const at = this.#slice % counts.length;
    counts[at] = (counts[at] as number) + 1;
  }

  /** A clock that stepped back forgets nothing; what comes then counts as of the newest slice. */
  #forget(nowMs: number): void {
    const slice = Math.floor(nowMs / this.#sliceMs);
    const oldest = Math.max(this.#slice + 1, slice - SLICES);
    for (let passed = oldest; passed <= slice; passed++) {
      const at = passed % this.#attempts.length;
      this.#attempts[at] = 0;
      this.#retries[at] = 0;
    }
    this.#slice = Math.max(slice, this.#slice);
  }
}

function sum(counts: Float64Array): number {
  return counts.reduce((total, count) => total + count, 0);
}
