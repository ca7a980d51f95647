import type { Random } from "../../../random.ts";
import type { EndedAttempt } from "../../algorithm.ts";
import {
  COOL_DOWN_MAX_MS,
  HOLD_LOSS,
  HOLD_SHARED,
  OUTAGE_PROBE_JITTER,
  OUTAGE_PROBE_MIN_PER_SECOND,
  OUTAGE_PROBES,
  OUTAGE_RESUME,
  OVERTAKEN,
  SUSPECT_REFUTED,
} from "../constants.ts";
import { held, released, stoppedAt } from "../phases/growth.ts";
import { endProbe } from "../phases/probe.ts";
import { ALONE, isShared, shared, sharedCut } from "../phases/sharing.ts";
import { cutTo, wholeLimitOf } from "../state.ts";
import type { Ruling, State } from "../state.ts";

/** A loss that counts as caused by our load. */
export interface Loss {
  readonly nowMs: number;
  readonly cause: "busy" | "failed";
  /** Whether the attempt was beyond the limit. */
  readonly isProbe: boolean;
  /** Whether it ended far later than attempts that are served: by a timeout. */
  readonly isSilent: boolean;
  /** Mean round trip. */
  readonly rttMs: number;
  /** The highest number in flight that the losses leave as good; undefined if they do not tell. */
  readonly mostBelow: number | undefined;
  /** Attempts accepted a second; undefined if nothing is served since the last cut. */
  readonly acceptedPerSecond: number | undefined;
  readonly maxLimit: number;
  /** The recent peak of attempts served a second; Infinity if nothing was ever served. */
  readonly servedPerSecond: number;
}

/** How starts are slowed down: nothing starts for a time, and then below a rate; or only probes start. */
type Slowdown =
  | { readonly kind: "pace"; readonly coolDownMs: number; readonly perSecond: number }
  | { readonly kind: "probes"; readonly perSecond: number };

type Slowed = Pick<State, "limit" | "phase"> & { readonly slowdown: Slowdown | undefined };

/**
 * Rules on a loss that our load caused.
 *
 * | the loss is | then |
 * | --- | --- |
 * | at a number in flight never served before | the limit goes one below: the peer limits concurrency |
 * | at another, while attempts are served | starts are paced: the peer limits a rate, or is shared |
 * | at another, and nothing is served | outage: single attempts, 83 to 100 ms apart |
 */
export function judgeLoss(
  state: State,
  loss: Loss,
  random: Random,
): { readonly ruling: Ruling; readonly slowdown: Slowdown | undefined } {
  const { nowMs, rttMs, cause, mostBelow, isProbe, isSilent } = loss;
  // A limit that was found before no longer holds: it has become smaller, or others have come.
  const isOthers = isSilent && !isProbe && state.sharing.isLimitKnown;
  const known = isOthers ? shared(state, nowMs) : state;
  const { limit, phase, slowdown } = slowed(
    known,
    loss,
    probesPerSecondOf(loss.servedPerSecond, rttMs, random),
  );
  const stopped = stoppedAt(state.growth, limit, { nowMs, rttMs });
  const hold = isShared(known, nowMs) ? HOLD_SHARED : HOLD_LOSS;
  const growth = held(stopped, hold, { nowMs, rttMs }, random);
  const cut = { ...state.cut, inARow: state.cut.inARow + 1 };
  const own = { limit: state.limit, isStart: state.phase.name === "start" };
  const before = state.cut.inARow > 0 ? (state.cut.before ?? own) : own;
  const reason = { nowMs, cause, isExplained: mostBelow !== undefined, before };
  return { ruling: cutTo({ ...known, cut }, { limit, phase, growth }, reason), slowdown };
}

function slowed(
  state: State,
  { nowMs, isSilent, rttMs, mostBelow, acceptedPerSecond, maxLimit }: Loss,
  probesPerSecond: number,
): Slowed {
  const { limit } = state;
  const cruise = { name: "cruise", probe: undefined } as const;
  if (mostBelow !== undefined) {
    const most = Math.min(limit, mostBelow);
    const isMany = isSilent && isShared(state, nowMs);
    return { limit: isMany ? sharedCut(most) : most, phase: cruise, slowdown: undefined };
  }
  if (acceptedPerSecond !== undefined && isSilent && isShared(state, nowMs))
    return { limit: sharedCut(limit), phase: cruise, slowdown: undefined };
  if (acceptedPerSecond !== undefined) {
    const coolDownMs = Math.min(COOL_DOWN_MAX_MS, rttMs);
    const slowdown = { kind: "pace", coolDownMs, perSecond: acceptedPerSecond } as const;
    return { limit, phase: cruise, slowdown };
  }
  const outage = { name: "outage", resumeLimit: OUTAGE_RESUME * limit } as const;
  const slowdown = { kind: "probes", perSecond: probesPerSecond } as const;
  return { limit: Math.min(OUTAGE_PROBES, maxLimit), phase: outage, slowdown };
}

