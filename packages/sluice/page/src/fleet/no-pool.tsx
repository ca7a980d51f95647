import type { JSX } from "preact";
import { Headline } from "../frame/headline.tsx";
import { Icon } from "../parts/icon.tsx";
import { poolPath } from "./model/pools.ts";
import type { ListedPool } from "./model/pools.ts";

/** No pool has this name, or there is none at all. */
export function NoPool({
  name,
  pools,
}: {
  readonly name: string;
  readonly pools: readonly ListedPool[];
}): JSX.Element {
  if (pools.length > 0)
    return (
      <>
        <Headline>
          No pool is called <b>{name}</b> here.
        </Headline>
        <div class="pools">
          <nav class="seg" aria-label="Pools">
            {pools.map(({ pool, of }) => (
              <a key={pool} href={poolPath(pool)}>
                {of}
              </a>
            ))}
          </nav>
        </div>
      </>
    );
  return (
    <>
      <Headline>
        <b>No limit of this flow is shared.</b> There is no pool.
      </Headline>
      <section class="panel empty">
        <Icon name="fleet-share" size={18} class="ink-r-fleet" />
        <p>
          A vertex with <code>limits.rateLimit</code>, and a group or gateway limit with{" "}
          <code>shared: true</code>, is a pool: all processes that are started with the same flow
          file and one <code>store.redis</code> share its ceiling.
        </p>
      </section>
    </>
  );
}
