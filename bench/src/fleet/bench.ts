import { createCachedClock, systemClock } from "@sluice/core/system";
import { joinFleet, redisStore } from "@sluice/fleet";
import type { FleetLimiter } from "@sluice/fleet";
import { Redis } from "ioredis";
import { RateLimiterRedis } from "rate-limiter-flexible";
import { machineLine, thisMachine } from "../machine.ts";
import { perSecond, roundsText, short } from "../numbers.ts";
import type { BenchOptions } from "../options.ts";
import { spreadOf } from "../spread.ts";
import { table } from "../table.ts";
import { startRedis } from "./redis.ts";
import { measureStoreLoad, MEMBERS } from "./store-load.ts";
import type { StoreLoad } from "./store-load.ts";

/** As a multiple of the throughput of rate-limiter-flexible, and in decisions a second. */
const GOAL = 500;
const LOCAL_GOAL = 5_000_000;
/** Store calls a second of one member. */
const CALLS_GOAL = 2;
/** Part of one Redis core for 1,000 members, and bytes of a reply. */
const CORE_GOAL = 0.1;
const REPLY_GOAL = 200;

/** Tokens a second. High enough that no call is limited, so that the decision alone is measured. */
const CEILING = 1_000_000_000;
const RATE_LIMIT = { max: CEILING, min: CEILING };
const CALLERS = 64;
const BATCH = 1000;

interface Round {
  readonly ours: number;
  readonly cached: number;
  readonly peerAlone: number;
  readonly peerAloneP99Ms: number;
  readonly clock: number;
  readonly peer: number;
  readonly oursP99Ms: number;
  readonly peerP99Ms: number;
}

/** What a decision costs that needs no store, beside one that asks Redis each time; the text to print. */
export async function benchFleet(options: BenchOptions): Promise<string> {
  const { rounds, quick, json } = options;
  const ms = quick ? 300 : 2000;
  const redis = await startRedis();
  const url = `redis://127.0.0.1:${redis.port}`;
  const store = redisStore({ url });
  const client = new Redis({ port: redis.port, enableOfflineQueue: true });
  const peer = new RateLimiterRedis({ storeClient: client, points: CEILING, duration: 1 });
  const [limiter, cached] = await Promise.all([
    joinFleet({ pool: "bench/exact", store, rateLimit: RATE_LIMIT, maxMembers: 1 }),
    joinFleet({
      pool: "bench/cached",
      store,
      rateLimit: RATE_LIMIT,
      maxMembers: 1,
      runtime: { clock: createCachedClock() },
    }),
  ]);
  await Promise.all([limiter.ready(), cached.ready()]);
  const joinedAtMs = systemClock.now();
  const syncsBefore = limiter.counts.syncs;
  const all: Round[] = [];
  for (let left = rounds; left > 0; left--) all.push(await measure({ limiter, cached, peer }, ms));
  const seconds = (systemClock.now() - joinedAtMs) / 1000;
  const calls = (limiter.counts.syncs - syncsBefore) / seconds;
  await limiter.leave();
  await cached.leave();
  await store.close();
  client.disconnect();
  const load = await measureStoreLoad(redis.port, rounds * ms);
  await redis.stop();
  const machine = thisMachine();
  if (json)
    return JSON.stringify({ bench: "fleet", machine, rounds: all, callsPerSecond: calls, load });
  return report(machineLine(machine), all, { calls, load });
}

interface Contenders {
  readonly limiter: FleetLimiter;
  readonly cached: FleetLimiter;
  readonly peer: RateLimiterRedis;
}

async function measure({ limiter, cached, peer }: Contenders, ms: number): Promise<Round> {
  const clock = await decide(() => void systemClock.now(), ms);
  const ours = await decide(() => void limiter.tryAcquire(1), ms);
  const perTurn = await decide(() => void cached.tryAcquire(1), ms);
  const theirs = await consume(peer, CALLERS, ms);
  const alone = await consume(peer, 1, ms);
  return {
    cached: perTurn.perSecond,
    peerAlone: alone.perSecond,
    peerAloneP99Ms: alone.p99Ms,
    clock: clock.perSecond,
    ours: ours.perSecond,
    oursP99Ms: ours.p99Ms,
    peer: theirs.perSecond,
    peerP99Ms: theirs.p99Ms,
  };
}

interface Measured {
  readonly perSecond: number;
  readonly p99Ms: number;
}

