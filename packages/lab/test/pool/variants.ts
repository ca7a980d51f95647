import { at, joins } from "@sluice/lab/sim";
import type { ChurnStory, PoolEvent } from "@sluice/lab/sim";
import type { Random } from "@sluice/core";

const TIMINGS = [
  { syncIntervalMs: 200, leaseMs: 1500, staleMs: 2000, timeoutMs: 100 },
  { syncIntervalMs: 500, leaseMs: 3750, staleMs: 4688, timeoutMs: 250 },
  { syncIntervalMs: 1000, leaseMs: 10_000, staleMs: 13_000, timeoutMs: 500 },
];

const leave = (name: string, atMs: number): PoolEvent => at(atMs, { do: "leave", name });

/** From `from` members to `to`, one joiner every `apartMs`. */
function grow(from: number, to: number, apartMs: number, goals: ChurnStory["goals"]): ChurnStory {
  return {
    name: `${from} → ${to} members, ${apartMs / 1000} s apart`,
    goals,
    plan: () => ({
      members: from,
      events: joins("j", to - from, (i) => apartMs * i),
      forMs: apartMs * (to - from) + 3000,
    }),
  };
}

/** Joins and leaves in any order, the pool staying between 4 and 16. */
function mixed(random: Random): PoolEvent[] {
  const there = ["m0", "m1", "m2", "m3", "m4", "m5"];
  const events: PoolEvent[] = [];
  for (let atMs = 0, i = 0; atMs < 30_000; atMs += 1400 * random.next(), i++) {
    const isJoin = there.length <= 4 || (there.length < 16 && random.next() < 0.5);
    if (isJoin) {
      there.push(`j${i}`);
      events.push(at(atMs, { do: "join", id: `j${i}` }));
    } else {
      const [name = ""] = there.splice(Math.floor(random.next() * there.length), 1);
      events.push(leave(name, atMs));
    }
  }
  return events;
}

const STAGGERED = { least: 0.65, mean: 0.95, waitS: 3 };

