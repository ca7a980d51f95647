import { Ewma } from "../ewma.ts";
import {
  BURST,
  BURST_ALPHA,
  ENDS_MAX,
  IN_VAIN,
  IN_VAIN_ENDS,
  RANDOM_LOSSES,
  RANDOM_LOSSES_MAX,
  RANDOM_LOSSES_MIN,
  TOLERANCE,
  TOLERANCE_DECAY,
} from "./constants.ts";

/**
 * What a loss is. `random`: one of those that happen at any load. `in-vain`: random too, and slowing
 * down has not lessened the losses. `load`: caused by our load, as far as can be told.
 */
export type LossKind = "random" | "in-vain" | "load";

/**
 * Tells random losses from losses that our load causes. Up to 1 % of all ends, and two standard
 * deviations of chance, are random. If slowing down leaves the loss ratio as it was, the losses are
 * random whatever their ratio, up to 30 %.
 */
export class RandomLosses {
  readonly #recent = new Ewma(BURST_ALPHA);
  /** Fraction of the ends that may be lost without a cut. */
  #tolerated: number = RANDOM_LOSSES;
  /** Loss ratio at the last cut; undefined once those losses were found to be random. */
  #ratioAtCut: number | undefined;
  #ends = 0;
  #losses = 0;
  #servedSinceCut = 0;
  #lossesSinceCut = 0;

  /** Whether random losses are frequent enough that a single loss carries no information. */
  get areMany(): boolean {
    return this.#tolerated >= 2 * RANDOM_LOSSES;
  }

  /** Whether anything that started after the last cut was served. */
  get isServing(): boolean {
    return this.#servedSinceCut > 0;
  }

  /** An attempt was served. `isSinceCut`: it started after the last cut. */
  onServed(isSinceCut: boolean): void {
    this.#ends++;
    this.#recent.update(0);
    if (isSinceCut) this.#servedSinceCut++;
  }

  onLoss(isSinceCut: boolean): void {
    this.#ends++;
    this.#recent.update(1);
    if (!isSinceCut) return;
    this.#losses++;
    this.#lossesSinceCut++;
  }

  /**
   * Judges the loss that was counted last. `isFirst`: nothing was cut for a while, so all ends count.
   * `isSlowed`: starts are slower than at the last cut.
   */
  judge(isFirst: boolean, isSlowed: boolean): LossKind {
    const isBurst = this.#recent.mean !== undefined && this.#recent.mean >= BURST;
    // After a cut that left hardly anything served, every loss is load.
    if (!isFirst && (!this.isServing || isBurst)) return "load";
    const losses = isFirst ? this.#losses : this.#lossesSinceCut;
    const ends = isFirst ? this.#ends : this.#lossesSinceCut + this.#servedSinceCut;
    const expected = this.#tolerated * ends;
    const chance = isBurst ? 0 : 2 * Math.sqrt(expected);
    if (losses <= Math.max(isFirst ? RANDOM_LOSSES_MIN : 1, expected + chance)) return "random";
    const ratio = losses / ends;
    if (this.#ratioAtCut !== undefined && isSlowed && !isBurst) {
      // Too early to tell what slowing down has done.
      if (ends < IN_VAIN_ENDS) return "random";
      if (ratio <= RANDOM_LOSSES_MAX && ratio >= IN_VAIN * this.#ratioAtCut) {
        this.#tolerated = Math.min(RANDOM_LOSSES_MAX, TOLERANCE * ratio);
        this.#ratioAtCut = undefined;
        return "in-vain";
      }
    }
    this.#ratioAtCut = ratio;
    return "load";
  }

  onCut(): void {
    this.#servedSinceCut = 0;
    this.#lossesSinceCut = 0;
  }

  /** A window without a cut has passed: the tolerance decays, and old ends count less. */
  age(): void {
    this.#tolerated = Math.max(RANDOM_LOSSES, TOLERANCE_DECAY * this.#tolerated);
    if (this.#ends < ENDS_MAX) return;
    this.#ends /= 2;
    this.#losses /= 2;
  }
}
