import type { LiveSample, LiveShare } from "../../../../src/live/live-message.ts";

/** A pool that this process is a member of. */
export interface ListedPool {
  readonly pool: string;
  /** What its limit is of: `orders / in`, `group analytics`, `gateway`. */
  readonly of: string;
  readonly share: LiveShare;
}

/** All pools of a sample: of vertices first, then of the gateway's shared limits; each once. */
export function poolsOf({ gateway, pipelines }: LiveSample): readonly ListedPool[] {
  const vertices = pipelines.flatMap(({ name, vertices: all }) =>
    all.flatMap((vertex) =>
      vertex.share === undefined ? [] : [listed(`${name} / ${vertex.name}`, vertex.share)],
    ),
  );
  const groups = (gateway?.groups ?? []).flatMap(({ name, share }) =>
    share === undefined ? [] : [listed(`group ${name}`, share)],
  );
  const broker = gateway?.share === undefined ? [] : [listed("gateway", gateway.share)];
  const known = new Map<string, ListedPool>();
  for (const one of [...vertices, ...groups, ...broker])
    if (!known.has(one.pool)) known.set(one.pool, one);
  return [...known.values()];
}

/** The path of the page of a pool. */
export function poolPath(pool: string): string {
  return `/fleet/${pool.split("/").map(encodeURIComponent).join("/")}`;
}

function listed(of: string, share: LiveShare): ListedPool {
  return { pool: share.pool, of, share };
}
