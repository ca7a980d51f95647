import {
  CAREFUL_MS,
  CUT_MAX,
  EXTRA_FAR,
  EXTRA_NEAR,
  GIVE_WAY,
  GIVE_WAY_MAX,
  MARGIN,
  NEAR,
  PROBE_MAX_MS,
  PROBE_MIN_MS,
  RATE_MIN,
  RECOVERED,
  STEP,
  STEP_LARGE,
  STEP_MAX,
  STEP_SHORT_MAX,
  STEP_SLOW_MAX,
  USED,
} from "./constants.ts";
import { costlyClimbsAfter } from "./cool-down.ts";
import type { Climb, CoolDown, Limit, Open, Probing, State } from "./state.ts";

/** What was measured until `nowMs`. Rates are in requests per second. */
export interface Measured {
  readonly nowMs: number;
  readonly rttMs: number;
  /** Over the last second, and the highest such rate of the last seconds. */
  readonly sent: number;
  readonly sentPeak: number;
  readonly accepted: number;
  readonly acceptedPeak: number;
  /** Ratio of busy answers at the present rate beyond the random ones; 0 if it is too few to tell. */
  readonly busyRatio: number;
  /** Ratio of busy answers while the peer was not overloaded. */
  readonly usualBusyRatio: number;
  /** Busy answers that the last climb cost. */
  readonly climbCost: number;
}

/** What may be sent now: a probe's rate, or the limit; undefined if nothing is limited. */
export function sendRate(state: State): number | undefined {
  if (state.phase === "open") return undefined;
  return state.phase === "probing" ? state.plan.to : state.limit.rate;
}

/** The rate that overload is judged by: what was sent, but no more than was allowed. */
export function sentRate(state: State, { sentPeak }: Measured): number {
  const allowed = state.phase === "open" ? Infinity : state.limit.rate;
  return Math.max(RATE_MIN, Math.min(allowed, sentPeak));
}

/**
 * The peer accepted `acceptedRatio` of what was sent at the rate `sent`, and is overloaded:
 *
 *     rate = min(sent, max(0.98 × acceptedRatio × sent, 0.5 × max(sent, accepted)))
 *
 * A peer that counts by the second refuses everything for the rest of a second, yet accepts as much as
 * before in the next: hence the bound by what was accepted in the last second.
 */
export function cut(state: State, sent: number, acceptedRatio: number, by: Measured): CoolDown {
  const ratio = MARGIN * acceptedRatio;
  const lowest = CUT_MAX * Math.max(sent, by.accepted);
  const rate = Math.min(sent, Math.max(ratio * sent, lowest));
  const goodRate = (): number => {
    const recently = ratio >= CUT_MAX ? by.accepted : by.acceptedPeak;
    return Math.max(rate, MARGIN * Math.min(sent, recently));
  };
  if (state.phase === "open") {
    const limit = {
      goodRate: goodRate(),
      demand: sent,
      overloadedAtMs: by.nowMs,
      climbedFrom: 0,
      costlyClimbs: 0,
    };
    return coolDown({ ...limit, rate, isProven: false, move: "cut" }, by.nowMs);
  }
  const { limit } = state;
  return coolDown(
    {
      ...limit,
      rate,
      goodRate: limit.isProven ? goodRate() : limit.goodRate,
      isProven: false,
      move: "cut",
    },
    by.nowMs,
  );
}

/** Busy answers turned out not to depend on the rate: back to `rate`, which it was before the cuts. */
export function undoCuts({ limit }: CoolDown | Probing, rate: number, nowMs: number): CoolDown {
  const goodRate = Math.max(rate, limit.goodRate);
  return coolDown({ ...limit, rate, goodRate, isProven: true, move: "recover" }, nowMs);
}

/** Whether the rate is about the last good one, so that more would be new to the peer. */
export function isNear({ rate, goodRate }: Limit): boolean {
  return rate >= NEAR * goodRate;
}

/**
 * Whether the demand is back and fits. `hasSpare`: some of the rate was left unused, so that the limit
 * does not hold the demand down.
 */
export function isRecovered({ limit }: CoolDown, { sent }: Measured, hasSpare: boolean): boolean {
  return hasSpare && sent >= RECOVERED * limit.demand;
}

/** Whether so much of the rate is used that answers to a higher one would tell anything. */
export function isUsed({ limit }: CoolDown, { sent }: Measured): boolean {
  return sent >= USED * limit.rate;
}

export function open({ judgedFromMs }: CoolDown): Open {
  return { phase: "open", judgedFromMs };
}

/**
 * Busy answers at the last good rate, too few for a cut: the rate is slightly too high, or other clients
 * take more. Gives way before the next climb, by more the more is sent, which brings clients that share a
 * peer closer together; undefined if there is no need to.
 *
 *     rate × (1 − min(4 × busyRatio, 0.1))
 */
export function giveWay({ limit }: CoolDown, { busyRatio, nowMs }: Measured): CoolDown | undefined {
  if (!isNear(limit) || busyRatio === 0) return undefined;
  const rate = atLeastMin(limit.rate * (1 - Math.min(GIVE_WAY * busyRatio, GIVE_WAY_MAX)));
  return coolDown({ ...limit, rate, goodRate: rate }, nowMs);
}

