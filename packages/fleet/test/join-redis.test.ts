/** `joinFleet` at a real Redis, in real time. */
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { clearPoolLimits, joinFleet, redisStore, setPoolLimits } from "../src/index.ts";
import type { FleetLimiter, JoinOptions } from "../src/index.ts";
import { NEEDS_REDIS, redisPath, RedisServer, until } from "./redis-server.ts";

const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");
/** The user that the README creates: `ACL SETUSER sluice on >password …`. */
const [, ...USER] = (/^ACL SETUSER .*$/m.exec(README)?.[0] ?? "").split(" ");
const LOGIN = { username: "sluice", password: "password" };

/** What a test has started, ended in reverse. */
const started: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of started.splice(0).toReversed()) await stop();
});

async function startServer(): Promise<RedisServer> {
  const server = await RedisServer.start();
  started.push(() => server.stop());
  return server;
}

async function join(
  options: Partial<JoinOptions>,
): Promise<{ limiter: FleetLimiter; warnings: string[] }> {
  const warnings: string[] = [];
  const limiter = await joinFleet({
    pool: "shop/orders",
    rateLimit: { max: 100, min: 100 },
    maxMembers: 4,
    onWarning: (warning) => void warnings.push(warning),
    ...options,
  });
  started.push(() => limiter.leave());
  return { limiter, warnings };
}

/** Connections without the one that asks. */
async function connectionsOf(server: RedisServer): Promise<number> {
  const lines = String(await server.command("CLIENT", "LIST"))
    .trim()
    .split("\n");
  return lines.length - 1;
}

describe.skipIf(redisPath === undefined)(`a real Redis${NEEDS_REDIS}`, () => {
  test("joining waits for a server that is down, and is served as soon as it is up", async () => {
    const server = await startServer();
    await server.kill();
    const joining = join({ store: server.url });
    await expect(server.command("PING")).rejects.toThrow();
    await server.restart();
    const { limiter } = await joining;
    await limiter.acquire();
  });

  test("leave closes the connection of a store that was made for the member, and leaves a given store open", async () => {
    const server = await startServer();
    const { limiter } = await join({ store: { url: server.url } });
    expect(await connectionsOf(server)).toBe(1);
    await limiter.leave();
    await until(async () => (await connectionsOf(server)) === 0);
    const store = redisStore({ url: server.url });
    started.push(() => store.close());
    const { limiter: second } = await join({ store });
    await second.leave();
    expect(await connectionsOf(server)).toBe(1);
  });

  test("a wrong password, a missing permission and another timing fail at once, and no connection stays open", async () => {
    const server = await startServer();
    await server.command("ACL", ...USER);
    const store = { url: server.url, ...LOGIN };
    const wrong = join({ store: { ...store, password: "wrong" } });
    await expect(wrong).rejects.toMatchObject({ code: "STORE", canHeal: false });
    await server.command("ACL", "SETUSER", "sluice", "-zadd");
    await expect(join({ store })).rejects.toMatchObject({ code: "STORE", canHeal: false });
    await server.command("ACL", "SETUSER", "sluice", "+zadd");
    const { limiter } = await join({ store });
    const other = join({ store, timing: { leaseMs: 6000, staleMs: 8000 } });
    await expect(other).rejects.toThrow("timing differs");
    await until(async () => (await connectionsOf(server)) === 1);
    await limiter.leave();
  });

  test("a user that may not call INFO is warned once that a failover may go unnoticed, and works", async () => {
    const server = await startServer();
    await server.command("ACL", ...USER);
    await server.command("ACL", "SETUSER", "sluice", "-info");
    const { limiter, warnings } = await join({ store: { url: server.url, ...LOGIN } });
    await limiter.acquire();
    await until(() => Promise.resolve(limiter.counts.syncs >= 3));
    expect(warnings).toEqual([expect.stringContaining("grant it +info")]);
    const { warnings: none } = await join({ store: server.url, pool: "other" });
    expect(none).toEqual([]);
  });

  test("live limits survive a flush and a redeploy, until they are cleared", async () => {
    const server = await startServer();
    const store = redisStore({ url: server.url });
    started.push(() => store.close());
    const { limiter: first } = await join({ store });
    await setPoolLimits(store, "shop/orders", { max: 40, min: 40 });
    await until(() => Promise.resolve(first.state().ceiling === 40));
    await server.command("FLUSHALL");
    const { syncs } = first.counts;
    await until(() => Promise.resolve(first.counts.syncs >= syncs + 3));
    await first.leave();
    const { limiter: next } = await join({ store });
    await until(() => Promise.resolve(next.state().ceiling === 40));
    await clearPoolLimits(store, "shop/orders");
    await until(() => Promise.resolve(next.state().ceiling === 100));
  });
});
