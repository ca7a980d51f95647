import type { Random } from "@sluice/core";
import type { Network } from "../network.ts";
import type { PoolAction, PoolEvent } from "../pool-action.ts";
import { at, joins } from "./story.ts";
import type { ChurnStory } from "./story.ts";

/** The part of the ceiling that a member on its safe share adds: 1 ÷ `maxMembers`. */
const SAFE_SHARE = 1 / 64;

const crash = (name: string): PoolAction => ({ do: "crash", name });
const leave = (name: string): PoolAction => ({ do: "leave", name });

/** A replica with a fresh id starts every 4 s and lives for `lifeMs`, for a minute. */
function crashLooper(lifeMs: number): PoolEvent[] {
  return Array.from({ length: 15 }, (_, i) => [
    at(4000 * i, { do: "join", id: `x${i}` }),
    at(4000 * i + lifeMs, crash(`x${i}`)),
  ]).flat();
}

/** Six members are replaced, one every 5 s: the new one joins 3 s before the old one ends. */
function redeploy(end: (name: string) => PoolAction): PoolEvent[] {
  return Array.from({ length: 6 }, (_, i) => [
    at(5000 * i, { do: "join", id: `j${i}` }),
    at(5000 * i + 3000, end(`m${i}`)),
  ]).flat();
}

/** Messages of which `lateRatio` take up to 8 s and `lossRatio` never arrive. */
function badNetwork(lateRatio: number, lossRatio: number): Network {
  return {
    wayMs: (random) => {
      const [late, loss, way] = [random.next(), random.next(), random.next()];
      if (loss < lossRatio) return undefined;
      return late < lateRatio ? 100 + 8000 * way * way : 0.2 + 4 * way;
    },
    isOrdered: false,
  };
}

/** A busy event loop: `ratio` of the replies take 250 to 450 ms. */
function lateReplies(ratio: number): Network {
  return {
    // Every message is delayed with half the probability, so that a round trip is with nearly all of it.
    wayMs: (random) => {
      const [late, way] = [random.next(), random.next()];
      return late < ratio / 2 ? 250 + 200 * way : 0.2 + 4 * way;
    },
    isOrdered: true,
  };
}

const soon = (random: Random): number => 300 * random.next();

