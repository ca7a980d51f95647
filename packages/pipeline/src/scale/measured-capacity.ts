import { isSmallBacklog } from "./desired-replicas.ts";

/** What one replica does at present. */
export interface ReplicaLoad {
  /** Messages a second that this replica reads. */
  readonly perSecond: number;
  /** Messages that wait to be read, divided by the replicas; undefined if the source does not say. */
  readonly backlog: number | undefined;
  /** Whether a rate limit, the service behind a sink or the store holds messages back. */
  readonly isHeld: boolean;
}

/**
 * Weight of a new measurement, from 0 to 1, with one a second. Raised, the capacity follows slower messages sooner
 * and a short stall too.
 */
const WEIGHT = 0.2;

/**
 * The rate that one replica can read, with a new measurement. While the replica is the bottleneck, messages wait and nothing else
 * holds them back, its rate is its capacity. At any other time a rate above the capacity shows that the capacity is
 * at least that. Undefined until it was the bottleneck.
 */
export function measureCapacity(
  capacity: number | undefined,
  { perSecond, backlog, isHeld }: ReplicaLoad,
): number | undefined {
  const isBottleneck = !isHeld && perSecond > 0 && !isSmallBacklog(backlog ?? 0, perSecond);
  if (capacity === undefined) return isBottleneck ? perSecond : undefined;
  if (perSecond >= capacity) return perSecond;
  return isBottleneck ? capacity + WEIGHT * (perSecond - capacity) : capacity;
}
