import { requireDuration, requireWhole } from "@sluice/core/internal";

/** What is known of a vertex and its replicas. */
export interface ScaleState {
  /** Replicas that run now. */
  readonly replicas: number;
  /** Messages that wait to be read; undefined if the source does not say. */
  readonly backlog: number | undefined;
  /** Messages a second that all replicas read together. */
  readonly perSecond: number;
  /**
   * Messages a second that one replica can read: known, or measured while it was the bottleneck (`measureCapacity`).
   * Undefined: not known. Then a backlog adds replicas as if each were busy, and only a flow without any message removes some.
   */
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
 * Part of the replicas' capacity that the rate may fill after some were removed, from 0 to 1. Raised, fewer replicas
 * stay, and a smaller growth of the rate brings them back: 0.8 needs 25 %.
 */
const FILLED_MAX = 0.8;

/**
 * A backlog that the replicas read within this time, ms, is small: sources report what is on its way too. Raised,
 * replicas are added later.
 */
const SMALL_BACKLOG_MS = 1000;

/** Rounding errors of a division must not ask for one more. */
const ROUNDING = 1e-9;

/**
 * How many replicas a vertex should have. More, if the backlog is not small:
 * `⌈min(perSecond + backlog ÷ target, ceiling) ÷ perReplica⌉`, but never more than now while the ceiling of its rate limit is
 * what holds it back: further replicas would only divide it. Below `min` that does not count. Fewer, if the
 * backlog is small and the rate fits: `⌈perSecond ÷ (0.8 × perReplica)⌉`.
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
  const { replicas, perSecond, ceiling = Infinity } = state;
  const backlog = state.backlog ?? 0;
  if (perSecond === 0 && backlog === 0) return { replicas: 0, reason: "idle" };
  // A replica has to try before anything is known of it.
  if (replicas === 0) return { replicas: 1, reason: "backlog" };
  if (isSmallBacklog(backlog, perSecond)) {
    const fewer = fitting(perSecond, state.perReplica);
    return fewer < replicas
      ? { replicas: fewer, reason: "idle" }
      : { replicas, reason: isAtCeiling(perSecond, ceiling) ? "ceiling" : "steady" };
  }
  if (isAtCeiling(perSecond, ceiling)) return { replicas, reason: "ceiling" };
  const perReplica = state.perReplica ?? perSecond / replicas;
  // Nothing is read although replicas run: more of them would read nothing either.
  if (perReplica === 0) return { replicas, reason: "backlog" };
  const needed = Math.min(perSecond + (backlog * 1000) / targetMs, ceiling);
  const more = Math.ceil(needed / perReplica - ROUNDING);
  return { replicas: Math.max(replicas, more), reason: more > replicas ? "backlog" : "steady" };
}

/** Whether a backlog is no more than replicas at this rate have on their way. */
export function isSmallBacklog(backlog: number, perSecond: number): boolean {
  return backlog * 1000 <= perSecond * SMALL_BACKLOG_MS;
}

function isAtCeiling(perSecond: number, ceiling: number): boolean {
  return perSecond >= AT_CEILING * ceiling;
}

/** Replicas that the rate fills to `FILLED_MAX`; infinite if nothing is known of a replica. */
function fitting(perSecond: number, perReplica: number | undefined): number {
  if (perReplica === undefined || perReplica === 0) return Infinity;
  return Math.max(1, Math.ceil(perSecond / (FILLED_MAX * perReplica) - ROUNDING));
}
