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
  #answers = 0;
  #busy = 0;
  #answersBefore = 0;
  #busyBefore = 0;
  #sinceMs = 0;
  #isSampling = false;
  #strayShare = 0;

  /** A suspicion is being looked into. */
  get isSampling(): boolean {
    return this.#isSampling;
  }

  /** Share of busy answers in the window; 0 if they are too few to tell. */
  get busyShare(): number {
    const busy = this.#busy + this.#busyBefore;
    return busy < SHARE_BUSY_MIN ? 0 : busy / (this.#answers + this.#answersBefore);
  }

  /** Share of busy answers while nothing was wrong. */
  get strayShare(): number {
    return this.#strayShare;
  }

  /** Forgets the window, as after a cut: what comes speaks of another rate. */
  reset(nowMs: number): void {
    this.#begin(nowMs, false);
  }

  /** An answer. If it settles that the peer is busy: the share of requests that it accepts. */
  onAnswer(isBusy: boolean, nowMs: number, rttMs: number): number | undefined {
    this.#answers++;
    if (isBusy) this.#busy++;
    if (this.#isSampling) return this.measured(nowMs, rttMs);
    this.#watch(nowMs);
    return undefined;
  }

  /** The same without an answer: a sample may end because time has passed. */
  measured(nowMs: number, rttMs: number): number | undefined {
    if (!this.#isSampling || this.#answers === 0) return undefined;
    const sampleMs = nowMs - this.#sinceMs;
    const isLarge = this.#answers >= SAMPLE_ANSWERS && sampleMs >= rttMs;
    const isLong = this.#answers >= SAMPLE_SLOW_ANSWERS && sampleMs >= SAMPLE_MS;
    if (!isLarge && !isLong && sampleMs < HALF_MAX_MS) return undefined;
    const busyShare = this.#busy / this.#answers;
    const isProof = isIntolerable(this.#busy, this.#answers);
    // Between the two: a longer sample tells them apart.
    if (!isProof && busyShare > TOLERATED_SHARE && sampleMs < SAMPLE_MS) return undefined;
    this.reset(nowMs);
    return isProof ? 1 - busyShare : undefined;
  }

  #watch(nowMs: number): void {
    const busy = this.#busy + this.#busyBefore;
    const answers = this.#answers + this.#answersBefore;
    if (busy >= BUSY_MIN && isIntolerable(busy, answers)) {
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

  #begin(nowMs: number, isSampling: boolean): void {
    this.#answers = 0;
    this.#busy = 0;
    this.#answersBefore = 0;
    this.#busyBefore = 0;
    this.#sinceMs = nowMs;
    this.#isSampling = isSampling;
  }
}

/** More than the tolerated share, and by more than two standard deviations of it. */
function isIntolerable(busy: number, answers: number): boolean {
  const tolerated = TOLERATED_SHARE * answers;
  return busy > tolerated + 2 * Math.sqrt(tolerated);
}
