import { expect, test } from "vitest";
import { DEFAULT_TIMING } from "../src/ledger/timing.ts";
import { MemoryStore } from "../src/store/memory-store.ts";
import { testPoolStore } from "./pool-store-contract.ts";
import { StoreClock } from "./timed-redis.ts";

testPoolStore("a store in memory", () => {
  const clock = new StoreClock();
  const store = new MemoryStore(clock);
  return Promise.resolve({
    store,
    pass: (ms) => clock.advance(ms),
    setBack: (ms) => clock.setBack(ms),
    forget: (pool, member) => {
      store.forget(pool, member);
      return Promise.resolve();
    },
    restart: () => store.snapshot()(),
    close: () => store.close(),
  });
});

test("pools without syncs are forgotten", async () => {
  const clock = new StoreClock();
  const store = new MemoryStore(clock);
  for (let index = 0; index < 100; index++) {
    await store.sync({
      pool: `pool-${index}`,
      member: "a",
      nonce: "n",
      sequence: 1,
      isFirst: true,
      held: 0,
      isHeldUnleased: false,
      wanted: 0,
      safeShare: 0,
      startsOnSafeShare: false,
      needsRank: false,
      level: 5,
      limits: { version: 0, text: undefined },
      timing: DEFAULT_TIMING,
      resumeTtlMs: 5000,
    });
    clock.advance(2000);
  }
  expect(store.size).toBeLessThan(10);
});
