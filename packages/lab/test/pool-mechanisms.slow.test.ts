import { DEFAULT_TIMING } from "@sluice/fleet/sim";
import { CHURN_STORIES, missedGoals, worstOf } from "@sluice/lab/sim";
import type { ChurnFigures, PoolAction, PoolEvent } from "@sluice/lab/sim";
import { expect, test } from "vitest";
import type { Plan } from "./pool/plan.ts";
import { runPlan } from "./pool/run-plan.ts";
import { WITHOUT } from "./pool/without.ts";
import type { Mechanism } from "./pool/without.ts";

const on = (atMs: number, action: PoolAction): PoolEvent => ({ atMs, action });
const pause = (name: string, forMs: number): PoolAction => ({ do: "pause", name, forMs });
const join = (id: string): PoolAction => ({ do: "join", id });
const leave = (name: string): PoolAction => ({ do: "leave", name });

/** Members sync at about 10,010 ms and every 500 ms after. */
interface Danger {
  readonly mechanism: Mechanism;
  /** In a pool of m0 and m1 (and of m2, if it is named) that has settled. */
  readonly events: readonly PoolEvent[];
  readonly delay?: NonNullable<Parameters<typeof runPlan>[1]>["delay"];
  /** The sum of shares that comes about without the mechanism, as a part of the ceiling. */
  readonly sum: number;
}

const DANGERS: readonly Danger[] = [
  {
    mechanism: "lease",
    events: [on(10_000, { do: "cut", name: "m1", forMs: 20_000 })],
    sum: 1.5,
  },
  { mechanism: "acknowledgement", events: [on(10_000, join("j"))], sum: 1.3 },
  {
    mechanism: "learning",
    events: [on(10_250, pause("m0", 2000)), on(10_251, { do: "flush" }), on(10_252, join("j"))],
    sum: 1.5,
  },
  {
    mechanism: "count check",
    events: [
      on(10_250, pause("m0", 2000)),
      on(10_251, { do: "lose", name: "m0" }),
      on(10_252, join("j")),
    ],
    sum: 1.5,
  },
  {
    // The older data do not have the growth of m0 into what the others left.
    mechanism: "run id",
    events: [
      on(20, join("m2")),
      on(10_240, leave("m1")),
      on(10_250, leave("m2")),
      on(10_260, { do: "failover", lagMs: 400 }),
      on(10_600, pause("m0", 2000)),
      on(10_700, join("j")),
    ],
    sum: 1.5,
  },
  {
    // The step makes the promise to m0, which has not synced for 3 s, look older than the stale age.
    mechanism: "pool time",
    events: [on(10_000, pause("m0", 4500)), on(13_250, { do: "store-clock-step", byMs: 4000 })],
    sum: 1.5,
  },
  { mechanism: "nonce", events: [on(10_250, join("m1"))], sum: 1.5 },
  {
    // A sync from before m0 grew arrives after j has joined. m0 waits for its reply for 750 ms, syncs again
    // and grows; then the first sync arrives.
    mechanism: "sequence",
    delay: { message: "request", fromMs: 9800, untilMs: 10_200, byMs: 900 },
    events: [on(10_250, leave("m1")), on(10_800, join("j")), on(10_850, pause("m0", 2000))],
    sum: 1.5,
  },
  {
    // A reply that let m0 grow arrives after m0 has reported that it did not.
    mechanism: "dropping replies to superseded syncs",
    delay: { message: "reply", fromMs: 10_400, untilMs: 10_700, byMs: 900 },
    events: [on(10_250, leave("m1")), on(10_600, join("j"))],
    sum: 1.5,
  },
];

test.each(DANGERS)(
  "without $mechanism the shares add up to $sum of the ceiling; with it, to 1 at most",
  ({ mechanism, events, delay, sum }) => {
    const plan = planOf(events);
    expect(runPlan(plan, { delay })).toMatchObject({ violation: undefined });
    const { violation, most } = runPlan(plan, { delay, parts: WITHOUT[mechanism] });
    expect(violation).toMatch(/the shares add up to/);
    expect(most).toBeCloseTo(sum, 3);
  },
);

interface Delay {
  readonly mechanism: Mechanism;
  readonly story: string;
  /** The figure that misses its goal. */
  readonly figure: keyof ChurnFigures;
}

const DELAYS: readonly Delay[] = [
  {
    mechanism: "pacing of what is asked back",
    story: "2 → 64 members at once",
    figure: "least",
  },
  { mechanism: "use until the next send", story: "2 → 12 members, 2 s apart", figure: "mean" },
  {
    mechanism: "serving joiners in the order of their arrival",
    story: "2 → 64 members over 30 s",
    figure: "waitS",
  },
  {
    mechanism: "not renewing what exceeds the fair share",
    story: "2 → 64 at once, both members die in the hand-over",
    figure: "waitS",
  },
];

test.each(DELAYS)(
  "without $mechanism the pool is safe, but misses its goal in: $story",
  ({ mechanism, story: name, figure }) => {
    const story = CHURN_STORIES.find((each) => each.name === name);
    if (story === undefined) throw new Error(`no story is named ${name}`);
    const phases = 3;
    expect(missedGoals(story, worstOf(story, phases))).toEqual([]);
    const figures = worstOf(story, phases, WITHOUT[mechanism]);
    expect(figures.most).toBeLessThanOrEqual(1 + 1e-6);
    const goals = { [figure]: story.goals[figure] };
    expect(missedGoals({ ...story, goals }, figures)).toHaveLength(1);
  },
);

test("every mechanism is switched off once", () => {
  const off = [...DANGERS, ...DELAYS].map(({ mechanism }) => mechanism);
  expect(off.toSorted()).toEqual(Object.keys(WITHOUT).toSorted());
});

function planOf(events: readonly PoolEvent[]): Plan {
  const all = [on(0, join("m0")), on(10, join("m1")), ...events];
  return {
    seed: 1,
    rules: {
      rateLimit: { max: 60, min: 60, rampUpMs: 1000, mode: { kind: "relaxed" } },
      pacing: "smooth",
      division: "rotate",
    },
    membership: {
      timing: DEFAULT_TIMING,
      maxMembers: 64,
      onStoreLoss: "closed",
      joinOn: "agreement",
      share: "equal",
      needsRank: false,
    },
    events: all.toSorted((a, b) => a.atMs - b.atMs),
    weather: {
      lossRatio: 0,
      slowRatio: 0,
      slowMs: 0,
      isOrdered: false,
      lateRatio: 0,
      lateMs: 0,
      drift: 1,
    },
  };
}
