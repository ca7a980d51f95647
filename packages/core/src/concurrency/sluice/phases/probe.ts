import type { Random } from "../../../random.ts";
import type { EndedAttempt } from "../../algorithm.ts";
import { HOLD_QUEUE, HOLD_SHARED, PROBE_REST } from "../constants.ts";
import { wholeLimitOf } from "../state.ts";
import type { Probe, Ruling, State } from "../state.ts";
import { held } from "./growth.ts";
import { isShared, isTaken, moved, shared } from "./sharing.ts";

interface ProbeSettings {
  readonly maxLimit: number;
  readonly random: Random;
  readonly rttMs: number;
}

/** Whether an attempt belongs to the probe under way. */
export function isProbe(
  state: State,
  { inFlightAtStart, startedAtMs }: Pick<EndedAttempt, "inFlightAtStart" | "startedAtMs">,
): boolean {
  const probe = probeOf(state);
  if (probe === undefined || probe.out === 0 || inFlightAtStart <= wholeLimitOf(state))
    return false;
  return startedAtMs >= probe.sinceMs && startedAtMs <= probe.lastStartMs;
}

/** Whether the probe under way is one attempt of `weight`, and none that takes back a yield. */
export function isSingleProbe(state: State, weight: number): boolean {
  const probe = probeOf(state);
  return probe !== undefined && !probe.isYield && probe.step <= weight;
}

/** Whether the probe under way takes back a yield: its losses tell of other clients only. */
export function isYieldProbe(state: State): boolean {
  return probeOf(state)?.isYield === true;
}

/** An attempt of `weight` starts: it is part of the probe if it goes beyond the limit. */
export function onProbeStart(
  state: State,
  { nowMs, inFlight, weight }: { nowMs: number; inFlight: number; weight: number },
): State {
  const probe = probeOf(state);
  if (probe === undefined || probe.left === 0 || inFlight <= wholeLimitOf(state)) return state;
  const left = Math.max(0, probe.left - weight);
  const next = { ...probe, left, out: probe.out + 1, lastStartMs: nowMs };
  return { ...state, phase: { name: "cruise", probe: next } };
}

/** An attempt of the probe ended, served or lost. The limit takes the step once all of them have. */
export function onProbeEnd(
  state: State,
  { endedAtMs: nowMs, weight }: Pick<EndedAttempt, "endedAtMs" | "weight">,
  isServed: boolean,
  { maxLimit, random, rttMs }: ProbeSettings,
): Ruling {
  const before = probeOf(state);
  if (before === undefined) return { state, cause: undefined, window: "keep" };
  const lost = before.lost + (isServed ? 0 : weight);
  const probe: Probe = { ...before, out: before.out - 1, lost };
  // The slowest of many answers is not worth waiting for, unless an answer may never come.
  const isSilentLossLikely = lost > 0 || probe.isYield || state.sharing.isLimitKnown;
  const rest = isSilentLossLikely ? 0 : PROBE_REST * (probe.step / weight);
  if (probe.out > rest || probe.left > 0) {
    const waiting: State = { ...state, phase: { name: "cruise", probe } };
    return { state: waiting, cause: undefined, window: "keep" };
  }
  // Lost attempts add nothing, random or not: a peer that refuses them is not overrun.
  const step = Math.max(0, probe.step - lost);
  if (step === 0 && !probe.isYield) return refused(state, { nowMs, rttMs }, random);
  const limit = Math.min(maxLimit, state.limit + step);
  const known = isTaken(probe) ? shared(state, nowMs) : moved(state, Math.floor(limit), nowMs);
  const stepped = { ...state.growth, streak: state.growth.streak + 1 };
  const growth = isShared(known, nowMs)
    ? held(stepped, HOLD_SHARED, { nowMs, rttMs }, random)
    : stepped;
  return { state: { ...endProbe(known), limit, growth }, cause: "room", window: "settle" };
}

function refused(
  state: State,
  now: { readonly nowMs: number; readonly rttMs: number },
  random: Random,
): Ruling {
  const growth = held({ ...state.growth, streak: 0 }, HOLD_QUEUE, now, random);
  const triedUpTo = wholeLimitOf(state);
  return { state: { ...endProbe(state), growth }, cause: "steady", window: "keep", triedUpTo };
}

/** An attempt of the probe told nothing: no step, and what it tried counts as never tried. */
export function onProbeIgnored(state: State): Ruling {
  const triedUpTo = wholeLimitOf(state);
  return { state: endProbe(state), cause: undefined, window: "keep", triedUpTo };
}

/** The state without a probe. */
export function endProbe(state: State): State {
  if (probeOf(state) === undefined) return state;
  return { ...state, phase: { name: "cruise", probe: undefined } };
}

function probeOf({ phase }: State): Probe | undefined {
  return phase.name === "cruise" ? phase.probe : undefined;
}
