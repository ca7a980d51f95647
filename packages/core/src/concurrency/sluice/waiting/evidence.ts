import { shiftFrom } from "./baseline.ts";
import type { Baseline } from "./baseline.ts";
import {
  SAMPLES_MAX,
  START_COUNT,
  START_COUNT_PER_LIMIT,
  START_QUEUE,
  START_QUEUE_ROOT,
  SURE,
  WINDOW_MIN,
} from "../constants.ts";
import type { Measured } from "./measured.ts";
import { samplesMaxOf } from "../state.ts";
import type { RttWindow } from "./rtt-window.ts";
import type { State } from "../state.ts";

/** How many attempts wait at the peer, with the standard error. */
export interface Queue {
  readonly queued: number;
  readonly error: number;
}

/** What a window of round trips says. Counts are attempts of `weight`, the mean in the rtts. */
export interface Evidence extends Queue {
  readonly nowMs: number;
  readonly rttsMs: readonly number[];
  readonly meanMs: number;
  readonly weight: number;
  /** `rtt − baselineRtt`. */
  readonly shift: Measured;
  readonly baseline: Baseline;
  /** The limit, in attempts. */
  readonly attempts: number;
  readonly isReached: boolean;
  /** Whether the window gets no better by waiting. */
  readonly isFull: boolean;
}

/**
 * Whether a window has enough round trips to be judged. In the start that is a quarter of the limit, for
 * signs of a queue come late; later a whole limit, for as many attempts may end together.
 */
export function isReady(rtts: RttWindow, { phase, limit }: State): boolean {
  const attempts = limit / rtts.meanWeight;
  const whole = Math.max(1, Math.floor(attempts));
  if (phase.name !== "start")
    return rtts.isReady(Math.min(SAMPLES_MAX, Math.max(WINDOW_MIN, whole)));
  const countMin = Math.max(START_COUNT, START_COUNT_PER_LIMIT * attempts);
  return rtts.count >= Math.min(countMin, whole);
}

/** Reads a window that is not empty. */
export function evidenceOf(
  { limit }: State,
  baseline: Baseline,
  rtts: RttWindow,
  nowMs: number,
): Evidence {
  const { rttsMs, meanMs, meanWeight: weight, isReached } = rtts;
  const attempts = limit / weight;
  const shift = shiftFrom(baseline, rttsMs);
  const inFlight = isReached ? attempts : Math.min(attempts, rtts.rate(nowMs) * meanMs);
  const { queued, error } = queueOf(inFlight, meanMs, shift);
  const isFull = rtts.isFull(nowMs, samplesMaxOf(attempts));
  return {
    queued,
    error,
    nowMs,
    rttsMs,
    meanMs,
    weight,
    shift,
    baseline,
    attempts,
    isReached,
    isFull,
  };
}

/**
 * Little's law: as large a part of the attempts in flight waits as of the round trip is waiting.
 * `queued ≈ inFlight × (rtt − baselineRtt) ÷ rtt = inFlight × (1 − baselineRtt ÷ rtt)`
 */
export function queueOf(inFlight: number, meanMs: number, shift: Measured): Queue {
  // Round trips below the clock's resolution have no queue.
  if (meanMs === 0) return { queued: 0, error: 0 };
  const perMs = inFlight / meanMs;
  return { queued: perMs * shift.valueMs, error: perMs * shift.errorMs };
}

/** Whether the queue is surely longer than the start may cause. */
export function endsStart({ queued, error }: Queue, attempts: number): boolean {
  return queued - SURE * error > Math.max(START_QUEUE, START_QUEUE_ROOT * Math.sqrt(attempts));
}
