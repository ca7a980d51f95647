import { differenceOf, lowQuantileOf, meanOf } from "./measured.ts";
import type { Measured } from "./measured.ts";

/** The mean is believed over the low quantile only if it says more beyond any doubt. */
const DOUBT = 3;

/** What a round trip takes when nothing of ours queues: the last such ones. */
export class Baseline {
  #samplesMs: readonly number[] = [];
  #low: Measured | undefined;
  #mean: Measured | undefined;

  /** How many round trips it rests on. */
  get count(): number {
    return this.#samplesMs.length;
  }

  /** Adds round trips made without a queue of ours; of them all the last `countMax` stay. */
  absorb(rttsMs: readonly number[], countMax: number): void {
    this.#samplesMs = [...this.#samplesMs, ...rttsMs].slice(-countMax);
    this.#low = lowQuantileOf(this.#samplesMs);
    this.#mean = meanOf(this.#samplesMs);
  }

  /** Forgets all others. */
  replace(rttsMs: readonly number[]): void {
    this.#samplesMs = [];
    this.absorb(rttsMs, rttsMs.length);
  }

  /** Whether the fast ones of the given round trips are beyond doubt longer than `times` these. */
  isExceededBy(rttsMs: readonly number[], times: number): boolean {
    if (this.#low === undefined) return false;
    const low = lowQuantileOf(rttsMs);
    const errorMs = Math.hypot(low.errorMs, times * this.#low.errorMs);
    return low.valueMs - 2 * errorMs > times * this.#low.valueMs;
  }

  /**
   * How much longer than these the given round trips are. Undefined while there are none.
   *
   * Mostly by the low quantile. Where the service takes the same time for all, only some wait and
   * the quantile sees nothing of it; then the mean does.
   */
  shiftOf(rttsMs: readonly number[]): Measured | undefined {
    if (this.#low === undefined || this.#mean === undefined) return undefined;
    const low = differenceOf(lowQuantileOf(rttsMs), this.#low);
    const mean = differenceOf(meanOf(rttsMs), this.#mean);
    const isDoubtless = mean.valueMs - DOUBT * mean.errorMs > Math.max(0, low.valueMs);
    return isDoubtless ? mean : low;
  }
}
