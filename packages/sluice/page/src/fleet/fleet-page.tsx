import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { LivePoolDetail } from "../../../src/live/live-message.ts";
import { lostForMs } from "../frame/connection-badge.tsx";
import { Headline } from "../frame/headline.tsx";
import { poolDetail, shown, watch } from "../live/live-store.ts";
import { Words } from "../parts/words.tsx";
import { answers } from "./answer-store.ts";
import { headlineOf } from "./model/headline.ts";
import { poolPath, poolsOf } from "./model/pools.ts";
import type { ListedPool } from "./model/pools.ts";
import { isWithoutStore } from "./model/pool-standing.ts";
import { NoPool } from "./no-pool.tsx";
import { AgreementPanel } from "./panels/agreement.tsx";
import { DividedBarPanel } from "./panels/divided-bar.tsx";
import { HeldShares } from "./panels/held-shares.tsx";
import { MemberTable } from "./panels/member-table.tsx";
import { RampChart } from "./panels/ramp-chart.tsx";
import { StorePanel } from "./panels/store-panel.tsx";
import { past } from "./past-store.ts";

/** The pools: do the members agree, who may use how much, is the sum under the ceiling? */
export function FleetPage({ rest }: { readonly rest: string }): JSX.Element {
  const sample = shown.value;
  const pools = sample === undefined ? [] : poolsOf(sample);
  const chosen = pools.find(({ pool }) => pool === rest) ?? (rest === "" ? pools[0] : undefined);
  const watched = chosen?.pool;
  useEffect(() => watch(watched === undefined ? {} : { pool: watched }), [watched]);
  useEffect(() => () => watch({}), []);
  if (sample === undefined) return <Headline />;
  if (chosen === undefined) return <NoPool name={rest} pools={pools} />;
  const detail = poolDetail.value?.pool === chosen.pool ? poolDetail.value : undefined;
  return (
    <div class={`fleet-page${lostForMs.value === undefined ? "" : " stale"}`}>
      {detail === undefined ? (
        <Headline />
      ) : (
        <Headline>
          <Words of={headlineOf(detail)} />
        </Headline>
      )}
      <PoolChoice pools={pools} chosen={chosen} detail={detail} />
      {detail !== undefined && <PoolView detail={detail} />}
    </div>
  );
}

function PoolView({ detail }: { readonly detail: LivePoolDetail }): JSX.Element {
  const known = past.value.pool === detail.pool ? past.value.past : [];
  return (
    <>
      <DividedBarPanel detail={detail} past={known} />
      <MemberTable detail={detail} />
      <div class="two">
        <div class="rail">
          {!isWithoutStore(detail) && <HeldShares past={known} nowMs={detail.atMs} />}
          <RampChart key={detail.pool} detail={detail} />
        </div>
        <div class="rail">
          <AgreementPanel detail={detail} past={known} />
          <StorePanel detail={detail} answers={answers.value} />
        </div>
      </div>
    </>
  );
}

function PoolChoice({
  pools,
  chosen,
  detail,
}: {
  readonly pools: readonly ListedPool[];
  readonly chosen: ListedPool;
  readonly detail: LivePoolDetail | undefined;
}): JSX.Element {
  return (
    <div class="pools">
      <nav class="seg" aria-label="Pools">
        {pools.map(({ pool, of }) => (
          <a
            key={pool}
            href={poolPath(pool)}
            aria-current={pool === chosen.pool ? "page" : undefined}
          >
            {of}
          </a>
        ))}
      </nav>
      <span class="t3">
        {detail !== undefined && isWithoutStore(detail)
          ? "Everything here comes from this process."
          : "Everything here comes from the store and this member; other members are as old as their last sync."}
      </span>
    </div>
  );
}
