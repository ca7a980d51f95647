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

/**
 * The replicas that a pipeline should have, at least 1. The tightest ceiling of its vertices counts, ramp included,
 * and while any vertex waits for a ceiling or for its service no more are asked for than run now.
 */
export function replicasFor(vertices: readonly VertexState[], fleet: FlowFleet = {}): number {
  const [source] = vertices;
  const sizes = vertices.flatMap((vertex) => vertex.fleet?.membership?.size ?? []);
  const ceilings = vertices.flatMap((vertex) => vertex.fleet?.ceiling ?? []);
  const running = Math.max(1, fleet.replicas ?? 1, ...sizes);
  const { replicas } = desiredReplicas(
    {
      replicas: running,
      backlog: source?.queue,
      perSecond: (source?.perSecond ?? 0) * running,
      ceiling: ceilings.length === 0 ? undefined : Math.min(...ceilings),
    },
    fleet.maxMembers === undefined ? {} : { max: fleet.maxMembers },
  );
  const isHeld = vertices.some(
    ({ waiting }) => waiting?.reason !== undefined && NOT_BY_REPLICAS.has(waiting.reason),
  );
  return Math.max(1, isHeld ? Math.min(running, replicas) : replicas);
}
