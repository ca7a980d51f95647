import { baselineOf, extended, isExceeded, shiftFrom } from "../waiting/baseline.ts";
import {
  BASELINE_DIFFERS,
  DRAIN_ERROR,
  DRAIN_MIN,
  SAMPLES_MAX,
  SLOWER,
  SLOWER_RESUME,
  START_DRAIN,
  YIELD_MIN_MS,
} from "../constants.ts";
import { endsStart, queueOf } from "../waiting/evidence.ts";
import type { Evidence } from "../waiting/evidence.ts";
import { released } from "./growth.ts";
import { meanOf } from "../waiting/measured.ts";
import { cutTo, samplesMaxOf, wholeLimitOf } from "../state.ts";
import type { DrainPhase, Ruling, State } from "../state.ts";

/**
 * Judges a drained window: what is measured now is the peer without a queue of ours, so it becomes the
 * baseline or joins it. Undefined: too few round trips yet.
 */
export function judgeDrain(state: State, drain: DrainPhase, seen: Evidence): Ruling | undefined {
  if (!isMeasured(drain, seen)) return undefined;
  if (drain.reason === "yield") return endYield(state, drain, seen);
  const { nowMs, meanMs, rttsMs, baseline } = seen;
  const isSlower = isExceeded(baseline, rttsMs, SLOWER);
  // Even a third of what ended the start may be too much for a small peer.
  if (drain.reason === "start" && isSlower && state.limit >= 2) {
    const change = { limit: Math.max(1, START_DRAIN * state.limit), phase: drain };
    return cutTo(state, change, { nowMs, cause: "drain" }, Math.floor(drain.resumeLimit));
  }
  const settled = { state: baselined(state, drain, seen, isSlower), cause: "drain" } as const;
  return { ...settled, rttMs: meanMs, window: "settle" };
}

/** Takes back what was yielded, by a probe: others may have taken it. */
function endYield(state: State, { resumeLimit }: DrainPhase, seen: Evidence): Ruling | undefined {
  const { nowMs, meanMs } = seen;
  if (nowMs - state.cut.atMs < YIELD_MIN_MS) return undefined;
  const step = Math.max(1, Math.floor(resumeLimit) - wholeLimitOf(state));
  const times = { sinceMs: nowMs, lastStartMs: nowMs };
  const probe = { step, left: step, out: 0, lost: 0, isYield: true, ...times };
  const resumed: State = { ...state, phase: { name: "cruise", probe } };
  return { state: resumed, cause: "probe", rttMs: meanMs, window: "restart" };
}

function isMeasured(
  drain: DrainPhase,
  { rttsMs, shift, meanMs, weight, isFull }: Evidence,
): boolean {
  const countMin = Math.min(SAMPLES_MAX, Math.max(DRAIN_MIN, drain.resumeLimit / weight));
  return rttsMs.length >= countMin || shift.errorMs <= DRAIN_ERROR * meanMs || isFull;
}

/** The state after a drain that has measured the peer. */
function baselined(state: State, drain: DrainPhase, seen: Evidence, isSlower: boolean): State {
  const { nowMs, rttsMs, attempts } = seen;
  const fresh = baselineOf(rttsMs, nowMs);
  const added = extended(seen.baseline, rttsMs, samplesMaxOf(attempts), nowMs);
  const phase = { name: "cruise", probe: undefined } as const;
  switch (drain.reason) {
    case "start":
      return resumeStart({ ...state, phase, baseline: fresh }, drain, seen);
    case "queue": {
      if (!isSlower) return { ...state, phase, baseline: added, limit: drain.resumeLimit };
      // Drained, and as slow: the peer has become slower. Most of what was cut off was no queue.
      const limit = Math.max(drain.resumeLimit, SLOWER_RESUME * drain.limitBefore);
      return { ...state, phase, baseline: fresh, limit, growth: released(state.growth) };
    }
    case "yield":
    case "baseline": {
      const isDifferent = Math.abs(seen.queued) > BASELINE_DIFFERS * seen.error;
      const baseline = isDifferent ? fresh : added;
      return { ...state, phase, baseline, limit: drain.resumeLimit };
    }
  }
}

/**
 * Judges again what ended the start. While a limit grows, slow attempts have not ended yet, and a
 * baseline of the fast ones shows a queue where there is none.
 */
function resumeStart(
  state: State,
  { startRttsMs, resumeLimit }: DrainPhase & { readonly reason: "start" },
  { weight }: Evidence,
): State {
  const { baseline } = state;
  if (baseline === undefined) return state;
  const attempts = resumeLimit / weight;
  const queue = queueOf(attempts, meanOf(startRttsMs).valueMs, shiftFrom(baseline, startRttsMs));
  if (!endsStart(queue, attempts))
    return { ...state, phase: { name: "start" }, limit: resumeLimit };
  const least = Math.max(0, queue.queued - queue.error) * weight;
  return { ...state, limit: Math.max(state.limit, resumeLimit - least) };
}