/**
 * The losses that lowered the limit were random. It grows from what is in flight by slow start: a jump
 * would end its random losses in one burst, a timeout later.
 */
export function undoCut(state: State, inFlight: number): Ruling {
  const { before } = state.cut;
  const isStart = before === undefined || before.isStart;
  const resumed: State = {
    ...state,
    limit: Math.max(1, Math.min(state.limit, inFlight)),
    phase: isStart ? { name: "start" } : { name: "start", ceiling: before.limit },
    growth: released(state.growth),
    sharing: ALONE,
    cut: { ...state.cut, inARow: 0, before: undefined },
    suspect: undefined,
  };
  return { state: resumed, cause: "room", window: "settle" };
}

/**
 * Drawn, so that clients do not probe in step. A slow peer gets at most half of what it served, or of what
 * one attempt at a time would be: a client that others have starved was served next to nothing.
 */
export function probesPerSecondOf(servedPerSecond: number, rttMs: number, random: Random): number {
  const most = OUTAGE_PROBE_MIN_PER_SECOND * (1 + OUTAGE_PROBE_JITTER * random.next());
  return Math.min(most, Math.max(1, servedPerSecond / 2, 500 / rttMs));
}

/** The first attempt served ends an outage. A peer that was down from the beginning starts now. */
export function endOutage(state: State, resumeLimit: number, startedAtMs: number): Ruling {
  const limit = Math.max(1, resumeLimit);
  // Probes that started earlier may still time out, which says nothing about the peer that is back.
  const cut = { ...state.cut, atMs: startedAtMs };
  const resumed: State =
    state.baseline === undefined
      ? {
          ...shared(state, startedAtMs),
          cut,
          limit,
          phase: { name: "start" },
          growth: released(state.growth),
        }
      : { ...state, cut, limit, sharing: ALONE, phase: { name: "cruise", probe: undefined } };
  return { state: resumed, cause: "room", window: "settle" };
}

/**
 * Notes a loss at a number in flight never tried before. Losses overtake each other, so the lowest
 * number is kept. The loss of a single attempt says nothing about a number.
 */
export function suspected(state: State, { inFlightAtStart, endedAtMs }: EndedAttempt): State {
  if (inFlightAtStart === 1) return state;
  const limit = Math.min(inFlightAtStart - 1, state.suspect?.limit ?? inFlightAtStart);
  return { ...state, suspect: { limit, atMs: endedAtMs } };
}

/**
 * An attempt that started after the loss and was served with more in flight clears the suspicion: the
 * loss was random. Attempts that were in flight with it do not, for a peer that never answers a lost
 * attempt has fewer in service than it seems.
 */
export function cleared(state: State, { startedAtMs, inFlightAtStart }: EndedAttempt): State {
  const { suspect } = state;
  if (suspect === undefined || startedAtMs <= suspect.atMs) return state;
  return inFlightAtStart > suspect.limit ? { ...state, suspect: undefined } : state;
}

/**
 * A peer that serves far more at once than the suspicion allows refutes it. By Little's law it serves
 * `atOnce = acceptedPerSecond × rtt`. In a slow start with silent losses all numbers are tried before the
 * first loss is known, and 95 of 100 attempts with more in flight were served.
 */
export function refuted(state: State, atOnce: number): State {
  const { suspect } = state;
  if (suspect === undefined || atOnce <= SUSPECT_REFUTED * suspect.limit) return state;
  return { ...state, suspect: undefined };
}

/**
 * A loss of an attempt that started before the cut. One with a slightly lower number in flight corrects
 * an explained cut; `isFirst`: that number was never tried before. Other late losses do nothing.
 */
export function correctCut(
  state: State,
  { inFlightAtStart }: EndedAttempt,
  cause: "busy" | "failed",
  isFirst: boolean,
): Ruling | undefined {
  const { limit, cut } = state;
  const isNear = inFlightAtStart <= limit && inFlightAtStart > OVERTAKEN * limit;
  if (!cut.isExplained || !isFirst || !isNear || inFlightAtStart === 1) return undefined;
  const corrected = { ...endProbe(state), limit: inFlightAtStart - 1 };
  return { state: corrected, cause, window: "keep", triedUpTo: wholeLimitOf(corrected) };
}
