/** Members in real processes at a real Redis: both sides of what a pool promises, under every fault. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { TestContext } from "vitest";
import { DEFAULT_TIMING } from "../src/ledger/timing.ts";
import type { RedisStoreOptions } from "../src/index.ts";
import {
  NEEDS_REDIS,
  redisPath,
  RedisServer,
  slowness,
  startCluster,
  startSentinel,
} from "./redis-server.ts";
import { CEILING, machineMs, pass, Replicas, until } from "./replicas.ts";
import type { ReplicaSettings } from "./replicas.ts";

const { leaseMs, staleMs, syncIntervalMs } = DEFAULT_TIMING;
/** Processes start, and an empty store has learned. */
const START_MS = 15_000;
/** Samples reach this process a little later. */
const HEAR_MS = 300;
/** Syncs between a change and its end, each of which a busy machine delays: a hand-over and its two reports. */
const SYNCS = 8;
/** For tests that wait through several leases of a busy machine. */
const LONG = { timeout: 180_000 };

type AtEnd = TestContext["onTestFinished"];

/**
 * Default settings on an idle machine. On a busy one a store is back later, and so must leases last
 * longer: 5 s × the slowness, at most 30 s.
 */
function patientTiming() {
  const factor = Math.min(6, Math.max(1, slowness() / 2));
  const lease = Math.round(leaseMs * factor);
  return { ...DEFAULT_TIMING, leaseMs: lease, staleMs: Math.ceil(1.05 * lease) + 1250 };
}

async function startRedis(atEnd: AtEnd): Promise<RedisServer> {
  const redis = await RedisServer.start();
  atEnd(() => redis.stop());
  return redis;
}

async function startAll(
  store: RedisStoreOptions,
  members: readonly string[],
  atEnd: AtEnd,
  settings: ReplicaSettings = {},
): Promise<Replicas> {
  const replicas = new Replicas(store);
  atEnd(() => replicas.end());
  for (const member of members) replicas.start(member, settings);
  await until(() => replicas.isSettled(members.length), START_MS);
  return replicas;
}

/** What was measured, for the results of the benchmark: `SLUICE_FIGURES=1 npx vitest run processes.slow`. */
function note(what: string, figures: Readonly<Record<string, number>>): void {
  if (process.env["SLUICE_FIGURES"] === undefined) return;
  const texts = Object.entries(figures).map(([name, value]) => `${name} ${value.toFixed(3)}`);
  process.stderr.write(`${what}: ${texts.join(", ")}\n`);
}

/** Never above 1.05 × the limit in any second, one token for each member included. */
function expectNeverAbove(replicas: Replicas): void {
  expect(replicas.most()).toBeLessThanOrEqual(1.05 * CEILING + replicas.all.length);
  for (const { failure } of replicas.all) expect(failure).toBeUndefined();
}

/**
 * The shares in use since `fromMs`, and never too much. The mean may lose more on a busy machine, in
 * which every hand-over takes longer by the delay of its timers.
 */
async function expectShares(
  what: string,
  replicas: Replicas,
  fromMs: number,
  goal: { readonly least: number; readonly mean?: number },
): Promise<void> {
  const untilMs = machineMs();
  await pass(HEAR_MS);
  const { least, mean } = replicas.shares(fromMs, untilMs);
  const delayMs = replicas.delayMs();
  note(what, { least, mean, most: replicas.most() / CEILING, delayMs });
  const slow = 1 + delayMs / (syncIntervalMs / SYNCS);
  expect(least).toBeGreaterThanOrEqual(goal.least);
  expect(mean).toBeGreaterThanOrEqual(1 - (1 - (goal.mean ?? goal.least)) * slow);
  expectNeverAbove(replicas);
}

/** A bound for an idle machine, and what the delays of this one add to it. */
function within(ms: number, delayMs: number): number {
  return ms + SYNCS * delayMs;
}

