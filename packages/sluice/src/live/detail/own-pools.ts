import type { FleetOptions, FleetState, PoolStore } from "@sluice/fleet";
import type { AdministrableGateway } from "@sluice/gateway/admin";
import { effectiveOf } from "../../pipelines/vertex-limits.ts";
import type { FlowPipelines } from "../../pipelines/flow-pipelines.ts";
import type { LiveShare } from "../live-message.ts";
import { liveShare } from "../sample/pipeline-sample.ts";
import { sharedShare } from "../sample/shared-share.ts";
import type { OwnPool } from "./pool-detail.ts";
import { poolSettings } from "./pool-settings.ts";
import type { PoolSettings } from "./pool-settings.ts";

/** What this process runs. */
interface Pooled {
  readonly gateway: AdministrableGateway | undefined;
  readonly pipelines: FlowPipelines | undefined;
  readonly store: PoolStore | undefined;
}

/** The pools in which this process is a member, each once, with what it knows of them. */
export function ownPools({
  gateway,
  pipelines,
}: Omit<Pooled, "store">): ReadonlyMap<string, FleetState | undefined> {
  const vertices = (pipelines?.views() ?? []).flatMap(({ state }) =>
    state.vertices.flatMap(({ fleet }) => fleet ?? []),
  );
  const shares = gateway?.administered.shares?.states() ?? [];
  return new Map([
    ...shares.map(({ pool, fleet }) => [pool, fleet] as const),
    ...vertices.map((fleet) => [fleet.pool, fleet] as const),
  ]);
}

/** The pool of this name in which this process is a member; undefined if it is in none of this name. */
export function ownPool(name: string, pooled: Pooled): OwnPool | undefined {
  return vertexPool(name, pooled) ?? gatewayPool(name, pooled);
}

function vertexPool(name: string, { pipelines, store }: Pooled): OwnPool | undefined {
  for (const view of pipelines?.views() ?? [])
    for (const vertex of view.state.vertices) {
      const { fleet } = vertex;
      const share = liveShare(vertex, view);
      if (fleet === undefined || share === undefined || fleet.pool !== name) continue;
      const { flow, state, limitsOf } = view;
      const { rateLimit } = effectiveOf(flow, limitsOf(vertex.name).limits);
      if (rateLimit === undefined) continue;
      const { store: _, ...block } = rateLimit;
      const { maxMembers, lease } = flow.fleet ?? {};
      return {
        pool: name,
        of: `${state.name}/${vertex.name}`,
        fleet,
        share,
        settings: settingsOf(share, store, {
          pool: name,
          rateLimit: block,
          ...(maxMembers !== undefined && { maxMembers }),
          ...(lease !== undefined && { timing: { leaseMs: lease } }),
        }),
      };
    }
  return undefined;
}

/** A limit that several gateways share. */
function gatewayPool(name: string, { gateway, store }: Pooled): OwnPool | undefined {
  const { administered } = gateway ?? {};
  const state = administered?.shares?.states().find(({ pool }) => pool === name);
  if (administered === undefined || state === undefined) return undefined;
  const { target, kind, fleet } = state;
  const max = administered.limitBook.get(target)?.limit[kind] ?? fleet?.ceiling ?? 1;
  const share = sharedShare(state, max);
  return {
    pool: name,
    of: target.level === "group" ? `group ${target.name}` : "broker",
    fleet,
    share,
    settings: settingsOf(share, store, {
      pool: name,
      rateLimit: { max: Math.max(1, Math.round(max)) },
    }),
  };
}

function settingsOf(
  { ceiling = 0 }: LiveShare,
  store: PoolStore | undefined,
  options: FleetOptions & { readonly rateLimit: NonNullable<FleetOptions["rateLimit"]> },
): PoolSettings {
  const { maxMembers: _, timing: _timing, ...alone } = options;
  // Without a store there are no members to meet, and no times of theirs.
  if (store === undefined) return poolSettings({ ...alone, replicas: 1 }, ceiling);
  return poolSettings({ ...options, store }, ceiling);
}
