import type { Random } from "../../random.ts";
import type { EndedAttempt } from "../algorithm.ts";
import {
  COOL_DOWN_MAX_MS,
  COOL_DOWN_MIN_MS,
  HOLD_LOSS,
  OUTAGE_RESUME,
  OVERTAKEN,
} from "./constants.ts";
import { held, released, stoppedAt } from "./growth.ts";
import { endProbe } from "./probe.ts";
import { cutTo, wholeLimitOf } from "./state.ts";
import type { Ruling, State } from "./state.ts";

/** A loss that counts as caused by our load. */
export interface Loss {
  readonly nowMs: number;
  readonly cause: "busy" | "failed";
  /** Mean round trip. */
  readonly rttMs: number;
  /** The highest number in flight that the losses leave as good; undefined if they do not tell. */
  readonly mostBelow: number | undefined;
  /** Attempts accepted a second; undefined if nothing is served since the last cut. */
  readonly acceptedPerSecond: number | undefined;
}

/** How starts are slowed down: nothing starts for a time, and then below a rate if one is known. */
interface Slowdown {
  readonly coolDownMs: number;
  readonly toPerSecond: number | undefined;
}

type Slowed = Pick<State, "limit" | "phase"> & { readonly slowdown: Slowdown | undefined };

/**
 * Rules on a loss that our load caused.
 *
 * | the loss is | then |
 * | --- | --- |
 * | at a number in flight never served before | the limit goes one below: the peer limits concurrency |
 * | at another, while attempts are served | starts are paced: the peer limits a rate, or is shared |
 * | at another, and nothing is served | outage: single attempts, cool-downs double from 100 ms to 2 s |
 */
export function judgeLoss(
  state: State,
  loss: Loss,
  random: Random,
): { readonly ruling: Ruling; readonly slowdown: Slowdown | undefined } {
  const { nowMs, rttMs, cause, mostBelow } = loss;
  const { limit, phase, slowdown } = slowed(state, loss);
  const stopped = stoppedAt(state.growth, limit, { nowMs, rttMs });
  const growth = held(stopped, HOLD_LOSS, { nowMs, rttMs }, random);
  const cut = { ...state.cut, inARow: state.cut.inARow + 1 };
  const reason = { nowMs, cause, isExplained: mostBelow !== undefined };
  return { ruling: cutTo({ ...state, cut }, { limit, phase, growth }, reason), slowdown };
}

function slowed({ limit, phase }: State, { rttMs, mostBelow, acceptedPerSecond }: Loss): Slowed {
  const cruise = { name: "cruise", probe: undefined } as const;
  if (mostBelow !== undefined)
    return { limit: Math.min(limit, mostBelow), phase: cruise, slowdown: undefined };
  if (acceptedPerSecond !== undefined) {
    const coolDownMs = Math.min(COOL_DOWN_MAX_MS, rttMs);
    return { limit, phase: cruise, slowdown: { coolDownMs, toPerSecond: acceptedPerSecond } };
  }
  const isAgain = phase.name === "outage";
  const longerMs = Math.max(COOL_DOWN_MIN_MS, rttMs, isAgain ? 2 * phase.coolDownMs : 0);
  const coolDownMs = Math.min(COOL_DOWN_MAX_MS, longerMs);
  const resumeLimit = isAgain ? phase.resumeLimit : OUTAGE_RESUME * limit;
  const outage = { name: "outage", resumeLimit, coolDownMs } as const;
  return { limit: 1, phase: outage, slowdown: { coolDownMs, toPerSecond: undefined } };
}

/** The first attempt served ends an outage. A peer that was down from the beginning starts now. */
export function endOutage(state: State, resumeLimit: number): Ruling {
  const limit = Math.max(1, resumeLimit);
  const resumed: State =
    state.baseline === undefined
      ? { ...state, limit, phase: { name: "start" }, growth: released(state.growth) }
      : { ...state, limit, phase: { name: "cruise", probe: undefined } };
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