/** After a cool-down: a probe towards the last good rate, or the first step of a climb beyond it. */
export function startProbe(state: CoolDown, by: Measured): Probing {
  const { limit } = state;
  if (!isNear(limit)) return probe(state, limit, undefined, by);
  const { rate } = limit;
  const costlyClimbs = costlyClimbsAfter(limit, by.climbCost);
  const climb = { startedAtMs: by.nowMs, step: 0, rateBefore: rate };
  return probe(state, { ...limit, climbedFrom: rate, costlyClimbs }, climb, by);
}

/**
 * The peer accepted a probe. The rate becomes the probe's, but twice what was really sent at most; the
 * next probe follows at once, except after the one that leads back to the last good rate.
 */
export function keepProbe(state: Probing, sentPerSecond: number, by: Measured): Probing | CoolDown {
  const { limit, plan } = state;
  const rate = Math.max(limit.rate, Math.min(plan.to, 2 * sentPerSecond));
  const goodRate = Math.max(limit.goodRate, rate);
  const kept: Limit = { ...limit, rate, goodRate, isProven: true, move: "recover" };
  if (plan.climb !== undefined)
    return probe(state, kept, { ...plan.climb, rateBefore: limit.rate }, by);
  return isNear(kept) ? coolDown(kept, by.nowMs) : probe(state, kept, undefined, by);
}

/** The peer said busy to a probe. */
export function failProbe({ limit, plan }: Probing, by: Measured): CoolDown {
  const { rate } = limit;
  if (plan.climb !== undefined) {
    const { step, rateBefore } = plan.climb;
    const back = Math.max(limit.climbedFrom, Math.min(rateBefore, by.accepted));
    const goodRate = step > STEP_LARGE ? Math.max(back, MARGIN * rate) : back;
    return coolDown({ ...limit, rate: atLeastMin(back), goodRate, isProven: false }, by.nowMs);
  }
  // A peer that accepts next to nothing says nothing about its good rate.
  const isTelling = by.accepted >= CUT_MAX * rate;
  const between = (rate + plan.to) / 2;
  const goodRate = isTelling ? Math.max(rate, Math.min(by.acceptedPeak, between)) : limit.goodRate;
  return coolDown({ ...limit, goodRate, isProven: false }, by.nowMs);
}

/** A probe ended without a verdict: too little was sent, or the answers stay out. */
export function dropProbe({ limit }: Probing, nowMs: number): CoolDown {
  return coolDown(limit, nowMs);
}

function coolDown(limit: Limit, nowMs: number): CoolDown {
  const rate = atLeastMin(limit.rate);
  return {
    phase: "cool-down",
    limit: rate === limit.rate ? limit : { ...limit, rate },
    judgedFromMs: nowMs,
    acceptedAtMs: undefined,
  };
}

/**
 * A probe from `limit.rate`: to twice that, up to the last good rate; in a climb by one more step. It
 * lasts for a round trip, and for EXTRA_FAR or EXTRA_NEAR requests more than the known rate has.
 */
function probe(
  { judgedFromMs }: CoolDown | Probing,
  limit: Limit,
  climb: Climb | undefined,
  { nowMs, rttMs, usualBusyRatio }: Measured,
): Probing {
  const { rate: from, goodRate } = limit;
  const step = climb === undefined ? 0 : nextStep(from, climb, nowMs);
  const to = climb === undefined ? Math.min(2 * from, goodRate) : from * (1 + step);
  const extraMs = ((climb === undefined ? EXTRA_FAR : EXTRA_NEAR) * 1000) / (to - from);
  const lengthMinMs = Math.min(PROBE_MAX_MS, Math.max(PROBE_MIN_MS, rttMs));
  const plan = {
    from,
    to,
    startedAtMs: nowMs,
    lengthMs: Math.max(lengthMinMs, extraMs),
    usualBusyRatio,
    climb: climb === undefined ? undefined : { ...climb, step },
  };
  return { phase: "probing", limit, judgedFromMs, plan };
}

/**
 * The first step is 2 %, more at slow rates: EXTRA_NEAR requests in the shortest probe, but at most 5 %,
 * or in a second, but at most 20 %. Steps double once the climb is a second old, up to 25 %.
 */
function nextStep(rate: number, { startedAtMs, step }: Climb, nowMs: number): number {
  const soon = Math.min(STEP_SHORT_MAX, (EXTRA_NEAR * 1000) / (rate * PROBE_MIN_MS));
  const inSecond = Math.min(STEP_SLOW_MAX, EXTRA_NEAR / rate);
  const first = Math.max(STEP, soon, inSecond);
  const isCareful = nowMs - startedAtMs < CAREFUL_MS;
  return Math.min(STEP_MAX, Math.max(first, isCareful ? step : 2 * step));
}

function atLeastMin(rate: number): number {
  return Math.max(RATE_MIN, rate);
}
