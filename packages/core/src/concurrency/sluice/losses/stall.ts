import {
  OUTAGE_PROBES,
  OUTAGE_RESUME,
  STALL_ATTEMPTS,
  STALL_MIN_MS,
  STALL_ROUND_TRIPS,
} from "../constants.ts";
import { cutTo } from "../state.ts";
import type { OutagePhase, Ruling, State } from "../state.ts";
import { endProbe } from "../phases/probe.ts";

/**
 * Silence after which a peer that has `attempts` in flight is down. Answers of a healthy one come
 * `attempts` to a round trip, so silence of `10 ÷ attempts` round trips is no chance.
 */
export function stallAfterMs(rttMs: number, attempts: number): number {
  return Math.max(STALL_MIN_MS, rttMs * Math.max(STALL_ROUND_TRIPS, STALL_ATTEMPTS / attempts));
}

/**
 * The limit is full and the peer silent. Probes start beyond what is in flight, which may hang until its
 * timeout: at most 12, at most as many as the limit, and never beyond `maxLimit`.
 */
export function stall(state: State, inFlight: number, nowMs: number, maxLimit: number): Ruling {
  const { limit } = state;
  const { phase: interrupted } = endProbe(state);
  if (interrupted.name === "outage") return { state, cause: undefined, window: "keep" };
  const phase = { name: "outage", resumeLimit: limit, interrupted } as const;
  const probes = Math.min(OUTAGE_PROBES, Math.floor(limit));
  const most = Math.max(Math.floor(limit), Math.min(maxLimit, inFlight + probes));
  return cutTo(state, { limit: most, phase }, { nowMs, cause: "probe" }, Math.floor(limit));
}

/**
 * An attempt is served before any was lost: all is as it was before the silence. Losses of attempts that
 * started before the served one, at `startedAtMs`, tell of the silence and not of load.
 */
export function endStall(state: State, phase: OutagePhase, startedAtMs: number): Ruling {
  const { resumeLimit, interrupted = phase } = phase;
  const cut = { ...state.cut, atMs: Math.max(state.cut.atMs, startedAtMs) };
  const resumed: State = { ...state, limit: resumeLimit, phase: interrupted, cut };
  return { state: resumed, cause: "room", window: "settle" };
}

/** An attempt is lost in an outage. What hung since the silence began takes its part of the limit along. */
export function lostInOutage(state: State, phase: OutagePhase, weight: number): State {
  const { interrupted } = phase;
  const limit = Math.max(Math.min(OUTAGE_PROBES, state.limit), state.limit - weight);
  const resumeLimit = phase.resumeLimit * (interrupted === undefined ? 1 : OUTAGE_RESUME);
  return { ...state, limit, phase: { name: "outage", resumeLimit } };
}
