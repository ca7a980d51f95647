import { byChance } from "./answer-count.ts";
import type { AnswerCount } from "./answer-count.ts";
import {
  BUSY_MIN,
  HALF_MAX_MS,
  HALF_MIN_ANSWERS,
  HALF_MIN_MS,
  RATIO_BUSY_MIN,
  SAMPLE_ANSWERS,
  SAMPLE_MS,
  SAMPLE_SLOW_ANSWERS,
  TOLERATED_RATIO,
} from "./constants.ts";

/**
 * Judges whether the peer is overloaded, in two stages. A window of the last second or so raises a
 * suspicion if it has more busy answers than chance makes of the tolerated ratio. A sample of the
 * answers that follow confirms it, and measures what the peer accepts without the good times before;
 * or it does not, and the suspicion is dropped.
 *
 * `randomRatio` is the ratio of busy answers that do not depend on the rate; they are no evidence.
 */
export class Evidence {
  /** The newer half of the window; while sampling: the sample. */
  #answers = 0;
  #busy = 0;
  #sinceMs = 0;
  /** The older half. */
  #answersBefore = 0;
  #busyBefore = 0;
  #isSampling = false;
  #usualBusyRatio = 0;

  get isSampling(): boolean {
    return this.#isSampling;
  }

  /** Ratio of busy answers in windows that raised no suspicion: each half weighs as all before it. */
  get usualBusyRatio(): number {
    return this.#usualBusyRatio;
  }

  /** Ratio of busy answers in the window beyond the random ones; 0 if they are too few to tell. */
  busyRatio(randomRatio: number): number {
    const busy = this.#busy + this.#busyBefore;
    if (busy < RATIO_BUSY_MIN) return 0;
    const answers = this.#answers + this.#answersBefore;
    return Math.max(0, busy - byChance(randomRatio * answers)) / answers;
  }

  /** Forgets the window, as after a cut: the answers to come speak of another rate. */
  reset(nowMs: number): void {
    this.#begin(nowMs, false);
  }

  /** Counts an answer. If it confirms an overload: the sample that does. */
  onAnswer(
    isBusy: boolean,
    randomRatio: number,
    nowMs: number,
    rttMs: number,
  ): AnswerCount | undefined {
    this.#answers++;
    if (isBusy) this.#busy++;
    if (this.#isSampling) return this.confirmed(randomRatio, nowMs, rttMs);
    this.#watch(randomRatio, nowMs);
    return undefined;
  }

  /** The same without an answer: a sample may end because time has passed. */
  confirmed(randomRatio: number, nowMs: number, rttMs: number): AnswerCount | undefined {
    if (!this.#isSampling || this.#answers === 0) return undefined;
    const sampleMs = nowMs - this.#sinceMs;
    const isLarge = this.#answers >= SAMPLE_ANSWERS && sampleMs >= rttMs;
    const isLong = this.#answers >= SAMPLE_SLOW_ANSWERS && sampleMs >= SAMPLE_MS;
    if (!isLarge && !isLong && sampleMs < HALF_MAX_MS) return undefined;
    const sample = { busy: this.#busy, answers: this.#answers };
    const tolerated = Math.max(TOLERATED_RATIO, randomRatio) * sample.answers;
    const isProof = sample.busy > byChance(tolerated);
    // More than tolerated, yet not more than chance: a longer sample tells them apart.
    if (!isProof && sample.busy > tolerated && sampleMs < SAMPLE_MS) return undefined;
    this.reset(nowMs);
    return isProof ? sample : undefined;
  }

  #watch(randomRatio: number, nowMs: number): void {
    const busy = this.#busy + this.#busyBefore;
    const tolerated =
      Math.max(TOLERATED_RATIO, randomRatio) * (this.#answers + this.#answersBefore);
    if (busy >= BUSY_MIN && busy > byChance(tolerated)) {
      this.#begin(nowMs, true);
      return;
    }
    const halfMs = nowMs - this.#sinceMs;
    if (halfMs < HALF_MIN_MS) return;
    if (this.#answers < HALF_MIN_ANSWERS && halfMs < HALF_MAX_MS) return;
    this.#usualBusyRatio = (this.#usualBusyRatio + this.#busy / this.#answers) / 2;
    this.#answersBefore = this.#answers;
    this.#busyBefore = this.#busy;
    this.#answers = 0;
    this.#busy = 0;
    this.#sinceMs = nowMs;
  }

  #begin(nowMs: number, isSampling: boolean): void {
    this.#answers = 0;
    this.#busy = 0;
    this.#answersBefore = 0;
    this.#busyBefore = 0;
    this.#sinceMs = nowMs;
    this.#isSampling = isSampling;
  }
}
