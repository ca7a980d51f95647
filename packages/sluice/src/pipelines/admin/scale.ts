import type { Reason } from "@sluice/core";
import { desiredReplicas } from "@sluice/pipeline";
import type { FlowFleet } from "../../flow/pipeline/flow-pipeline.ts";
import type { VertexState } from "@sluice/pipeline";

/** Reasons for which more replicas read nothing more: the ceiling, the service or the store decides. */
const NOT_BY_REPLICAS: ReadonlySet<Reason> = new Set([
  "fleet-share",
  "fleet-joining",
  "fleet-refused",
  "rate",
  "concurrency",
  "peer-busy",
  "retry-after",
  "store-lost",
]);

/** Use of a share, from 0 to 1, from which on the share is the limit, also between two waits. */
const SHARE_USED = 0.95;

/**
 * Whether something else than the replicas holds a vertex back: what it waits for now, or waits for again and again
 * (`throttledBy`), or a share that is used up.
 */
export function isHeld({ waiting, fleet }: VertexState, throttledBy?: Reason): boolean {
  const reasons = [waiting?.reason, throttledBy];
  if (reasons.some((reason) => reason !== undefined && NOT_BY_REPLICAS.has(reason))) return true;
  return (fleet?.usage ?? 0) >= SHARE_USED;
}

/** Replicas of a pipeline, as its pools or its flow file know them; at least 1. */
export function runningReplicas(vertices: readonly VertexState[], fleet: FlowFleet = {}): number {
  const sizes = vertices.flatMap((vertex) => vertex.fleet?.membership?.size ?? []);
  return Math.max(1, fleet.replicas ?? 1, ...sizes);
}

/**
 * The replicas that a pipeline should have, at least 1. The tightest ceiling of its vertices counts, ramp included,
 * and while any vertex waits for a ceiling or for its service no more are asked for than run now. `capacity` is what one replica
 * can read, messages a second; undefined: not known. `throttledBy` is what a vertex waits for again and again.
 */
export function replicasFor(
  vertices: readonly VertexState[],
  fleet: FlowFleet = {},
  capacity?: number,
  throttledBy: (vertex: string) => Reason | undefined = () => undefined,
): number {
  const [source] = vertices;
  const ceilings = vertices.flatMap((vertex) => vertex.fleet?.ceiling ?? []);
  const running = runningReplicas(vertices, fleet);
  const { replicas } = desiredReplicas(
    {
      replicas: running,
      backlog: source?.queue,
      perSecond: (source?.perSecond ?? 0) * running,
      perReplica: capacity,
      ceiling: ceilings.length === 0 ? undefined : Math.min(...ceilings),
    },
    fleet.maxMembers === undefined ? {} : { max: fleet.maxMembers },
  );
  const held = vertices.some((vertex) => isHeld(vertex, throttledBy(vertex.name)));
  return Math.max(1, held ? Math.min(running, replicas) : replicas);
}