/** Churn that no goal names: other sizes, paces, timings and demands. */
export const VARIANTS: readonly ChurnStory[] = [
  grow(1, 8, 700, { ...STAGGERED, mean: 0.94 }),
  grow(3, 20, 1000, STAGGERED),
  grow(5, 30, 300, STAGGERED),
  grow(10, 40, 150, STAGGERED),
  grow(20, 24, 2000, STAGGERED),
  ...TIMINGS.map((timing): ChurnStory => {
    const { syncIntervalMs } = timing;
    return {
      name: `2 → 12 members, four syncs of ${syncIntervalMs} ms apart, lease ${timing.leaseMs} ms`,
      goals: { ...STAGGERED, waitS: (6 * syncIntervalMs) / 1000 },
      plan: () => ({
        members: 2,
        events: joins("j", 10, (i) => 4 * syncIntervalMs * i),
        membership: { timing },
        forMs: 42 * syncIntervalMs,
      }),
    };
  }),
  {
    name: "2 → 12 members, 2 s apart, equal shares",
    goals: STAGGERED,
    plan: () => ({
      members: 2,
      events: joins("j", 10, (i) => 2000 * i),
      membership: { share: "equal" },
      forMs: 21_000,
    }),
  },
  {
    name: "4 → 12 members, 1.5 s apart, half of them idle",
    goals: STAGGERED,
    plan: () => ({
      members: 4,
      events: [
        at(0, { do: "demand", name: "m0", asksPerSecond: 0 }),
        at(0, { do: "demand", name: "m1", asksPerSecond: 0 }),
        ...joins("j", 4, (i) => 6000 + 3000 * i),
        ...joins("idle", 4, (i) => 7500 + 3000 * i, 0),
      ],
      measureAfterMs: 6000,
      forMs: 22_000,
    }),
  },
  {
    name: "2 → 12 members, 2 s apart, on safe shares",
    goals: { ...STAGGERED, most: 1 + 1 / 64, waitS: 3 },
    plan: () => ({
      members: 2,
      events: joins("j", 10, (i) => 2000 * i),
      membership: { joinOn: "safe-share" },
      forMs: 21_000,
    }),
  },
  {
    name: "joins and leaves mixed, 4 to 16 members",
    goals: { least: 0.5, mean: 0.92, waitS: 5 },
    plan: (random) => ({ members: 6, events: mixed(random), forMs: 32_000 }),
  },
  {
    name: "redeploy of 6 at once: 6 join, and 5 s later the 6 old ones leave",
    goals: { least: 0.49, mean: 0.93, waitS: 4 },
    plan: (random) => ({
      members: 6,
      events: [
        ...joins("j", 6, () => 300 * random.next()),
        ...Array.from({ length: 6 }, (_, i) => leave(`m${i}`, 5000 + 300 * random.next())),
      ],
      forMs: 10_000,
    }),
  },
  {
    name: "redeploy of 8, each leaves before its successor joins",
    goals: { least: 0.7, mean: 0.95, waitS: 3 },
    plan: () => ({
      members: 8,
      events: Array.from({ length: 8 }, (_, i) => [
        leave(`m${i}`, 3000 * i),
        at(3000 * i + 700, { do: "join", id: `j${i}` }),
      ]).flat(),
      forMs: 27_000,
    }),
  },
  {
    name: "a replica restarts with its id every 10 s beside 3",
    goals: { least: 0.7, mean: 0.8 },
    plan: () => ({
      members: 4,
      events: Array.from({ length: 4 }, (_, i) => at(10_000 * i, { do: "restart", name: "m0" })),
      forMs: 40_000,
    }),
  },
  {
    // The member without demand gives all back at once: for up to a sync no member has it.
    name: "the whole demand moves from one of four to the next every 4 s",
    goals: { mean: 0.88 },
    plan: () => ({
      members: 4,
      events: Array.from({ length: 6 }, (_, i) =>
        Array.from({ length: 4 }, (__, k) =>
          at(4000 * i, {
            do: "demand",
            name: `m${k}`,
            asksPerSecond: k === i % 4 ? undefined : 0,
          }),
        ),
      ).flat(),
      measureAfterMs: 4000,
      forMs: 24_000,
    }),
  },
  ...[
    // Shares that no member wants stay where they are.
    { asksPerSecond: 0, goals: { least: 0.99 } },
    // Two tokens at once are more than a small share saves up, so that a member sometimes asks for more.
    { asksPerSecond: 5, goals: { mean: 0.88 } },
  ].map(({ asksPerSecond, goals }): ChurnStory => ({
    name: `four members that want ${asksPerSecond} % of the ceiling each`,
    goals,
    plan: () => ({
      members: 4,
      events: Array.from({ length: 4 }, (_, k) =>
        at(500 * k, { do: "demand", name: `m${k}`, asksPerSecond }),
      ),
      measureAfterMs: 6000,
      forMs: 16_000,
    }),
  })),
  {
    name: "3 → 40 members in four bursts, 4 s apart",
    goals: { least: 0.65, mean: 0.95, waitS: 3.5 },
    plan: (random) => ({
      members: 3,
      events: joins("j", 37, (i) => 4000 * Math.floor(i / 10) + 200 * random.next()),
      forMs: 16_000,
    }),
  },
  {
    name: "redeploy of 20 with a surge of 5: 5 join, and 4 s later 5 old ones leave, every 6 s",
    goals: { least: 0.75, mean: 0.97, waitS: 2 },
    plan: (random) => ({
      members: 20,
      events: Array.from({ length: 20 }, (_, i) => {
        const beginMs = 6000 * Math.floor(i / 5);
        const id = `j${i}`;
        return [
          at(beginMs + 300 * random.next(), { do: "join", id }),
          leave(`m${i}`, beginMs + 4000 + 300 * random.next()),
        ];
      }).flat(),
      forMs: 27_000,
    }),
  },
  {
    // Eight of twelve leave at once, so that a third is left until the others have synced.
    name: "autoscaling between 4 and 12 members every 3 s",
    goals: { least: 0.33, mean: 0.92, waitS: 3.5 },
    plan: (random) => ({
      members: 4,
      events: Array.from({ length: 6 }, (_, round) =>
        Array.from({ length: 8 }, (__, i) => {
          const id = `r${round}-${i}`;
          return [
            at(6000 * round + 200 * random.next(), { do: "join", id }),
            leave(id, 6000 * round + 3000 + 200 * random.next()),
          ];
        }).flat(),
      ).flat(),
      forMs: 36_000,
    }),
  },
  {
    name: "two crash-loopers that live 3 s and 5 s, beside 4 members and 3 newcomers",
    goals: { least: 0.5, mean: 0.75, waitS: 5 },
    plan: () => ({
      members: 4,
      events: [
        ...joins("j", 3, (i) => 5000 + 2000 * i),
        ...[3000, 5000].flatMap((lifeMs) =>
          Array.from({ length: 8 }, (_, i) => [
            at(5000 * i + lifeMs / 2, { do: "join", id: `x${lifeMs}-${i}` }),
            at(5000 * i + lifeMs / 2 + lifeMs, { do: "crash", name: `x${lifeMs}-${i}` }),
          ]).flat(),
        ),
      ],
      forMs: 40_000,
    }),
  },
  {
    name: "2 → 12 members, 2 s apart, that want 3 %, 10 % or everything",
    goals: { ...STAGGERED, waitS: 3.5 },
    plan: () => ({
      members: 2,
      events: Array.from({ length: 10 }, (_, i) =>
        at(2000 * i, { do: "join", id: `j${i}`, asksPerSecond: [3, 10, undefined][i % 3] }),
      ),
      forMs: 21_000,
    }),
  },
  {
    name: "start of 30 at once, from their first second",
    goals: { least: 1 / 64, wholeS: 7.5 },
    plan: (random) => ({
      members: 0,
      events: joins("j", 30, () => 1000 * random.next()),
      measureAfterMs: 1000,
      forMs: 12_000,
    }),
  },
];
