import type { Sample, Strays } from "./strays.ts";

/** Share of busy answers that is put up with: a large flow always has some. */
const TOLERATED_SHARE = 0.01;
/** Fewer busy answers than this prove nothing. */
const BUSY_MIN = 3;
/** Of one busy answer no share is taken. */
const SHARE_BUSY_MIN = 2;

/** Half a window: at least so long and so many answers, and never longer than the last. */
const HALF_MIN_MS = 500;
const HALF_MIN_ANSWERS = 50;
const HALF_MAX_MS = 5000;

/** A sample: a round trip and many answers, or a second and some, or as long as half a window. */
const SAMPLE_ANSWERS = 30;
const SAMPLE_MS = 1000;
const SAMPLE_SLOW_ANSWERS = 10;

/**
 * Judges answers: is the peer busy, and how much does it take? A window of the last second or so
 * raises a suspicion when its share of busy answers is more than chance makes of a tolerable one;
 * a sample from then on measures what is accepted, without the good times before. A suspicion that
 * the sample does not bear out was a stray burst.
 */
export class Evidence {
  readonly #strays: Strays;
  #answers = 0;
  #busy = 0;
  #answersBefore = 0;
  #busyBefore = 0;
  #sinceMs = 0;
  #isSampling = false;
  #strayShare = 0;

  constructor(strays: Strays) {
    this.#strays = strays;
  }

  /** A suspicion is being looked into. */
  get isSampling(): boolean {
    return this.#isSampling;
  }

  /** Share of busy answers in the window beyond the strays; 0 if they are too few to tell. */
  busyShare(nowMs: number): number {
    const busy = this.#busy + this.#busyBefore;
    if (busy < SHARE_BUSY_MIN) return 0;
    const answers = this.#answers + this.#answersBefore;
    return Math.max(0, busy - byChance(this.#strays.share(nowMs) * answers)) / answers;
  }

  /** Share of busy answers while nothing was wrong. */
  strayShare(nowMs: number): number {
    return Math.max(this.#strayShare, this.#strays.share(nowMs));
  }

  /** Forgets the window, as after a cut: what comes speaks of another rate. */
  reset(nowMs: number): void {
    this.#begin(nowMs, false);
  }

  /** An answer. If it settles that the peer is busy: the sample that does. */
  onAnswer(isBusy: boolean, nowMs: number, rttMs: number): Sample | undefined {
    this.#answers++;
    if (isBusy) this.#busy++;
    if (this.#isSampling) return this.measured(nowMs, rttMs);
    this.#watch(nowMs);
    return undefined;
  }

  /** The same without an answer: a sample may end because time has passed. */
  measured(nowMs: number, rttMs: number): Sample | undefined {
    if (!this.#isSampling || this.#answers === 0) return undefined;
    const sampleMs = nowMs - this.#sinceMs;
    const isLarge = this.#answers >= SAMPLE_ANSWERS && sampleMs >= rttMs;
    const isLong = this.#answers >= SAMPLE_SLOW_ANSWERS && sampleMs >= SAMPLE_MS;
    if (!isLarge && !isLong && sampleMs < HALF_MAX_MS) return undefined;
    const sample = { busy: this.#busy, answers: this.#answers };
    const tolerated = this.#toleratedShare(nowMs) * sample.answers;
    const isProof = sample.busy > byChance(tolerated);
    // Between the two: a longer sample tells them apart.
    if (!isProof && sample.busy > tolerated && sampleMs < SAMPLE_MS) return undefined;
    this.reset(nowMs);
    return isProof ? sample : undefined;
  }

  #watch(nowMs: number): void {
    const busy = this.#busy + this.#busyBefore;
    const answers = this.#answers + this.#answersBefore;
    if (busy >= BUSY_MIN && busy > byChance(this.#toleratedShare(nowMs) * answers)) {
      this.#begin(nowMs, true);
      return;
    }
    const halfMs = nowMs - this.#sinceMs;
    if (halfMs < HALF_MIN_MS) return;
    if (this.#answers < HALF_MIN_ANSWERS && halfMs < HALF_MAX_MS) return;
    this.#strayShare = (this.#strayShare + this.#busy / this.#answers) / 2;
    this.#answersBefore = this.#answers;
    this.#busyBefore = this.#busy;
    this.#answers = 0;
    this.#busy = 0;
    this.#sinceMs = nowMs;
  }

  #toleratedShare(nowMs: number): number {
    return Math.max(TOLERATED_SHARE, this.#strays.share(nowMs));
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

/** What chance makes of so many: two standard deviations more. */
function byChance(count: number): number {
  return count + 2 * Math.sqrt(count);
}
