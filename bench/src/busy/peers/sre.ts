import type { BusyState, BusyThrottle, Clock, Random } from "@sluice/core";

const SLICES = 40;

export interface SreOptions {
  readonly k: number;
  readonly windowMs: number;
  /** Requests count when they are answered, else when they are sent. */
  readonly countsAnswered: boolean;
}

/**
 * Client-side throttling as in Google's SRE book: refuses with probability
 * (requests - k accepted) / (requests + 1), both over a window, requests refused here included.
 */
export class SreThrottle implements BusyThrottle {
  readonly #clock: Clock;
  readonly #options: SreOptions;
  readonly #random: Random;
  readonly #requests = new Float64Array(SLICES);
  readonly #accepted = new Float64Array(SLICES);
  #slice = 0;

  constructor(clock: Clock, options: SreOptions, random: Random) {
    this.#clock = clock;
    this.#options = options;
    this.#random = random;
  }

  state(): BusyState {
    return { limit: undefined, move: "open" };
  }

  pauseMs(): number {
    return 0;
  }

  trySend(nowMs: number = this.#clock.now()): boolean {
    this.#forget(nowMs);
    const requests = sum(this.#requests);
    const refusal = (requests - this.#options.k * sum(this.#accepted)) / (requests + 1);
    const isRefused = this.#random.next() < refusal;
    if (isRefused || !this.#options.countsAnswered) this.#count(this.#requests);
    return !isRefused;
  }

  onAnswer(_sentAtMs: number, isBusy: boolean, nowMs: number = this.#clock.now()): void {
    this.#forget(nowMs);
    if (this.#options.countsAnswered) this.#count(this.#requests);
    if (!isBusy) this.#count(this.#accepted);
  }

  #count(counts: Float64Array): void {
    const at = this.#slice % SLICES;
    counts[at] = (counts[at] as number) + 1;
  }

  #forget(nowMs: number): void {
    const slice = Math.floor((nowMs * SLICES) / this.#options.windowMs);
    for (; this.#slice < slice; this.#slice++) {
      this.#requests[(this.#slice + 1) % SLICES] = 0;
      this.#accepted[(this.#slice + 1) % SLICES] = 0;
    }
  }
}

function sum(counts: Float64Array): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}