/** The stories with goals that the project states, in the order of its table. */
export const CHURN_STORIES: readonly ChurnStory[] = [
  {
    name: "2 → 12 members, 2 s apart",
    goals: { least: 0.65, mean: 0.95, waitS: 3 },
    plan: () => ({ members: 2, events: joins("j", 10, (i) => 2000 * i), forMs: 21_000 }),
  },
  {
    name: "2 → 64 members over 30 s",
    goals: { least: 0.65, mean: 0.95, waitS: 3 },
    plan: () => ({ members: 2, events: joins("j", 62, (i) => (30_000 * i) / 62), forMs: 32_000 }),
  },
  {
    name: "2 → 64 members at once",
    goals: { least: 0.6, mean: 0.95, waitS: 4 },
    plan: (random) => ({ members: 2, events: joins("j", 62, () => soon(random)), forMs: 10_000 }),
  },
  {
    name: "rolling redeploy of 6, by leave",
    goals: { least: 0.8, mean: 0.97, waitS: 3 },
    plan: () => ({ members: 6, events: redeploy(leave), forMs: 32_000 }),
  },
  {
    name: "rolling redeploy of 6, by kill -9",
    goals: { least: 0.65, mean: 0.8, waitS: 7 },
    plan: () => ({ members: 6, events: redeploy(crash), forMs: 32_000 }),
  },
  ...[4000, 1000, 200].map((lifeMs): ChurnStory => ({
    name: `crash-looper that lives ${lifeMs / 1000} s, beside 5 newcomers`,
    goals: { mean: 0.8, waitS: 7 },
    plan: () => ({
      members: 2,
      events: [...joins("j", 5, (i) => 1000 * i), ...crashLooper(lifeMs)],
      forMs: 60_000,
    }),
  })),
  {
    name: "kill -9 of one of four",
    goals: { least: 0.74, wholeS: 7 },
    plan: () => ({ members: 4, events: [at(0, crash("m0"))], forMs: 12_000 }),
  },
  {
    name: "leave of one of four",
    goals: { least: 0.74, mean: 0.98, wholeS: 1.5 },
    plan: () => ({ members: 4, events: [at(0, leave("m0"))], forMs: 12_000 }),
  },
  {
    name: "a joiner while both members are paused for 9 s",
    goals: { waitS: 7 },
    plan: () => ({
      members: 2,
      events: [
        at(0, { do: "pause", name: "m0", forMs: 9000 }),
        at(0, { do: "pause", name: "m1", forMs: 9000 }),
        at(1, { do: "join", id: "j0" }),
      ],
      forMs: 14_000,
    }),
  },
  {
    name: "2 → 64 at once, both members die in the hand-over",
    goals: { waitS: 7, wholeS: 9 },
    plan: (random) => ({
      members: 2,
      events: [
        ...joins("j", 62, () => soon(random)),
        at(600 + 1200 * random.next(), crash("m0")),
        at(600 + 1200 * random.next(), crash("m1")),
      ],
      forMs: 14_000,
    }),
  },
  {
    name: "flush, and a joiner",
    goals: { most: 1 + SAFE_SHARE, least: 0.7, mean: 0.95, waitS: 8 },
    plan: () => ({
      members: 4,
      events: [at(0, { do: "flush" }), at(1, { do: "join", id: "j0" })],
      forMs: 14_000,
    }),
  },
  {
    name: "failover with a lag of 300 ms while two join",
    goals: { least: 0.7, mean: 0.95, waitS: 9 },
    plan: () => ({
      members: 4,
      events: [
        at(1, { do: "join", id: "j0" }),
        at(2, { do: "join", id: "j1" }),
        at(1500, { do: "failover", lagMs: 300 }),
      ],
      forMs: 14_000,
    }),
  },
  {
    name: "one entry lost",
    goals: { least: 0.99 },
    plan: () => ({ members: 4, events: [at(0, { do: "lose", name: "m1" })], forMs: 14_000 }),
  },
  {
    name: "store away for 3 s",
    goals: { least: 0.99 },
    plan: () => ({ members: 4, events: [at(0, { do: "store-down", forMs: 3000 })], forMs: 14_000 }),
  },
  {
    name: "store away for 9 s, from its return",
    goals: { mean: 0.95, wholeS: 3 },
    plan: () => ({
      members: 4,
      events: [at(0, { do: "store-down", forMs: 9000 })],
      measureAfterMs: 9000,
      forMs: 20_000,
    }),
  },
  ...[1, -1].map((sign): ChurnStory => ({
    name: `store clock set by ${sign} h`,
    goals: { least: 0.99 },
    plan: () => ({
      members: 4,
      events: [at(0, { do: "store-clock-step", byMs: sign * 3_600_000 })],
      forMs: 14_000,
    }),
  })),
  {
    name: "2 → 12, 10 % of messages late and 2 % lost",
    goals: { least: 0.5, mean: 0.9, waitS: 8 },
    plan: () => ({
      members: 2,
      events: joins("j", 10, (i) => 2000 * i),
      network: badNetwork(0.1, 0.02),
      forMs: 24_000,
    }),
  },
  {
    name: "2 → 12, 20 % of replies later than 250 ms",
    goals: { least: 0.6, mean: 0.93, waitS: 4 },
    plan: () => ({
      members: 2,
      events: joins("j", 10, (i) => 2000 * i),
      network: lateReplies(0.2),
      forMs: 21_000,
    }),
  },
  {
    name: "two of four want 5 % each from now on",
    goals: { least: 0.55, mean: 0.9 },
    plan: () => ({
      members: 4,
      ceiling: 1000,
      events: [
        at(0, { do: "demand", name: "m0", asksPerSecond: 50 }),
        at(0, { do: "demand", name: "m1", asksPerSecond: 50 }),
      ],
      forMs: 8000,
    }),
  },
  {
    name: "two of four that wanted 5 % want all again",
    goals: { least: 0.55, mean: 0.9, wholeS: 4 },
    plan: () => ({
      members: 4,
      ceiling: 1000,
      events: [
        at(0, { do: "demand", name: "m0", asksPerSecond: 50 }),
        at(0, { do: "demand", name: "m1", asksPerSecond: 50 }),
        at(6000, { do: "demand", name: "m0", asksPerSecond: undefined }),
        at(6000, { do: "demand", name: "m1", asksPerSecond: undefined }),
      ],
      measureAfterMs: 6000,
      forMs: 16_000,
    }),
  },
  {
    name: "start of a lone process, from its first second",
    goals: { least: SAFE_SHARE, wholeS: 6 },
    plan: () => ({
      members: 0,
      events: joins("j", 1, () => 0),
      measureAfterMs: 1000,
      forMs: 12_000,
    }),
  },
  {
    name: "start of four at once, from their first second",
    goals: { least: SAFE_SHARE, wholeS: 7 },
    plan: (random) => ({
      members: 0,
      events: joins("j", 4, () => soon(random)),
      measureAfterMs: 1000,
      forMs: 12_000,
    }),
  },
];

/** Takes about a minute: 1,000 members, the largest pool that a store accepts. */
export const LARGEST_POOL_STORY: ChurnStory = {
  name: "4 → 1000 members over 10 s",
  goals: { least: 0.6, mean: 0.95, waitS: 7 },
  plan: () => ({ members: 4, events: joins("j", 996, (i) => 10 * i), forMs: 17_000 }),
};
