import type { SharedTarget } from "../limits/limit-settings.ts";
import type { FleetSettings } from "./fleet-settings.ts";
import { GroupShares } from "./group-shares.ts";
import type { GroupSharesOptions } from "./group-shares.ts";

/** Shares these limits with the other gateways of the store. */
export function openShares(
  targets: readonly SharedTarget[],
  fleet: FleetSettings,
  options: Omit<GroupSharesOptions, "name" | "maxMembers">,
): GroupShares {
  const shares = new GroupShares({ ...options, ...fleet });
  for (const target of targets) shares.share(target, options.clock.now());
  return shares;
}
