import type { Reason } from "@sluice/core";
import type { VertexState } from "@sluice/pipeline";

/** What one replica knows of a vertex, for the number of replicas. */
export interface ScaleInput {
  /** Replicas that run now. */
  readonly members: number;
  /** Messages that wait before the source; undefined if its server does not say. */
  readonly backlog: number | undefined;
  /** Messages a second that this replica reads. */
  readonly perSecond: number;
  /** Messages a second that all replicas may read at present; undefined: not limited. */
  readonly ceiling: number | undefined;
  /** Why the pipeline waits at present; undefined: its own work is the limit, or there is none. */
  readonly reason: Reason | undefined;
}

/** Seconds in which a backlog should be read; Numaflow's `targetProcessingSeconds`. Lowered, more replicas are asked for. */
const TARGET_SECONDS = 20;

/** A replica this close to its share is limited by the ceiling, which more replicas would only divide further. */
const FULL = 0.9;

/** Reasons for which more replicas read nothing more: the ceiling, the service or the store decides. */
const NOT_BY_MEMBERS: ReadonlySet<Reason> = new Set([
  "fleet-share",
  "fleet-joining",
  "fleet-refused",
  "rate",
  "concurrency",
  "peer-busy",
  "retry-after",
  "store-lost",
]);

/**
 * The number of replicas that read the backlog in 20 s, as Numaflow counts it:
 * `members × (backlog ÷ rate) ÷ 20 s`, at least half of those that run now, and 1. While the ceiling or the service is the limit, never
 * more than run now: a ramp that has not come to its end is such a ceiling. Without a known backlog: as many as run.
 */
export function desiredReplicas({
  members,
  backlog,
  perSecond,
  ceiling,
  reason,
}: ScaleInput): number {
  const running = Math.max(1, members);
  if (backlog === undefined || perSecond <= 0) return running;
  const total = perSecond * running;
  const byBacklog = Math.ceil((running * (backlog / total)) / TARGET_SECONDS);
  const wanted = Math.max(byBacklog, Math.ceil(running / 2));
  const isAtCeiling = ceiling !== undefined && total >= ceiling * FULL;
  if (isAtCeiling || (reason !== undefined && NOT_BY_MEMBERS.has(reason)))
    return Math.min(running, wanted);
  // More than these could not read more than the ceiling lets through.
  const useful = ceiling === undefined ? wanted : Math.max(1, Math.ceil(ceiling / perSecond));
  return Math.min(wanted, Math.max(running, useful));
}

/** What the vertices of a pipeline say together: the tightest ceiling and the first reason count. */
export function scaleInputOf(vertices: readonly VertexState[], replicas: number): ScaleInput {
  const [source] = vertices;
  const ceilings = vertices.flatMap(({ fleet }) => fleet?.ceiling ?? []);
  const sizes = vertices.flatMap(({ fleet }) => fleet?.membership?.size ?? []);
  return {
    members: Math.max(1, replicas, ...sizes),
    backlog: source?.queue,
    perSecond: source?.perSecond ?? 0,
    ceiling: ceilings.length === 0 ? undefined : Math.min(...ceilings),
    reason: vertices.flatMap(({ waiting }) => waiting?.reason ?? [])[0],
  };
}
