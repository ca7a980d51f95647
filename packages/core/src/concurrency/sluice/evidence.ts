import { shiftFrom } from "./baseline.ts";
import type { Baseline } from "./baseline.ts";
import { START_QUEUE, START_QUEUE_ROOT, SURE } from "./constants.ts";
import type { Measured } from "./measured.ts";
import { samplesMaxOf } from "./state.ts";
import type { RttWindow } from "./rtt-window.ts";
import type { State } from "./state.ts";

/** How many attempts wait at the peer, with the standard error. */
export interface Queue {
  readonly queued: number;
  readonly error: number;
}

/** What a window of round trips says. Counts are attempts of `weight`, the mean in the window. */
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

/** Reads a window that is not empty. */
export function evidenceOf(
  { limit }: State,
  baseline: Baseline,
  window: RttWindow,
  nowMs: number,
): Evidence {
  const { rttsMs, meanMs, meanWeight: weight, isReached } = window;
  const attempts = limit / weight;
  const shift = shiftFrom(baseline, rttsMs);
  const inFlight = isReached ? attempts : Math.min(attempts, window.rate(nowMs) * meanMs);
  const queue = queueOf(inFlight, meanMs, shift);
  const isFull = window.isFull(nowMs, samplesMaxOf(attempts));
  return {
    ...queue,
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
