import type { Random } from "../../../random.ts";
import type { LimitCause } from "../../algorithm.ts";
import {
  BASELINE_AGE_MS,
  DRAIN_BASELINE,
  DRAIN_QUEUE,
  HOLD_QUEUE,
  PROBE_ROUND_TRIPS,
  QUEUE_LONG,
  QUEUE_LONG_ROOT,
  QUEUE_SHORT_MAX,
  QUEUE_SHORT_MIN,
  QUEUE_SHORT_ROOT,
  ROOM_MAX,
  ROOM_MIN,
  ROOM_ROOT,
  ROOM_ROOT_MAX,
  ROUND_TRIP_MIN_MS,
  SURE,
  SURE_EARLY,
} from "../constants.ts";
import type { Evidence } from "../waiting/evidence.ts";
import { held, isNearEdge, stepOf, stoppedAt } from "./growth.ts";
import { isShared } from "./sharing.ts";
import { cutTo, samplesMaxOf, wholeLimitOf } from "../state.ts";
import type { Probe, Ruling, State } from "../state.ts";

/** What a ruling needs beside the evidence. */
export interface Settings {
  readonly maxLimit: number;
  readonly random: Random;
  /** The recent peak rate of attempts served. */
  readonly servedPerSecond: number;
}

/**
 * Judges a window of the cruise. Undefined: it says too little yet.
 *
 * | the queue is | then |
 * | --- | --- |
 * | surely long | drain it, and resume the limit below it |
 * | unclear, and the window can get better | wait for more round trips |
 * | anything, but the limit was not reached | leave the limit: `idle` |
 * | short | probe for more |
 * | not short, and the baseline is old | drain to measure the baseline: other clients may be the queue |
 * | surely not short | one attempt less |
 * | otherwise | leave the limit: `steady` |
 */
export function judgeCruise(
  state: State,
  probe: Probe | undefined,
  seen: Evidence,
  settings: Settings,
): Ruling | undefined {
  if (isLong(seen)) return drainQueue(state, seen, settings);
  const hasRoom = isShort(state, seen);
  if (!hasRoom && !seen.isFull) return undefined;
  const well: State = { ...state, cut: { ...state.cut, inARow: 0 } };
  if (!seen.isReached) return stay(well, "idle", seen);
  if (hasRoom) return tryMore(well, probe, seen, settings);
  if (isBaselineOld(seen)) return { ...drainForBaseline(well, seen), isWell: true };
  return shrink(well, seen, settings);
}

/** Bounds that grow with √limit, for the error of a queue does so too. */
function isLong({ queued, error, attempts, isFull }: Evidence): boolean {
  const least = queued - (isFull ? SURE : SURE_EARLY) * error;
  return least > Math.max(QUEUE_LONG, QUEUE_LONG_ROOT * Math.sqrt(attempts));
}

function isShort({ growth, limit }: State, seen: Evidence): boolean {
  const { nowMs, queued, error, attempts, isFull } = seen;
  const root = Math.sqrt(attempts);
  // Near an edge growth is slow anyway, so the window may become more certain first.
  const isRough = isFull || !isNearEdge(growth, limit, nowMs);
  const tolerated = Math.min(Math.max(ROOM_MAX, ROOM_ROOT_MAX * root), ROOM_MIN + error);
  return queued + (isRough ? 0 : error) < Math.max(ROOM_ROOT * root, tolerated);
}

/** A baseline of few samples is renewed sooner: it may be off by more than what queues. */
function isBaselineOld({ baseline, attempts, nowMs }: Evidence): boolean {
  const samples = Math.min(1, baseline.rttsMs.length / samplesMaxOf(attempts));
  return nowMs - baseline.measuredAtMs >= BASELINE_AGE_MS * samples;
}

/**
 * What waiting lowers the limit to at most: by Little's law `perSecond × rtt` with the shortest round trip that counts.
 * Less in flight would only wait for the event loop on both sides.
 */
function leastOf({ limit }: State, { weight }: Evidence, { servedPerSecond }: Settings): number {
  const inFlight = (servedPerSecond * ROUND_TRIP_MIN_MS) / 1000;
  return Math.min(limit, Math.max(1, inFlight * weight));
}

function drainQueue(state: State, seen: Evidence, settings: Settings): Ruling {
  const { nowMs, meanMs, queued, weight } = seen;
  const limitBefore = state.limit;
  const resumeLimit = Math.max(leastOf(state, seen, settings), limitBefore - queued * weight);
  const growth = stoppedAt(state.growth, resumeLimit, { nowMs, rttMs: meanMs });
  const phase = { name: "drain", reason: "queue", limitBefore, resumeLimit } as const;
  const limit = Math.max(1, DRAIN_QUEUE * resumeLimit);
  const reason = { nowMs, cause: "slower" } as const;
  return cutTo(state, { limit, phase, growth }, reason, Math.floor(resumeLimit));
}

function drainForBaseline(state: State, { nowMs }: Evidence): Ruling {
  const limitBefore = state.limit;
  const phase = {
    name: "drain",
    reason: "baseline",
    limitBefore,
    resumeLimit: limitBefore,
  } as const;
  const limit = Math.max(1, DRAIN_BASELINE * limitBefore);
  return cutTo(state, { limit, phase }, { nowMs, cause: "drain" }, Math.floor(limitBefore));
}

function tryMore(
  state: State,
  probe: Probe | undefined,
  seen: Evidence,
  { maxLimit }: Settings,
): Ruling {
  const { nowMs, meanMs, attempts, weight } = seen;
  const whole = wholeLimitOf(state);
  if (probe !== undefined && nowMs - probe.sinceMs <= PROBE_ROUND_TRIPS * meanMs)
    return stay(state, "steady", seen);
  const { growth, limit } = state;
  const room = maxLimit - whole;
  if (nowMs < growth.heldUntilMs || room === 0) {
    const waiting: State = { ...state, phase: { name: "cruise", probe: undefined } };
    return { ...stay(waiting, "steady", seen), triedUpTo: whole };
  }
  const isNear = isNearEdge(growth, limit, nowMs) || isShared(state, nowMs);
  const step = Math.min(room, Math.ceil(stepOf(growth, attempts, isNear) * weight));
  const probing: State = {
    ...state,
    phase: { name: "cruise", probe: probeOf(step, nowMs) },
    growth: isNear ? { ...growth, streak: 0 } : growth,
  };
  return { ...stay(probing, "probe", seen), triedUpTo: whole };
}

function probeOf(step: number, nowMs: number): Probe {
  const times = { sinceMs: nowMs, lastStartMs: nowMs };
  return { step, left: step, out: 0, lost: 0, isYield: false, ...times };
}

function shrink(state: State, seen: Evidence, settings: Settings): Ruling {
  const { nowMs, meanMs, queued, error, attempts, weight } = seen;
  const stopped = { ...state.growth, streak: 0 };
  const growth = held(stopped, HOLD_QUEUE, { nowMs, rttMs: meanMs }, settings.random);
  const tolerated = Math.min(QUEUE_SHORT_MAX, QUEUE_SHORT_MIN + error);
  const isTolerated =
    queued - SURE * error <= Math.max(QUEUE_SHORT_ROOT * Math.sqrt(attempts), tolerated);
  if (isTolerated) return stay({ ...state, growth }, "steady", seen);
  const limit = Math.max(leastOf(state, seen, settings), state.limit - weight);
  return { ...stay({ ...state, growth, limit }, "slower", seen), window: "settle" };
}

function stay(state: State, cause: LimitCause, { meanMs }: Evidence): Ruling {
  return { state, cause, rttMs: meanMs, window: "restart", isWell: true };
}
