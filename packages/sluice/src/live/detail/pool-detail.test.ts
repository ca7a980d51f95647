import type { PoolRoster, RosterMember } from "@sluice/fleet";
import { expect, test } from "vitest";
import { poolDetail } from "./pool-detail.ts";
import type { OwnPool } from "./pool-detail.ts";
import { poolSettings } from "./pool-settings.ts";

test("shares that are exactly the ceiling add up to it, whatever the ceiling of a ramp is", () => {
  const quarter = 250_000_000;
  const members = ["m-1", "m-2", "m-3", "m-4"].map((id): RosterMember => ({
    id,
    nonce: id,
    told: quarter,
    promised: quarter,
    wanted: quarter,
    fair: quarter,
    syncAgeMs: 100,
    joinedAgoMs: 60_000,
    leaseLeftMs: 4_000,
    hasLeft: false,
    hasArrived: true,
  }));
  const timing = { syncIntervalMs: 500, leaseMs: 5_000, staleMs: 6_500, timeoutMs: 250 };
  const roster: PoolRoster = { members, leftOut: 0, learningMs: 0, timing };
  for (let ceiling = 100; ceiling <= 1_000; ceiling++) {
    const own: OwnPool = {
      pool: "shop/orders/in",
      of: "orders/in",
      fleet: undefined,
      share: { pool: "shop/orders/in", ceiling, members: 4 },
      settings: poolSettings(
        { pool: "shop/orders/in", replicas: 4, rateLimit: { max: 1_000 } },
        ceiling,
      ),
    };
    const known = { roster, atMs: 0 };
    const watch = { known, address: "redis", isAnswering: true, answerMs: 1 };
    expect(poolDetail(own, watch, { nowMs: 0, wallMs: 0 }).sum).toBe(ceiling);
  }
});