/** In batches, with a turn of the loop between them: syncs must go on. The p99 is that of a batch's mean. */
async function decide(once: () => void, ms: number): Promise<Measured> {
  const times: number[] = [];
  const untilMs = systemClock.now() + ms;
  while (systemClock.now() < untilMs) {
    for (let turn = 0; turn < 20; turn++) {
      const fromMs = systemClock.now();
      for (let i = 0; i < BATCH; i++) once();
      times.push((systemClock.now() - fromMs) / BATCH);
    }
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
  const total = times.reduce((sum, time) => sum + time, 0);
  return { perSecond: (1000 * times.length) / total, p99Ms: p99Of(times) };
}

async function consume(peer: RateLimiterRedis, callers: number, ms: number): Promise<Measured> {
  const times: number[] = [];
  const fromMs = systemClock.now();
  const untilMs = fromMs + ms;
  const caller = async (): Promise<void> => {
    while (systemClock.now() < untilMs) {
      const askedAtMs = systemClock.now();
      await peer.consume("pool");
      times.push(systemClock.now() - askedAtMs);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const elapsedMs = systemClock.now() - fromMs;
  return { perSecond: (1000 * times.length) / elapsedMs, p99Ms: p99Of(times) };
}

function p99Of(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(0.99 * times.length)] ?? 0;
}

function report(
  machine: string,
  all: readonly Round[],
  { calls, load }: { readonly calls: number; readonly load: StoreLoad },
): string {
  const of = (name: keyof Round): readonly number[] => all.map((round) => round[name]);
  const lines = [
    [
      "tryAcquire, exact clock",
      roundsText(of("ours"), perSecond),
      roundsText(of("oursP99Ms"), micros),
    ],
    ["tryAcquire, clock read once per turn", roundsText(of("cached"), perSecond), ""],
    ["performance.now() alone", roundsText(of("clock"), perSecond), ""],
    [
      `rate-limiter-flexible, ${CALLERS} callers, the same Redis`,
      roundsText(of("peer"), perSecond),
      roundsText(of("peerP99Ms"), micros),
    ],
    [
      "rate-limiter-flexible, one caller",
      roundsText(of("peerAlone"), perSecond),
      roundsText(of("peerAloneP99Ms"), micros),
    ],
  ];
  const peer = "throughput ÷ rate-limiter-flexible's";
  const ratios = [
    ["one caller each, exact clock", all.map(({ ours, peerAlone }) => ours / peerAlone)],
    [
      `its ${CALLERS} callers at once, our clock read once per turn`,
      all.map((round) => round.cached / round.peer),
    ],
    [
      `its ${CALLERS} callers at once, our exact clock`,
      all.map((round) => round.ours / round.peer),
    ],
  ] as const;
  const goals = [
    ...ratios.map(([what, values]) => [
      `${peer}: ${what}`,
      `≥ ${GOAL}`,
      roundsText(values, short),
      met(values, GOAL),
    ]),
    [
      "decisions a second",
      `≥ ${perSecond(LOCAL_GOAL)}`,
      roundsText(of("ours"), perSecond),
      met(of("ours"), LOCAL_GOAL),
    ],
    [
      "store calls a second",
      `≤ ${CALLS_GOAL}`,
      short(calls),
      calls <= 1.05 * CALLS_GOAL ? "met" : "missed",
    ],
    [
      `${MEMBERS} members: part of one Redis core`,
      `≤ ${CORE_GOAL}`,
      short(load.coreShare),
      load.coreShare <= CORE_GOAL ? "met" : "missed",
    ],
    [
      `${MEMBERS} members: bytes of a reply`,
      `≤ ${REPLY_GOAL}`,
      short(load.replyBytes),
      load.replyBytes <= REPLY_GOAL ? "met" : "missed",
    ],
  ];
  const store = [
    ["one sync", micros(load.syncMicros / 1000)],
    ["a script that returns 1", micros(load.emptyMicros / 1000)],
    ["sync ÷ empty script", short(load.syncMicros / load.emptyMicros)],
  ];
  return [
    machine,
    "",
    table(["", "a second", "p99"], lines),
    "",
    table([`${MEMBERS} members at the store`, "CPU of the Redis process"], store),
    "",
    table(["", "goal", "measured", ""], goals),
  ].join("\n");
}

function met(values: readonly number[], goal: number): string {
  return spreadOf(values).median >= goal ? "met" : "missed";
}

function micros(ms: number): string {
  return `${short(1000 * ms)} µs`;
}
