import type { Clock } from "@sluice/core";
import { durationText, Ewma } from "@sluice/core/internal";

/** Weight of the newest request in the mean. Raised, the mean follows single requests. */
const MEAN_ALPHA = 0.1;
/** Requests before the mean counts as a best one: the first connection is slow, a single request may be lucky. */
const SAMPLES_MIN = 10;
/** Time after which a best mean is forgotten, ms; up to twice that. Lower, a slow hour would soon count as the best. */
const BEST_MS = 300_000;
/** Part above the best that is worth a word: less is noise. */
const LONGER_MIN = 0.1;

/** How long requests that succeed take: the moving mean, and the lowest that it was in the last 5 to 10 minutes. */
export class ServiceTime {
  readonly #clock: Clock;
  readonly #mean = new Ewma(MEAN_ALPHA);
  #samples = 0;
  #best = Infinity;
  #bestBefore = Infinity;
  #periodEndMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#periodEndMs = clock.now() + BEST_MS;
  }

  get meanMs(): number | undefined {
    return this.#mean.mean;
  }

  /** The lowest mean; undefined while none is known. */
  get bestMs(): number | undefined {
    const best = Math.min(this.#best, this.#bestBefore);
    return Number.isFinite(best) && best > 0 ? best : undefined;
  }

  /** `mean ÷ best − 1`; 0 while no best is known. */
  get longerPart(): number {
    const { bestMs } = this;
    return bestMs === undefined ? 0 : (this.#mean.mean ?? bestMs) / bestMs - 1;
  }

  /** The time of a request that has succeeded. */
  record(ms: number): void {
    const nowMs = this.#clock.now();
    if (nowMs >= this.#periodEndMs) {
      this.#bestBefore = nowMs < this.#periodEndMs + BEST_MS ? this.#best : Infinity;
      this.#best = Infinity;
      this.#periodEndMs = nowMs + BEST_MS;
    }
    this.#mean.update(ms);
    if (++this.#samples >= SAMPLES_MIN) this.#best = Math.min(this.#best, this.#mean.mean ?? ms);
  }

  /** "105 ms, 72 % longer than at its best"; empty before the first success. */
  describe(): string {
    const { meanMs, longerPart } = this;
    if (meanMs === undefined) return "";
    const longer =
      longerPart < LONGER_MIN ? "" : `, ${Math.round(longerPart * 100)} % longer than at its best`;
    return `${durationText(meanMs)}${longer}`;
  }
}
