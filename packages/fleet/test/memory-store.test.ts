import { expect, test } from "vitest";
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
    forget: (pool) => {
      store.forget(pool);
      return Promise.resolve();
    },
    close: () => store.close(),
  });
});

test("pools that nobody syncs are forgotten", async () => {
  const clock = new StoreClock();
  const store = new MemoryStore(clock);
  const times = { staleMs: 1000, learningMs: 0, resumeTtlMs: 5000 };
  const said = { member: "a", nonce: "n", sequence: 1, size: 1, level: 5, limitsVersion: 0 };
  for (let index = 0; index < 100; index++) {
    await store.sync({ ...said, pool: `pool-${index}`, demand: undefined, times });
    clock.advance(1000);
  }
  expect(store.size).toBeLessThan(10);
});
