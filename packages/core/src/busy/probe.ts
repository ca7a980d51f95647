/** Share of a probe's answers that may be busy beyond the stray ones. */
const TOLERATED_SHARE = 0.005;

/** Without answers a probe waits for this long, and for some round trips, after its end. */
const GRACE_MS = 1000;
const GRACE_ROUND_TRIPS = 3;

export interface ProbePlan {
  /** The rate that is known to be good. */
  readonly from: number;
  /** The rate that is tried. */
  readonly to: number;
  readonly startedAtMs: number;
  /** Requests sent this long decide. */
  readonly lengthMs: number;
  /** Share of busy answers that the known rate has as well. */
  readonly strayShare: number;
}

/**
 * `kept`: all was accepted. `failed`: the peer said busy. `unused`: so little was sent that the
 * known rate would have done.
 */
export type ProbeVerdict = "kept" | "failed" | "unused";

/** One try of a higher rate, in force until the answers tell how it went. */
export class Probe {
  readonly plan: ProbePlan;
  readonly #endsAtMs: number = 0;
  #sent = 0;
  #answers = 0;
  #busy = 0;

  constructor(plan: ProbePlan) {
    this.plan = plan;
    this.#endsAtMs = plan.startedAtMs + plan.lengthMs;
  }

  /** Requests a second that were really sent. */
  get sentPerSecond(): number {
    return (this.#sent * 1000) / this.plan.lengthMs;
  }

  onSend(nowMs: number): void {
    if (nowMs < this.#endsAtMs) this.#sent++;
  }

  /** An answer to a request that was sent since the start. */
  onAnswer(sentAtMs: number, isBusy: boolean): ProbeVerdict | undefined {
    this.#answers++;
    if (isBusy) {
      this.#busy++;
      // Of all answers to come: a stray one may well be the first.
      const answers = Math.max(this.#answers, (this.plan.to * this.plan.lengthMs) / 1000);
      const strays = this.plan.strayShare * answers;
      const tolerated = TOLERATED_SHARE * answers + strays + 2 * Math.sqrt(strays);
      if (this.#busy > tolerated) return "failed";
    }
    if (sentAtMs < this.#endsAtMs) return undefined;
    return this.sentPerSecond > this.plan.from ? "kept" : "unused";
  }

  /** Its answers should have come long ago. */
  isOverdue(nowMs: number, rttMs: number): boolean {
    return nowMs > this.#endsAtMs + GRACE_ROUND_TRIPS * rttMs + GRACE_MS;
  }
}
