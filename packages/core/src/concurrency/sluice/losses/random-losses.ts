import {
  END_DECAY,
  LOSS_ALARM,
  LOSS_ALARM_MANY,
  LOSS_RISE,
  ENDS_MAX,
  PRIOR_ENDS,
  LEARNED_FOR,
  OUTAGE_LOSSES,
  OUTAGE_LOSSES_PER_LIMIT,
  RANDOM_LOSSES,
  RANDOM_LOSSES_MAX,
  TOLERANCE,
  TOLERANCE_DECAY,
} from "../constants.ts";
import type { EndedAttempt } from "../../algorithm.ts";
import { CutTrial } from "./cut-trial.ts";

type Times = Pick<EndedAttempt, "startedAtMs" | "endedAtMs">;

interface LossContext {
  readonly isFirst: boolean;
  readonly isSlowed: boolean;
  /** The slow start is over. */
  readonly isSteady: boolean;
  /** Other clients are there, so that losses go on whatever one client does. */
  readonly isShared: boolean;
  readonly limit: number;
}

/**
 * What a loss is. `random`: one of those that happen at any load. `doubt`: a cut has not lessened the
 * losses, which half of the rate must confirm. `in-vain`: random, for neither cut has lessened them.
 * `load`: caused by our load, as far as can be told.
 */
export type LossKind = "random" | "doubt" | "in-vain" | "load";

/**
 * Tells random losses from losses that our load causes, by two tests of likelihood.
 *
 * - **Alarm** (a CUSUM test). Each end adds `ln(p(end | risen) ÷ p(end | tolerated))` to a sum that never
 *   falls below 0. A sum above the bound says that more is lost than is tolerated.
 * - **In vain**. After a cut each end adds `ln(p(end | ratio at the cut) ÷ p(end | a quarter of it))`. A sum
 *   above the bound says that slowing down has not lessened the losses: they are random, up to 30 %, and
 *   1.5 times their ratio is tolerated from then on.
 */
export class RandomLosses {
  /** Fraction of the ends that may be lost without a cut. */
  #tolerated: number = RANDOM_LOSSES;
  /** Undefined once it is known whether the losses that caused the last cut were random. */
  #trial: CutTrial | undefined;
  /** The limit at which losses were found to be random. */
  #learnedAt = Infinity;
  #alarm = 0;
  #stepFor = Number.NaN;
  #step = 0;
  #ends = 0;
  #losses = 0;
  #servedSinceCut = 0;
  #lossesSinceCut = 0;
  /** Time that an attempt takes to end, served or lost: the longest, which decays. */
  #endMs = 0;

  /** Whether random losses are frequent enough that a single loss carries no information. */
  get areMany(): boolean {
    return this.#tolerated >= 2 * RANDOM_LOSSES;
  }

  /** Whether anything that started after the last cut was served. */
  get isServing(): boolean {
    return this.#servedSinceCut > 0;
  }

  /** Attempts lost that started after the last cut. */
  get sinceCut(): number {
    return this.#lossesSinceCut;
  }

  /** An attempt was served. `isSinceCut`: it started after the last cut. */
  onServed({ startedAtMs, endedAtMs }: Times, isSinceCut: boolean): void {
    this.#endMs = Math.max(endedAtMs - startedAtMs, END_DECAY * this.#endMs);
    if (!isSinceCut) return;
    this.#ends++;
    this.#servedSinceCut++;
    this.#trial?.add(true, startedAtMs, endedAtMs, this.#endMs);
    this.#alarm = Math.max(0, this.#alarm + this.#servedStep);
  }