describe.skipIf(redisPath === undefined)(`real processes, a real Redis${NEEDS_REDIS}`, () => {
  test.concurrent(
    "2 members and 14 more, one every 2 s: none fails, none waits longer than 3 s, and the pool keeps 65 %, on average 95 %",
    LONG,
    async ({ onTestFinished: atEnd }) => {
      const redis = await startRedis(atEnd);
      const replicas = await startAll({ url: redis.url }, ["a", "b"], atEnd);
      const fromMs = machineMs();
      const joiners = [];
      for (let i = 0; i < 14; i++) {
        joiners.push(replicas.start(`m${i}`));
        await pass(2000);
      }
      await until(() => replicas.isSettled(16), 10_000);
      await expectShares("2 + 14 members", replicas, fromMs, { least: 0.65, mean: 0.95 });
      const delayMs = replicas.delayMs();
      note("2 + 14 members", {
        longestWaitMs: Math.max(...joiners.map(({ firstGrantMs }) => firstGrantMs)),
        joiningDelayMs: Math.max(...joiners.map(({ joiningDelayMs }) => joiningDelayMs)),
      });
      for (const { firstGrantMs, joiningDelayMs } of joiners)
        expect(firstGrantMs).toBeLessThanOrEqual(within(3000, Math.max(delayMs, joiningDelayMs)));
    },
  );

  test.concurrent(
    "a rolling redeploy of 6, one every 5 s, keeps 80 % of the ceiling in use, on average 97 %",
    LONG,
    async ({ onTestFinished: atEnd }) => {
      const redis = await startRedis(atEnd);
      const olds = ["a", "b", "c", "d", "e", "f"];
      const replicas = await startAll({ url: redis.url }, olds, atEnd);
      const fromMs = machineMs();
      for (const old of replicas.all.slice()) {
        const next = replicas.start(`${old.member}-next`);
        await pass(5000);
        await until(() => next.standing === "member", 3000);
        await old.leave();
      }
      await until(() => replicas.isSettled(6), 3000);
      await expectShares("rolling redeploy of 6", replicas, fromMs, { least: 0.8, mean: 0.97 });
    },
  );

  test.concurrent(
    "after kill -9 of one of four the others have the whole ceiling within 7 s",
    LONG,
    async ({ onTestFinished: atEnd }) => {
      const redis = await startRedis(atEnd);
      const replicas = await startAll({ url: redis.url }, ["a", "b", "c", "d"], atEnd);
      const fromMs = machineMs();
      await replicas.all[3]?.kill();
      const tookMs = await until(() => replicas.isSettled(3), 15_000);
      note("kill -9 of one of four", { tookMs });
      expect(tookMs).toBeLessThanOrEqual(within(7000 + HEAR_MS, replicas.delayMs()));
      await expectShares("kill -9 of one of four", replicas, fromMs, { least: 0.74 });
    },
  );

  test.concurrent(
    "a Redis that is killed and comes back with old data costs nothing",
    LONG,
    async ({ onTestFinished: atEnd }) => {
      const redis = await startRedis(atEnd);
      const fleet = { timing: patientTiming() };
      const replicas = await startAll({ url: redis.url }, ["a"], atEnd, { fleet });
      // What is saved knows of one member that has everything.
      await redis.command("SAVE");
      for (const member of ["b", "c"]) replicas.start(member, { fleet });
      await until(() => replicas.isSettled(3), START_MS);
      const fromMs = machineMs();
      await redis.kill();
      await redis.restart();
      await pass(2 * leaseMs);
      await expectShares("restart with old data", replicas, fromMs, { least: 0.7 });
      expect(replicas.isSettled(3)).toBe(true);
    },
  );

  test.concurrent(
    "a failover to the replica of the master costs nothing",
    LONG,
    async ({ onTestFinished: atEnd }) => {
      const trio = await startSentinel();
      atEnd(() => trio.stop());
      const { masterName, endpoints } = trio;
      const sentinel = { masterName, endpoints };
      const fleet = { timing: patientTiming() };
      const replicas = await startAll({ sentinel }, ["a", "b", "c"], atEnd, { fleet });
      const fromMs = machineMs();
      await trio.master.kill();
      await pass(2 * leaseMs);
      await expectShares("failover", replicas, fromMs, { least: 0.7 });
      expect(replicas.isSettled(3)).toBe(true);
    },
  );

  test.concurrent(
    "a flush of the store, and then a store that hangs for 3 s, cost nothing",
    LONG,
    async ({ onTestFinished: atEnd }) => {
      const redis = await startRedis(atEnd);
      const fleet = { timing: patientTiming() };
      const replicas = await startAll({ url: redis.url }, ["a", "b", "c"], atEnd, { fleet });
      let fromMs = machineMs();
      await redis.command("FLUSHALL");
      await pass(2 * leaseMs);
      await expectShares("FLUSHALL", replicas, fromMs, { least: 0.7 });
      fromMs = machineMs();
      redis.pause();
      await pass(3000);
      redis.resume();
      await pass(leaseMs);
      await expectShares("store away for 3 s", replicas, fromMs, { least: 0.7 });
      expect(replicas.isSettled(3)).toBe(true);
    },
  );

  test.concurrent(
    "a lone process has its first call within 1 s and the whole ceiling within 7 s",
    LONG,
    async ({ onTestFinished: atEnd }) => {
      const redis = await startRedis(atEnd);
      const replicas = await startAll({ url: redis.url }, ["a"], atEnd);
      const [lone] = replicas.all;
      const full = lone?.samples.find(({ share }) => share >= 0.99 * CEILING);
      const wholeMs = (full?.atMs ?? Number.NaN) - (lone?.startedAtMs ?? 0);
      const firstMs = lone?.firstGrantMs ?? Number.NaN;
      const delayMs = lone?.joiningDelayMs ?? 0;
      note("lone process", { firstMs, wholeMs, delayMs });
      expect(firstMs).toBeLessThanOrEqual(within(1000, delayMs));
      expect(wholeMs).toBeLessThanOrEqual(within(7000, delayMs));
      expectNeverAbove(replicas);
    },
  );

  test.concurrent(
    "a store that is lost for longer than a lease leaves every process its safe share, and comes back empty",
    LONG,
    async ({ onTestFinished: atEnd }) => {
      const redis = await startRedis(atEnd);
      const replicas = await startAll({ url: redis.url }, ["a", "b"], atEnd);
      await redis.kill();
      await until(() => replicas.all.every(({ standing }) => standing === "lost"), 2 * leaseMs);
      await pass(1000);
      const fromMs = machineMs();
      await pass(2000);
      const untilMs = machineMs();
      await pass(HEAR_MS);
      const rate = replicas.rate(fromMs, untilMs);
      // Two safe shares of 1/64.
      expect(rate).toBeGreaterThan(0.5 * (CEILING / 32));
      expect(rate).toBeLessThan(1.5 * (CEILING / 32));
      await redis.restart();
      await until(() => replicas.isSettled(2), START_MS);
      expectNeverAbove(replicas);
    },
  );

  test.concurrent(
    "a process that was stopped past the stale age and replaced grants nothing with its old share",
    LONG,
    async ({ onTestFinished: atEnd }) => {
      const redis = await startRedis(atEnd);
      const replicas = await startAll({ url: redis.url }, ["a", "b"], atEnd);
      const [, b] = replicas.all;
      b?.pause();
      await pass(staleMs + syncIntervalMs);
      replicas.start("c");
      await pass(3000);
      b?.resume();
      await until(() => replicas.isSettled(3), START_MS);
      expectNeverAbove(replicas);
    },
  );

  test.concurrent(
    "a process whose wall clock is half a minute ahead has its share, and so has one in a cluster",
    LONG,
    async ({ onTestFinished: atEnd }) => {
      const cluster = await startCluster();
      atEnd(() => cluster.stop());
      const store = { cluster: { nodes: cluster.nodes } };
      const replicas = await startAll(store, ["a"], atEnd);
      const preload = fileURLToPath(new URL("clock-ahead.mjs", import.meta.url));
      replicas.start("ahead", { preload });
      await until(() => replicas.isSettled(2), START_MS);
      expectNeverAbove(replicas);
    },
  );

  test.concurrent(
    "a second process with the id of a living one is refused, and one that was killed gets in again",
    LONG,
    async ({ onTestFinished: atEnd }) => {
      const redis = await startRedis(atEnd);
      const replicas = await startAll({ url: redis.url }, ["a", "b"], atEnd);
      const second = replicas.start("b");
      await until(() => second.hasExited, START_MS);
      expect(second.failure).toMatchObject({ code: "DUPLICATE" });
      expect(second.stamps).toEqual([]);
      expect(replicas.isSettled(2)).toBe(true);
      await replicas.all[1]?.kill();
      replicas.start("b");
      await until(() => replicas.isSettled(2), START_MS);
      expect(replicas.most()).toBeLessThanOrEqual(1.05 * CEILING + replicas.all.length);
    },
  );
});

