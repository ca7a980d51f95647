import { clearPoolLimits, setPoolLimits } from "@sluice/fleet";
import type { PoolStore, RateLimitBlock } from "@sluice/fleet";

/** Which vertex the members of a pool share the limit of. */
export interface VertexPool {
  readonly flow: string;
  readonly pipeline: string;
  readonly vertex: string;
}

export function poolNameOf({ flow, pipeline, vertex }: VertexPool): string {
  return `${flow}/${pipeline}/${vertex}`;
}

/** Where replicas look for a limit of a vertex that is in no pool, because it was started without one. */
export function announcementNameOf(pool: VertexPool): string {
  return `${poolNameOf(pool)}/announcement`;
}

/**
 * Sets the rate limit of a vertex for all replicas, whether or not this process runs the pipeline at the moment. Members
 * follow at their next sync, and replicas that start later join with it. Undefined: the limits that members have joined
 * with hold again. With `isUnlimited` the vertex has no limit in its definition: all replicas join its pool, or leave it.
 * Answers the version of this change in the vertex's pool.
 */
export async function setVertexLimits(
  store: PoolStore,
  pool: VertexPool,
  rateLimit: RateLimitBlock | undefined,
  { isUnlimited = false }: { readonly isUnlimited?: boolean } = {},
): Promise<number> {
  const set = (name: string): Promise<number> =>
    rateLimit === undefined
      ? clearPoolLimits(store, name)
      : setPoolLimits(store, name, changeableOf(rateLimit));
  // The pool first: a replica that reads the announcement joins with the limit of the pool.
  const version = await set(poolNameOf(pool));
  if (isUnlimited) await set(announcementNameOf(pool));
  return version;
}

/** Without the settings that a member is started with. */
function changeableOf({ max, min, rampUpDuration, modes }: RateLimitBlock): RateLimitBlock {
  return {
    max,
    ...(min === undefined ? {} : { min }),
    ...(rampUpDuration === undefined ? {} : { rampUpDuration }),
    ...(modes === undefined ? {} : { modes }),
  };
}