  /** What a served attempt adds to the alarm; computed anew only when the usual ratio has changed. */
  get #servedStep(): number {
    const usual = this.#usual;
    if (usual !== this.#stepFor) {
      this.#stepFor = usual;
      this.#step = Math.log((1 - risen(usual)) / (1 - usual));
    }
    return this.#step;
  }

  /** Ends a trial in which slowing down has lessened the losses, and returns it; undefined if none has. */
  takeOfUse(): CutTrial | undefined {
    const trial = this.#trial;
    if (trial?.isOfUse !== true) return undefined;
    this.#trial = undefined;
    if (trial.isHalved) this.#tolerated = RANDOM_LOSSES;
    return trial;
  }

  onLoss({ startedAtMs, endedAtMs }: Times, isSinceCut: boolean): void {
    this.#endMs = Math.max(endedAtMs - startedAtMs, this.#endMs);
    if (!isSinceCut) return;
    this.#ends++;
    this.#losses++;
    this.#lossesSinceCut++;
    this.#trial?.add(false, startedAtMs, endedAtMs, this.#endMs);
    // Fast answers that say lost come before the others can have been served.
    if (!this.isServing) return;
    const usual = this.#usual;
    this.#alarm += Math.log(risen(usual) / usual);
  }

  /**
   * Judges the loss that was counted last. `isFirst`: nothing was cut for a while. `isSlowed`: starts are
   * slower than at the last cut. `limit`: what may be in flight, in attempts.
   */
  judge({ isFirst, isSlowed, isShared, isSteady, limit }: LossContext): LossKind {
    if (!this.isServing) {
      // A fast answer may say that one is lost before the others can have been served.
      const least = Math.max(OUTAGE_LOSSES, OUTAGE_LOSSES_PER_LIMIT * limit);
      if (this.#lossesSinceCut >= least) return "load";
      if (!isFirst) return "random";
    }
    // A small client cannot lessen the losses of a peer that others load; a large one can.
    if (
      isSteady &&
      this.areMany &&
      this.#trial === undefined &&
      limit > LEARNED_FOR * this.#learnedAt
    ) {
      this.#learnedAt = limit;
      return "doubt";
    }
    const trial = this.#trial;
    if (trial?.isInVain === true && isSlowed && !isShared) {
      if (trial.lostRatio > RANDOM_LOSSES_MAX) return "load";
      if (!trial.isHalved) return "doubt";
      this.#tolerated = Math.min(
        RANDOM_LOSSES_MAX,
        TOLERANCE * Math.max(trial.lostRatio, trial.ratio),
      );
      this.#learnedAt = limit;
      this.#trial = undefined;
      this.#alarm = 0;
      return "in-vain";
    }
    const bound = this.#usual >= 2 * RANDOM_LOSSES ? LOSS_ALARM_MANY : LOSS_ALARM;
    return this.#alarm < bound ? "random" : "load";
  }

  /** The limit or the pace was lowered; `isForLosses`: because of losses, so that it goes on trial. */
  onCut(nowMs: number, isForLosses: boolean): void {
    const ratio = Math.max(this.#lostRatio, RANDOM_LOSSES);
    const before = { ratio: Math.min(RANDOM_LOSSES_MAX, ratio), isHalved: false };
    this.#restart(isForLosses ? new CutTrial(before, nowMs) : undefined);
  }

  /**
   * The rate is halved to confirm that slowing down is in vain. A trial ends in vain when chance lost many,
   * so its own ratio is too high to be expected again.
   */
  onHalved(nowMs: number): void {
    const ratio = Math.max(Math.min(this.#trial?.lostRatio ?? 1, this.#lostRatio), RANDOM_LOSSES);
    const before = { ratio: Math.min(RANDOM_LOSSES_MAX, ratio), isHalved: true };
    this.#restart(new CutTrial(before, nowMs));
  }

  #restart(trial: CutTrial | undefined): void {
    this.#trial = trial;
    this.#alarm = 0;
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

  get #lostRatio(): number {
    return (this.#losses + RANDOM_LOSSES * PRIOR_ENDS) / (this.#ends + PRIOR_ENDS);
  }

  /** The loss ratio that raises no alarm. While a cut is on trial, that is the ratio that caused it. */
  get #usual(): number {
    return Math.max(this.#tolerated, this.#trial?.ratio ?? 0);
  }
}

/** The loss ratio that an alarm is meant to find: 10 times the usual one, at most half way to all. */
function risen(usual: number): number {
  return Math.min(LOSS_RISE * usual, (1 + usual) / 2);
}
