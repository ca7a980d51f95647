import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { TestContext } from "vitest";
import {
  NEEDS_REDIS,
  redisPath,
  RedisServer,
  startCluster,
  startSentinel,
} from "./redis-server.ts";
import { CEILING, machineMs, pass, Replicas, TIMING, until } from "./replicas.ts";

const { syncIntervalMs, leaseMs, staleMs } = TIMING;
/** Starting processes takes a while, on a busy machine longer. */
const SLACK_MS = 20_000;
/** A busy machine also hears of things late. */
const LATE_MS = 1500;
const JOIN_MS = leaseMs + 2 * syncIntervalMs;
const KILL_MS = staleMs + leaseMs + 4 * syncIntervalMs;
/** For how long the used part is measured. */
const STEADY_MS = 2000;

type AtEnd = TestContext["onTestFinished"];

async function setUp(atEnd: AtEnd, ...members: readonly string[]) {
  const redis = await RedisServer.start();
  atEnd(() => redis.stop());
  const replicas = await startAll(new Replicas({ url: redis.url }), members, atEnd);
  return { redis, replicas };
}

async function startAll(
  replicas: Replicas,
  members: readonly string[],
  atEnd: AtEnd,
): Promise<Replicas> {
  atEnd(() => replicas.end());
  for (const member of members) replicas.start(member);
  await until(() => replicas.isSettled(members.length), SLACK_MS);
  return replicas;
}

/** Never above a twentieth more in any second, a token for each member included; then well used. */
async function expectLimit(replicas: Replicas): Promise<void> {
  const fromMs = machineMs();
  await pass(STEADY_MS);
  // What was granted last is told a little later.
  await pass(300);
  expect(replicas.rate(fromMs, fromMs + STEADY_MS)).toBeGreaterThan(0.85 * CEILING);
  expect(replicas.most()).toBeLessThanOrEqual(1.05 * CEILING + replicas.all.length);
}

describe.skipIf(redisPath === undefined)(`real processes, a real Redis${NEEDS_REDIS}`, () => {
  test.concurrent("one that was stopped past the stale age and replaced is no zombie", async ({
    onTestFinished: atEnd,
  }) => {
    const { replicas } = await setUp(atEnd, "a", "b");
    const [, b] = replicas.all;
    b?.pause();
    await pass(staleMs + syncIntervalMs);
    const c = replicas.start("c");
    await until(() => c.isJoined, SLACK_MS);
    b?.resume();
    await until(() => replicas.isSettled(3), JOIN_MS + LATE_MS);
    await expectLimit(replicas);
  });

  test.concurrent("what a killed one had is shared again", async ({ onTestFinished: atEnd }) => {
    const { replicas } = await setUp(atEnd, "a", "b", "c");
    await replicas.all[2]?.kill();
    await until(() => replicas.isSettled(2), KILL_MS + LATE_MS);
    await expectLimit(replicas);
  });

  test.concurrent("what one that leaves had is shared again at once", async ({
    onTestFinished: atEnd,
  }) => {
    const { replicas } = await setUp(atEnd, "a", "b");
    await replicas.all[0]?.leave();
    await until(() => replicas.isSettled(1), leaseMs + 2 * syncIntervalMs + LATE_MS);
    await expectLimit(replicas);
  });

  test.concurrent("a store that is gone for a while, and comes back empty", async ({
    onTestFinished: atEnd,
  }) => {
    const { redis, replicas } = await setUp(atEnd, "a", "b");
    await redis.kill();
    await pass(leaseMs + LATE_MS);
    const lostAtMs = machineMs();
    await pass(1000);
    await redis.restart();
    await until(() => replicas.isSettled(2), JOIN_MS + syncIntervalMs + LATE_MS);
    const rate = replicas.rate(lostAtMs, lostAtMs + 1000);
    // Two safe shares of one sixty-fourth.
    expect(rate).toBeGreaterThan(0.5 * (CEILING / 32));
    expect(rate).toBeLessThan(1.5 * (CEILING / 32));
    await expectLimit(replicas);
  });

  test.concurrent("a store that hangs", async ({ onTestFinished: atEnd }) => {
    const { redis, replicas } = await setUp(atEnd, "a", "b");
    redis.pause();
    await pass(leaseMs + LATE_MS);
    redis.resume();
    await until(() => replicas.isSettled(2), JOIN_MS + LATE_MS);
    await expectLimit(replicas);
  });

  test.concurrent("a store that forgets everything while another joins", async ({
    onTestFinished: atEnd,
  }) => {
    const { redis, replicas } = await setUp(atEnd, "a", "b");
    await redis.command("FLUSHALL");
    const c = replicas.start("c");
    await until(() => c.isJoined && replicas.isSettled(3), SLACK_MS);
    await expectLimit(replicas);
  });

  test.concurrent("a wall clock that is half a minute ahead", async ({ onTestFinished: atEnd }) => {
    const { replicas } = await setUp(atEnd, "a");
    const preload = fileURLToPath(new URL("clock-ahead.mjs", import.meta.url));
    replicas.start("ahead", { preload });
    await until(() => replicas.isSettled(2), SLACK_MS);
    await expectLimit(replicas);
  });

  test.concurrent("a second process with the same id is refused", async ({
    onTestFinished: atEnd,
  }) => {
    const { replicas } = await setUp(atEnd, "a", "b");
    const second = replicas.start("b");
    await until(() => second.hasExited, SLACK_MS);
    expect(second.failure).toMatchObject({ code: "DUPLICATE" });
    expect(second.stamps).toEqual([]);
    expect(replicas.isSettled(2)).toBe(true);
    await expectLimit(replicas);
  });

  test.concurrent("all are replaced, one after the other", async ({ onTestFinished: atEnd }) => {
    const { replicas } = await setUp(atEnd, "a", "b");
    for (const old of replicas.all.slice()) {
      const next = replicas.start(`${old.member}-next`);
      await until(() => next.isJoined, SLACK_MS);
      await old.leave();
    }
    await until(() => replicas.isSettled(2), JOIN_MS + LATE_MS);
    await expectLimit(replicas);
  });

  test.concurrent("two, then sixteen, then two", async ({ onTestFinished: atEnd }) => {
    const { replicas } = await setUp(atEnd, "a", "b");
    const others = Array.from({ length: 14 }, (_, i) => replicas.start(`m${i}`));
    await until(() => replicas.isSettled(16), 2 * SLACK_MS);
    for (const other of others) await other.kill();
    await until(() => replicas.isSettled(2), KILL_MS + LATE_MS);
    await expectLimit(replicas);
  });

  test.concurrent("a master that dies, with sentinels", async ({ onTestFinished: atEnd }) => {
    const trio = await startSentinel();
    atEnd(() => trio.stop());
    const { masterName, endpoints } = trio;
    const replicas = new Replicas({ sentinel: { masterName, endpoints } });
    await startAll(replicas, ["a", "b"], atEnd);
    await trio.master.kill();
    await until(() => !replicas.isSettled(2), SLACK_MS);
    await until(() => replicas.isSettled(2), SLACK_MS);
    await expectLimit(replicas);
  });

  test.concurrent("a cluster of three masters", async ({ onTestFinished: atEnd }) => {
    const cluster = await startCluster();
    atEnd(() => cluster.stop());
    const replicas = new Replicas({ cluster: { nodes: cluster.nodes } });
    await startAll(replicas, ["a", "b"], atEnd);
    await expectLimit(replicas);
  });
});
