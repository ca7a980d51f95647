import { Ramp } from "@sluice/core";
import type { RampOptions } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { told } from "../../test/replies.ts";
import { readPoolLimits } from "../join/pool-limits.ts";
import { DEFAULT_TIMING } from "../ledger/timing.ts";
import { Ceiling } from "../limiter/ceiling.ts";
import { newTally } from "../limiter/counts.ts";
import type { FleetEvent } from "../limiter/event.ts";
import { EpochClock } from "../pacing/epoch-clock.ts";
import { MemoryStore } from "../store/memory-store.ts";
import { PoolMember } from "./pool-member.ts";

const OWN: RampOptions = { max: 100, min: 100, rampUpMs: 1000, mode: { kind: "relaxed" } };

test("own limits that are refused do not come back when the limits of the pool are cleared", async () => {
  const { timer, member, ramp, events } = scene();
  expect(() => member.setOwnLimits({ ...OWN, max: 0 }, 0)).toThrow(/max/);
  for (const [version, text] of [
    [1, JSON.stringify({ max: 300, min: 300 })],
    [2, ""],
  ] as const)
    member.onReply(told(1, { limitsVersion: version, limits: { version, text } }), 0, 0);
  expect(events.filter(({ type }) => type === "limits")).toMatchObject([
    { version: 1, refused: undefined },
    { version: 2, refused: undefined },
  ]);
  expect(ramp.bounds).toMatchObject({ max: 100, min: 100 });
  const left = member.leave("redeploy");
  await timer.advance(5_000);
  await left;
});

test("a store that answers after failed syncs is told once, with their count and the time since the first", async () => {
  const { timer, member, events } = scene();
  for (let failures = 0; failures < 3; failures++) member.onFailure(new Error("refused"));
  for (const atMs of [1_500, 2_000]) member.onReply(told(1), atMs, atMs);
  expect(events.filter(({ type }) => type === "sync-back")).toEqual([
    { type: "sync-back", atMs: 1_500, failures: 3, afterMs: 1_500 },
  ]);
  const left = member.leave("redeploy");
  await timer.advance(5_000);
  await left;
});

function scene(): {
  readonly timer: VirtualTimer;
  readonly member: PoolMember;
  readonly ramp: Ramp;
  readonly events: readonly FleetEvent[];
} {
  const timer = new VirtualTimer();
  const ramp = new Ramp(OWN, { epoch: 0 });
  const member = new PoolMember({
    identity: { pool: "shop/orders", member: "a", nonce: "n1" },
    rules: {
      timing: DEFAULT_TIMING,
      maxMembers: 10,
      onStoreLoss: "safe-share",
      joinOn: "agreement",
      share: "demand",
      needsRank: false,
    },
    resume: { enabled: false, ttlMs: 0 },
    store: new MemoryStore(timer),
    ownsStore: false,
    timer,
    time: new EpochClock(),
    ramp,
    ceiling: new Ceiling(ramp, () => {}),
    ownLimits: OWN,
    readLimits: readPoolLimits,
  });
  const events: FleetEvent[] = [];
  member.start({
    tally: newTally(),
    onEvent: (event) => events.push(event),
    onSync: () => {},
    onWarning: () => {},
  });
  return { timer, member, ramp, events };
}
