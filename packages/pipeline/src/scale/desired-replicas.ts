import { requireDuration, requireWhole } from "@sluice/core/internal";

/** What is known of a vertex and its replicas. */
export interface ScaleState {
  /** Replicas that run now. */
  readonly replicas: number;
  /** Messages that wait to be read; undefined if the source does not say. */
  readonly backlog: number | undefined;
  /** Messages a second that all replicas read together. */
  readonly perSecond: number;
  /** Messages a second that one busy replica can read; undefined: `perSecond ÷ replicas`. */
  readonly perReplica?: number | undefined;
  /** The ceiling of the vertex's rate limit at present, ramp included, messages a second; undefined: not limited. */
  readonly ceiling: number | undefined;
}

export interface ScaleSettings {
  /** Default: 1. */
  readonly min?: number | undefined;
  /** Default: 50. */
  readonly max?: number | undefined;
  /** A backlog should be worked off within this time, ms. Longer: fewer replicas. Default: 20 000, as in Numaflow. */
  readonly targetMs?: number | undefined;
  /** Replicas that are added or removed at once, at most. Default: 2, as in Numaflow. */
  readonly stepMax?: number | undefined;
}

export interface ScaleDecision {
  readonly replicas: number;
  /**
   * Why: `ceiling`, because the rate limit and not the replicas holds messages back; `backlog`, to work it off;
   * `idle`, because fewer suffice; `bounds`, because of `min` or `max`; `steady` otherwise.
   */
  readonly reason: "ceiling" | "backlog" | "idle" | "bounds" | "steady";
}

/** Use of the ceiling, from 0 to 1, from which on the ceiling counts as the limit; a rate is measured to a few percent. */
const AT_CEILING = 0.95;

/**
 * How many replicas a vertex should have: `(perSecond + backlog ÷ target) ÷ perReplica`, never more than now while
 * the ceiling of its rate limit is what holds it back: further replicas would only divide it. Below `min` that
 * does not count.
 */
export function desiredReplicas(state: ScaleState, settings: ScaleSettings = {}): ScaleDecision {
  const { min = 1, max = 50, targetMs = 20_000, stepMax = 2 } = settings;
  requireWhole("min", min, 0);
  requireWhole("max", max, min);
  requireDuration("targetMs", targetMs, 1);
  requireWhole("stepMax", stepMax, 1);
  const { replicas } = state;
  const wanted = wantedReplicas(state, targetMs);
  const stepped = Math.min(replicas + stepMax, Math.max(replicas - stepMax, wanted.replicas));
  const bounded = Math.min(max, Math.max(min, stepped));
  return bounded === stepped
    ? { replicas: stepped, reason: wanted.reason }
    : { replicas: bounded, reason: "bounds" };
}

function wantedReplicas(state: ScaleState, targetMs: number): ScaleDecision {
  const { replicas, perSecond, ceiling } = state;
  const backlog = state.backlog ?? 0;
  const perReplica = state.perReplica ?? (replicas === 0 ? 0 : perSecond / replicas);
  if (perReplica === 0) {
    // Nothing was read yet, so nothing is known of a replica: the first one has to try.
    if (backlog === 0) return { replicas: 0, reason: "idle" };
    return { replicas: Math.max(1, replicas), reason: "backlog" };
  }
  const needed = perSecond + (backlog * 1000) / targetMs;
  const wanted = Math.ceil(Math.min(needed, ceiling ?? Infinity) / perReplica - 1e-9);
  const isAtCeiling = ceiling !== undefined && perSecond >= AT_CEILING * ceiling;
  if (wanted < replicas) return { replicas: wanted, reason: "idle" };
  if (isAtCeiling) return { replicas, reason: "ceiling" };
  return { replicas: wanted, reason: wanted > replicas ? "backlog" : "steady" };
}