/** Runs a program with `joinFleet` and the address of the store; answers what it printed once it has exited by itself. */
async function runProgram(text: string, url: string): Promise<string> {
  const program = `import { joinFleet } from "@sluice/fleet";
const options = { pool: "p", store: ${JSON.stringify(url)}, rateLimit: { max: 10 }, maxMembers: 2 };
${text}`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: fileURLToPath(new URL(".", import.meta.url)),
    stdio: ["ignore", "pipe", "inherit"],
    // Ends a program that does not end; the test then sees a signal.
    timeout: 30_000,
  });
  let said = "";
  child.stdout.on("data", (data: Buffer) => (said += data.toString()));
  const [code, signal] = (await once(child, "exit")) as unknown[];
  expect([code, signal]).toEqual([0, null]);
  return said.trim();
}

describe.skipIf(redisPath === undefined)(`a process ends by itself${NEEDS_REDIS}`, () => {
  test.concurrent("after leave, if the store was made for the member", async ({
    onTestFinished: atEnd,
  }) => {
    const redis = await startRedis(atEnd);
    const program = `const limiter = await joinFleet(options);
await limiter.acquire();
await limiter.leave();
console.log("left");`;
    expect(await runProgram(program, redis.url)).toBe("left");
  });

  test.concurrent("after a joining that was aborted while the store hangs", async ({
    onTestFinished: atEnd,
  }) => {
    const redis = await startRedis(atEnd);
    redis.pause();
    const program = `import { systemTimer } from "@sluice/core/system";
const controller = new AbortController();
const joining = joinFleet({ ...options, signal: controller.signal });
void systemTimer.sleep(1000).then(() => controller.abort(new Error("no longer")));
await joining.catch((error) => console.log(error.message));`;
    expect(await runProgram(program, redis.url)).toBe("no longer");
  });

  test.concurrent("after a joining that was refused for a wrong password", async ({
    onTestFinished: atEnd,
  }) => {
    const redis = await startRedis(atEnd);
    await redis.command("CONFIG", "SET", "requirepass", "right");
    const program = `await joinFleet(options).catch(({ code, canHeal }) => console.log(code, canHeal));`;
    expect(await runProgram(program, redis.url)).toBe("STORE false");
  });
});
