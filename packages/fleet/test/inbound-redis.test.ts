/** Inbound limiters of @sluice/egress that share quotas through a real server. */
import { createInboundLimiter } from "@sluice/egress/server";
import type { InboundEvent, InboundLimiter } from "@sluice/egress/server";
import { describe, expect, test } from "vitest";
import { redisQuotaStore, StoreError } from "../src/index.ts";
import { NEEDS_REDIS, redisPath, RedisServer, until } from "./redis-server.ts";

async function admitted(limiter: InboundLimiter, key: string, times: number): Promise<number> {
  const ask = async (): Promise<boolean> => (await limiter.admit(key)).admitted;
  const decisions = await Promise.all(Array.from({ length: times }, ask));
  return decisions.filter(Boolean).length;
}

describe.skipIf(redisPath === undefined)(`limiters and a real Redis${NEEDS_REDIS}`, () => {
  test("limiters of one name share a quota, those of another name do not", async () => {
    const redis = await RedisServer.start();
    const stores = [1, 2, 3].map(() => redisQuotaStore({ url: redis.url, timeoutMs: 20_000 }));
    const [first, second, other] = stores.map((store, i) =>
      createInboundLimiter({ name: i < 2 ? "api" : "admin", rate: "10/h", store }),
    );
    if (first === undefined || second === undefined || other === undefined)
      throw new Error("three limiters were made");
    expect(await admitted(first, "ann", 6)).toBe(6);
    expect(await admitted(second, "ann", 6)).toBe(4);
    expect(await admitted(second, "bob", 6)).toBe(6);
    expect(await admitted(other, "ann", 12)).toBe(10);
    await Promise.all([first, second, other].map((limiter) => limiter.close()));
    await Promise.all(stores.map((store) => store.close()));
    await redis.stop();
  });

  test("a server that dies is told, requests go on with a share, and the server is found again", async () => {
    const redis = await RedisServer.start();
    const store = redisQuotaStore({ url: redis.url });
    const events: InboundEvent[] = [];
    const limiter = createInboundLimiter({
      rate: "100/h",
      processes: 10,
      store,
      observers: [(event) => events.push(event)],
    });
    const types = (): string[] => events.map(({ type }) => type);
    await until(async () => {
      await limiter.admit("first");
      return types().includes("store-call");
    });
    events.length = 0;
    await redis.kill();
    expect(await admitted(limiter, "ann", 50)).toBe(10);
    expect(types().filter((type) => type === "store-lost")).toHaveLength(1);
    const lost = events.find((event) => event.type === "store-lost");
    expect(lost?.type === "store-lost" && lost.error).toBeInstanceOf(StoreError);
    await redis.restart();
    await until(async () => {
      await limiter.admit("ann");
      return types().includes("store-back");
    });
    expect(await admitted(limiter, "ann", 30)).toBe(30);
    await limiter.close();
    await store.close();
    await redis.stop();
  });
});
