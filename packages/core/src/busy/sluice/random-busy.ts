import { busyRatioOf } from "./answer-count.ts";
import type { AnswerCount } from "./answer-count.ts";
import {
  FEWER_DEVIATIONS,
  HELPED_OF,
  MORE_DEVIATIONS,
  RANDOM_RATIO_MAX,
  RANDOM_VALID_MS,
  TRIAL_BUSY_MIN,
  TRIAL_MAX_MS,
  TRIAL_MIN_MS,
  TRIAL_ROUND_TRIPS,
  VAIN_CUTS,
} from "./constants.ts";

/**
 * Why answers are busy. `rate`: more is sent than the peer accepts, as far as is known. `unknown`: as
 * busy as before the last cut, and too early to say more. `random`: as busy as before several cuts.
 */
export type BusyCause = "rate" | "unknown" | "random";

/** A cut whose effect is being judged. */
interface Trial {
  /** The answers that the cut was made for. */
  readonly before: AnswerCount;
  readonly cutAtMs: number;
}

/**
 * Finds busy answers that do not come from our rate, such as those of one bad shard of a large peer. A
 * cut goes below what was accepted, so it ends the busy answers of a peer that was sent too much. If
 * their ratio stays the same after two cuts in a row, it has another cause and is tolerated: up to 30 %
 * of all answers, and for 30 s, after which it has to be found again.
 *
 * About five busy answers per second are needed: 16 within the 3 s of a trial. Fewer may as well come
 * from what other clients send.
 */
export class RandomBusy {
  #trial: Trial | undefined;
  /** Answers to requests that were sent since the last cut. */
  #busy = 0;
  #answers = 0;
  #vainCuts = 0;
  #rateBefore = 0;
  #ratio = 0;
  #validUntilMs: number = -Number.MAX_VALUE;

  /** The rate before the cuts that changed nothing, in requests per second. */
  get rateBefore(): number {
    return this.#rateBefore;
  }

  /** The ratio of busy answers that no cut has lessened; 0 if there is none. */
  ratio(nowMs: number): number {
    return nowMs < this.#validUntilMs ? this.#ratio : 0;
  }

  /** Whether it is not known yet if the last cut has helped. */
  isOnTrial(nowMs: number): boolean {
    return this.#trial !== undefined && nowMs - this.#trial.cutAtMs <= TRIAL_MAX_MS;
  }

  /** An answer to a request that was sent since the last cut. */
  onAnswer(isBusy: boolean): void {
    this.#answers++;
    if (isBusy) this.#busy++;
    if (this.#trial === undefined) return;
    const expected = busyRatioOf(this.#trial.before) * this.#answers;
    if (expected >= HELPED_OF && this.#busy < expected / 4) this.#trial = undefined;
  }

  /** Why the peer is busy, once it was found to be. */
  judge(nowMs: number, rttMs: number): BusyCause {
    const trial = this.#trial;
    if (trial === undefined || !this.isOnTrial(nowMs)) return this.#byRate();
    const after = { busy: this.#busy, answers: this.#answers };
    const effect = effectOf(trial.before, after, nowMs - trial.cutAtMs, rttMs);
    if (effect === "unknown") return "unknown";
    if (effect === "other") return this.#byRate();
    this.#vainCuts++;
    if (this.#vainCuts < VAIN_CUTS) return "rate";
    this.#ratio = randomRatioOf(trial.before, after);
    this.#validUntilMs = nowMs + RANDOM_VALID_MS;
    this.#trial = undefined;
    this.#vainCuts = 0;
    return "random";
  }

  /** A cut is made from `rate`, in requests per second, because of this sample. */
  onCut(sample: AnswerCount, rate: number, nowMs: number): void {
    if (this.#vainCuts === 0) this.#rateBefore = rate;
    // All answers since the last cut tell more than the sample alone.
    const isLonger = this.isOnTrial(nowMs) && this.#answers > sample.answers;
    const before = isLonger ? { busy: this.#busy, answers: this.#answers } : sample;
    this.#trial = busyRatioOf(before) > RANDOM_RATIO_MAX ? undefined : { before, cutAtMs: nowMs };
    this.#busy = 0;
    this.#answers = 0;
  }

  #byRate(): BusyCause {
    this.#vainCuts = 0;
    return "rate";
  }
}

/**
 * What a cut did to the ratio of busy answers. `none`: it is the same. `other`: it changed, or there
 * were too few busy answers before to say that it did not. `unknown`: wait for more answers.
 */
function effectOf(
  before: AnswerCount,
  after: AnswerCount,
  elapsedMs: number,
  rttMs: number,
): "none" | "other" | "unknown" {
  const fewer = deviations(before, after);
  if (fewer < -MORE_DEVIATIONS) return "other";
  const trialMs = TRIAL_MIN_MS + TRIAL_ROUND_TRIPS * rttMs;
  if (after.busy < TRIAL_BUSY_MIN || elapsedMs < trialMs) return "unknown";
  if (before.busy < TRIAL_BUSY_MIN || fewer > FEWER_DEVIATIONS) return "other";
  return "none";
}

/**
 * By how many standard deviations the busy ratio fell; the two-proportion z-test:
 *
 *     (p₁ − p₂) ÷ √(p × (1 − p) × (1/n₁ + 1/n₂)), p: both together
 */
function deviations(before: AnswerCount, after: AnswerCount): number {
  const ratio = (before.busy + after.busy) / (before.answers + after.answers);
  const variance = ratio * (1 - ratio) * (1 / before.answers + 1 / after.answers);
  return variance === 0 ? 0 : (busyRatioOf(before) - busyRatioOf(after)) / Math.sqrt(variance);
}

/** The ratio of both, and two standard deviations more: too small a ratio would be cut again at once. */
function randomRatioOf(before: AnswerCount, after: AnswerCount): number {
  const busy = before.busy + after.busy;
  const ratio = busyRatioOf({ busy, answers: before.answers + after.answers });
  return Math.min(RANDOM_RATIO_MAX, ratio * (1 + 2 / Math.sqrt(busy)));
}
