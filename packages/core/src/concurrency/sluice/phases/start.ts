import { extended } from "../waiting/baseline.ts";
import { START_DRAIN, START_GAIN, START_SAMPLES, SURE } from "../constants.ts";
import { endsStart } from "../waiting/evidence.ts";
import type { Evidence } from "../waiting/evidence.ts";
import { cutTo, samplesMaxOf } from "../state.ts";
import type { Ruling, State } from "../state.ts";

/** Slow start: an attempt of `weight` was served while the limit was reached. */
export function growStart(state: State, weight: number, maxLimit: number): State {
  return {
    ...state,
    limit: Math.min(ceilingOf(state, maxLimit), state.limit + START_GAIN * weight),
  };
}

function ceilingOf({ phase, limit }: State, maxLimit: number): number {
  const ceiling = phase.name === "start" ? (phase.ceiling ?? maxLimit) : maxLimit;
  return Math.min(maxLimit, Math.max(limit, ceiling));
}

/** A queue ends the start. A window without one improves the baseline. */
export function judgeStart(state: State, seen: Evidence, maxLimit: number): Ruling {
  const { limit, growth } = state;
  const { nowMs, meanMs, rttsMs, queued, error, attempts, baseline } = seen;
  if (endsStart(seen, attempts)) {
    const phase = {
      name: "drain",
      reason: "start",
      limitBefore: limit,
      resumeLimit: limit,
      startRttsMs: rttsMs,
    } as const;
    const drained = Math.max(1, START_DRAIN * limit);
    const change = { limit: drained, phase, growth: { ...growth, streak: 0 } };
    return cutTo(state, change, { nowMs, cause: "slower" }, Math.floor(limit));
  }
  const isBetter = queued <= SURE * error && baseline.rttsMs.length < START_SAMPLES;
  return {
    state: {
      ...state,
      baseline: isBetter ? extended(baseline, rttsMs, samplesMaxOf(attempts), nowMs) : baseline,
      phase:
        limit >= ceilingOf(state, maxLimit) ? { name: "cruise", probe: undefined } : state.phase,
    },
    cause: "start",
    rttMs: meanMs,
    window: "restart",
  };
}
