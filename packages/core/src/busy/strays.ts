/** The largest share of busy answers that is put up with, and for how long. */
const SHARE_MAX = 0.3;
const HELD_FOR_MS = 30_000;

/** So many cuts in a row must have changed nothing. */
const VAIN_CUTS = 2;
/** Whether one did is judged by so many busy answers before it and after it, of so long a time. */
const BUSY_MIN = 16;
const TRIAL_MIN_MS = 250;
const TRIAL_ROUND_TRIPS = 4;
const TRIAL_MAX_MS = 3000;
/** A cut that leaves less than a quarter of so many busy answers has helped. */
const HELPED_OF = 8;

/** Smaller or larger by so many standard deviations of chance is another share. */
const LESS = 1;
const MORE = 3;

/** Answers at one rate, and how many of them were busy. */
export interface Sample {
  readonly busy: number;
  readonly answers: number;
}

/**
 * `rate`: it is sent too much, as far as is known. `unknown`: as busy as before the last cut, and too
 * early to say more. `stray`: as busy as before several cuts.
 */
export type BusyCause = "rate" | "unknown" | "stray";

/**
 * Finds busy answers that do not come from our rate, as those of one bad part of a large peer. A cut
 * goes below what was accepted, so it ends the busy answers of a peer that was sent too much. If after
 * two cuts in a row their share is what it was, it has another cause and is put up with: 30 % of all
 * answers at most, and for half a minute, after which it has to be shown again.
 *
 * Five busy answers a second are needed: fewer may as well come from what other clients send.
 */
export class Strays {
  /** What the last cut was made for, while that is on trial. */
  #before: Sample | undefined;
  #busy = 0;
  #answers = 0;
  #cutAtMs = 0;
  #vainCuts = 0;
  #fromRate = 0;
  #share = 0;
  #untilMs: number = -Number.MAX_VALUE;

  /** The rate before the cuts that changed nothing. */
  get fromRate(): number {
    return this.#fromRate;
  }

  /** The share of busy answers that no cut has lessened; 0 if there is none. */
  share(nowMs: number): number {
    return nowMs < this.#untilMs ? this.#share : 0;
  }

  /** Whether the last cut has helped is not known yet. */
  isOnTrial(nowMs: number): boolean {
    return this.#before !== undefined && nowMs - this.#cutAtMs <= TRIAL_MAX_MS;
  }

  /** An answer to a request that was sent since the last cut. */
  onAnswer(isBusy: boolean): void {
    this.#answers++;
    if (isBusy) this.#busy++;
    if (this.#before === undefined) return;
    const expected = shareOf(this.#before) * this.#answers;
    if (expected >= HELPED_OF && this.#busy < expected / 4) this.#before = undefined;
  }

  /** Why the peer is busy, once it was found to be. */
  judge(nowMs: number, rttMs: number): BusyCause {
    const before = this.#before;
    const after = { busy: this.#busy, answers: this.#answers };
    if (before === undefined || !this.isOnTrial(nowMs)) return this.#byRate();
    const lessened = deviations(before, after);
    if (lessened < -MORE) return this.#byRate();
    const trialMs = TRIAL_MIN_MS + TRIAL_ROUND_TRIPS * rttMs;
    if (after.busy < BUSY_MIN || nowMs - this.#cutAtMs < trialMs) return "unknown";
    if (before.busy < BUSY_MIN || lessened > LESS) return this.#byRate();
    this.#vainCuts++;
    if (this.#vainCuts < VAIN_CUTS) return "rate";
    const both = { busy: before.busy + after.busy, answers: before.answers + after.answers };
    // What chance may have hidden is added: too small a share would be cut again at once.
    this.#share = Math.min(SHARE_MAX, shareOf(both) * (1 + 2 / Math.sqrt(both.busy)));
    this.#untilMs = nowMs + HELD_FOR_MS;
    this.#before = undefined;
    this.#vainCuts = 0;
    return "stray";
  }

  /** A cut is made from this rate, because of this sample. */
  onCut(sample: Sample, rate: number, nowMs: number): void {
    if (this.#vainCuts === 0) this.#fromRate = rate;
    const isLonger = this.isOnTrial(nowMs) && this.#answers > sample.answers;
    const before = isLonger ? { busy: this.#busy, answers: this.#answers } : sample;
    this.#before = shareOf(before) > SHARE_MAX ? undefined : before;
    this.#busy = 0;
    this.#answers = 0;
    this.#cutAtMs = nowMs;
  }

  #byRate(): BusyCause {
    this.#vainCuts = 0;
    return "rate";
  }
}

function shareOf({ busy, answers }: Sample): number {
  return busy / answers;
}

/** By how many standard deviations of chance the share became smaller. */
function deviations(before: Sample, after: Sample): number {
  const share = (before.busy + after.busy) / (before.answers + after.answers);
  const variance = share * (1 - share) * (1 / before.answers + 1 / after.answers);
  return variance === 0 ? 0 : (shareOf(before) - shareOf(after)) / Math.sqrt(variance);
}
