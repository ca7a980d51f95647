import { Ewma } from "./ewma.ts";

/** Losses up to this part of what ended are strays; so are two, however little has ended. */
const PART = 0.01;
const COUNT_MIN = 2;
/** Overload loses many in a row: more than this part of about the last ten. */
const BURST_PART = 0.25;
const RECENT_ALPHA = 0.1;
/** If slowing down leaves this much of a loss, over so many ends, it does not come from our load. */
const IN_VAIN = 0.6;
const PROOF_ENDS = 50;
/** But never a part beyond this: it would be an outage. */
const PART_MAX = 0.3;
/** What is found so is put up with, and half as much again; less with every window. */
const MARGIN = 1.5;
const DECAY = 0.995;
/** Ends that this is judged by, at most twice that. */
const ENDS = 100;

/**
 * What a loss is. `stray`: one of those that always happen. `in-vain`: a stray too, and slowing
 * down has not helped against the last ones. `load`: our load is the reason, as far as can be told.
 */
export type LossKind = "stray" | "in-vain" | "load";

/** Tells losses that come from our load from those that come whatever is sent. */
export class Strays {
  readonly #recent = new Ewma(RECENT_ALPHA);
  /** Losses that are put up with, as a part of what ended. */
  #part: number = PART;
  /** The part that was lost when the last cut was made; undefined if it was found to be strays. */
  #partAtCut: number | undefined;
  #ends = 0;
  #losses = 0;
  #servedSinceCut = 0;
  #lossesSinceCut = 0;

  /** Whether so many are always lost that a single loss tells nothing. */
  get areMany(): boolean {
    return this.#part >= 2 * PART;
  }

  /** Whether anything that started after the last cut was served. */
  get isServing(): boolean {
    return this.#servedSinceCut > 0;
  }

  /** Every end counts once; `isSinceCut`: its attempt had not started yet when the last cut was made. */
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
   * Judges the loss that was counted last. `isFirst`: nothing was cut for a while, so that all ends
   * count. `isSlowed`: starts are slower than when the last cut was made.
   */
  judge(isFirst: boolean, isSlowed: boolean): LossKind {
    const isBurst = this.#recent.mean !== undefined && this.#recent.mean >= BURST_PART;
    // Nothing is served any more, or nearly: no loss is a stray then.
    if (!isFirst && (!this.isServing || isBurst)) return "load";
    const losses = isFirst ? this.#losses : this.#lossesSinceCut;
    const ends = isFirst ? this.#ends : this.#lossesSinceCut + this.#servedSinceCut;
    const mean = this.#part * ends;
    const chance = isBurst ? 0 : 2 * Math.sqrt(mean);
    if (losses <= Math.max(isFirst ? COUNT_MIN : 1, mean + chance)) return "stray";
    const part = losses / ends;
    if (this.#partAtCut !== undefined && isSlowed && !isBurst) {
      // What slowing down has done is not known yet.
      if (ends < PROOF_ENDS) return "stray";
      if (part <= PART_MAX && part >= IN_VAIN * this.#partAtCut) {
        this.#part = Math.min(PART_MAX, MARGIN * part);
        this.#partAtCut = undefined;
        return "in-vain";
      }
    }
    this.#partAtCut = part;
    return "load";
  }

  onCut(): void {
    this.#servedSinceCut = 0;
    this.#lossesSinceCut = 0;
  }

  /** Time passes: what is put up with becomes less, and old ends count less. */
  forget(): void {
    this.#part = Math.max(PART, DECAY * this.#part);
    if (this.#ends < 2 * ENDS) return;
    this.#ends /= 2;
    this.#losses /= 2;
  }
}
