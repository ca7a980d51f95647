/** What is known about a peer that was found busy. Rates are in requests per second. */
export interface Limit {
  /** What may be sent. A probe may send more for a moment. */
  readonly rate: number;
  /** What the peer was last known to accept; at least `rate`, except for rounding up to RATE_MIN. */
  readonly goodRate: number;
  /**
   * Whether the peer accepted a probe since the last cut or failed probe. Only then does the next cut
   * measure a good rate: a cut that follows a cut measures our own limit.
   */
  readonly isProven: boolean;
  /** What was sent when the peer was first found busy. */
  readonly demand: number;
  /** When the peer was first found busy. */
  readonly overloadedAtMs: number;
  /** The rate at which the last climb began. */
  readonly climbedFrom: number;
  /** Climbs in a row whose busy answers take longer than COST_COOL_DOWN_MS to make up for. */
  readonly costlyClimbs: number;
  readonly move: "cut" | "recover";
}

/** Steps beyond the last good rate, one after the other while the peer accepts them. */
export interface Climb {
  readonly startedAtMs: number;
  /** The last step, as a fraction of the rate; 0 before the first. */
  readonly step: number;
  /** The rate before the last accepted step: the highest that was in force for longer than a probe. */
  readonly rateBefore: number;
}

/** One trial of a higher rate. */
export interface ProbePlan {
  /** The limit's rate and the higher one, in requests per second. */
  readonly from: number;
  readonly to: number;
  readonly startedAtMs: number;
  /** The answers to requests sent for this long decide. */
  readonly lengthMs: number;
  /** Ratio of busy answers that the present rate has as well. */
  readonly usualBusyRatio: number;
  /** Undefined: the probe is on the way back to the last good rate, not beyond it. */
  readonly climb: Climb | undefined;
}

interface Judged {
  /** Answers to requests sent until this instant speak of an earlier rate and are not judged. */
  readonly judgedFromMs: number;
}

/** Nothing is limited. */
export interface Open extends Judged {
  readonly phase: "open";
}

/** The rate stays as it is, so that the peer recovers and its answers can be counted. */
export interface CoolDown extends Judged {
  readonly phase: "cool-down";
  readonly limit: Limit;
  /** When the peer first accepted a request sent in this cool-down, which then begins to count. */
  readonly acceptedAtMs: number | undefined;
}

/** A higher rate is tried. */
export interface Probing extends Judged {
  readonly phase: "probing";
  readonly limit: Limit;
  readonly plan: ProbePlan;
}

export type State = Open | CoolDown | Probing;
