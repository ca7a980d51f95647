import { GRACE_MS, GRACE_ROUND_TRIPS, PROBE_BUSY_RATIO } from "./constants.ts";
import type { ProbePlan } from "./state.ts";

/**
 * `kept`: the peer accepted it. `failed`: the peer said busy. `unused`: so little was sent that the
 * known rate would have done.
 */
export type ProbeVerdict = "kept" | "failed" | "unused";

/** Counts what a probe sends and how the peer answers. */
export class ProbeTally {
  readonly #plan: ProbePlan;
  readonly #endsAtMs: number = 0;
  #sent = 0;
  #answers = 0;
  #busy = 0;

  constructor(plan: ProbePlan) {
    this.#plan = plan;
    this.#endsAtMs = plan.startedAtMs + plan.lengthMs;
  }

  /** Requests per second that were really sent. */
  get sentPerSecond(): number {
    return (this.#sent * 1000) / this.#plan.lengthMs;
  }

  onSend(nowMs: number): void {
    if (nowMs < this.#endsAtMs) this.#sent++;
  }

  /** An answer to a request that was sent since the start; the verdict if it settles one. */
  onAnswer(sentAtMs: number, isBusy: boolean): ProbeVerdict | undefined {
    this.#answers++;
    if (isBusy) {
      this.#busy++;
      if (this.#busy > this.#busyMax()) return "failed";
    }
    if (sentAtMs < this.#endsAtMs) return undefined;
    return this.sentPerSecond > this.#plan.from ? "kept" : "unused";
  }

  /** Whether the answers should have come long ago. */
  isOverdue(nowMs: number, rttMs: number): boolean {
    return nowMs > this.#endsAtMs + GRACE_ROUND_TRIPS * rttMs + GRACE_MS;
  }

  /**
   * Busy answers that do not fail the probe: 0.5 % of all its answers, the ones still to come as well,
   * and as many as the present rate has, plus two standard deviations of those.
   */
  #busyMax(): number {
    const { to, lengthMs, usualBusyRatio } = this.#plan;
    const answers = Math.max(this.#answers, (to * lengthMs) / 1000);
    const usual = usualBusyRatio * answers;
    return PROBE_BUSY_RATIO * answers + usual + 2 * Math.sqrt(usual);
  }
}
