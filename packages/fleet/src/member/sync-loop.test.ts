import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import type { LeaveRequest, PoolStore, SyncReply, SyncRequest } from "../store/pool-store.ts";
import { Driver } from "./driver.ts";
import type { MembershipChange, MembershipRules } from "./membership.ts";
import { MemberSession } from "./session.ts";
import { DEFAULT_TIMING } from "./timing.ts";
import type { Timing } from "./timing.ts";

const ALONE: SyncReply = {
  kind: "counted",
  verdict: "agree",
  size: 1,
  live: 1,
  rank: 0,
  roster: "a",
  storeMs: 0,
  parts: undefined,
  saved: undefined,
  limits: undefined,
};
const DOWN = new Error("down");

/** How a store answers one call: after so long, so. It hangs if it says neither. */
interface Answer {
  readonly afterMs?: number;
  readonly reply?: SyncReply;
  readonly error?: Error;
}

/** A driver against a store that answers by a script; what happens is noted with its time. */
function setUp(
  script: (sequence: number) => Answer,
  options: {
    readonly leave?: Answer;
    readonly timing?: Partial<Timing>;
    readonly onChanges?: () => void;
    readonly onFailure?: () => void;
  } = {},
) {
  const { leave = { reply: ALONE }, timing, onChanges, onFailure } = options;
  const timer = new VirtualTimer();
  const log: string[] = [];
  const sentAtMs: number[] = [];
  const seen = { changes: [] as MembershipChange[], leaves: [] as LeaveRequest[], conditions: 0 };
  const note = (text: string): void => void log.push(`${timer.now()} ${text}`);
  const answer = ({ afterMs = 0, reply, error }: Answer): Promise<SyncReply> =>
    new Promise((resolve, reject: (error: Error) => void) => {
      const settle = (): void => {
        if (error !== undefined) reject(error);
        else if (reply !== undefined) resolve(reply);
      };
      if (afterMs === 0) settle();
      else void timer.sleep(afterMs).then(settle);
    });
  const store: PoolStore = {
    sync: (request: SyncRequest) => {
      sentAtMs.push(timer.now());
      return answer(script(request.sequence));
    },
    leave: async (request) => {
      seen.leaves.push(request);
      await answer(leave);
    },
    setLimits: () => Promise.resolve(1),
    close: () => Promise.resolve(),
  };
  const rules: MembershipRules = {
    timing: { ...DEFAULT_TIMING, ...timing },
    maxMembers: 10,
    onStoreLoss: "closed",
    joinOn: "agreement",
    share: "equal",
  };
  const identity = { pool: "pool", member: "a", nonce: "n" };
  const session = new MemberSession(identity, rules, { nowMs: 0, resumeTtlMs: 0 });
  const driver = new Driver(
    session,
    { store, timer },
    {
      condition: () => {
        seen.conditions++;
        return { level: undefined, wanted: 0, limitsVersion: 0 };
      },
      onReply: (_reply, nowMs) => note(`reply at ${nowMs}`),
      onFailure: (error) => {
        note(error instanceof Error ? error.message : "?");
        onFailure?.();
      },
      onChanges: (changes) => {
        seen.changes.push(...changes);
        onChanges?.();
      },
    },
  );
  return { timer, log, sentAtMs, seen, session, driver };
}

/** Stops a driver and makes sure that nothing is left of it. */
async function end({ driver, timer }: ReturnType<typeof setUp>, running: Promise<void>) {
  await driver.stop("pause", undefined, 1000);
  await running;
  expect(timer.sleeping).toBe(0);
}

const LATE = "the store did not answer in time";
const cadences: readonly (readonly [string, Answer, Partial<Timing>])[] = [
  ["answers at once", { reply: ALONE }, {}],
  ["answers a little later", { afterMs: 80, reply: ALONE }, {}],
  ["answers in the last moment", { afterMs: 250, reply: ALONE }, {}],
  ["fails at once", { error: DOWN }, {}],
  ["fails late", { afterMs: 200, error: DOWN }, {}],
  ["hangs", {}, {}],
  ["answers nonsense", { reply: { ...ALONE, size: 0, live: 0 } }, {}],
  ["answers sooner than it must", { afterMs: 80, reply: ALONE }, { timeoutMs: 700 }],
];

test.each(cadences)("a store that %s is called twice a second", async (_name, answer, timing) => {
  const all = setUp(() => answer, { timing });
  const running = all.driver.run();
  await all.timer.advance(9999);
  expect(all.sentAtMs).toEqual(Array.from({ length: 20 }, (_, i) => i * 500));
  expect(all.seen.conditions).toBe(20);
  await end(all, running);
});

test("with a timeout longer than the interval a hanging store is called when one is given up", async () => {
  const all = setUp(() => ({}), { timing: { timeoutMs: 700 } });
  const running = all.driver.run();
  await all.timer.advance(2500);
  expect(all.sentAtMs).toEqual([0, 700, 1400, 2100]);
  await end(all, running);
});

test("a member is one a lease after its first reply, and its changes are told", async () => {
  const all = setUp(() => ({ afterMs: 20, reply: ALONE }));
  const running = all.driver.run();
  await all.timer.advance(5519);
  expect(all.session.membership.standing).toBe("joining");
  await all.timer.advance(1);
  expect(all.session.membership.standing).toBe("member");
  expect(all.session.membership.leaseUntilMs).toBe(10_500);
  expect(all.seen.changes.map(({ reason }) => reason)).toEqual(["agreed", "agreed"]);
  await end(all, running);
});

test("what fails, hangs or is nonsense is told once for each sync, with its reason", async () => {
  const answers: readonly Answer[] = [
    { afterMs: 10, error: DOWN },
    {},
    { afterMs: 10, reply: { ...ALONE, rank: 7 } },
    { afterMs: 10, reply: ALONE },
  ];
  const all = setUp((sequence) => answers[sequence - 1] ?? { reply: ALONE });
  const running = all.driver.run();
  await all.timer.advance(1600);
  expect(all.log).toEqual([
    "10 down",
    `750 ${LATE}`,
    "1010 the store answered nonsense: rank is 7",
    "1510 reply at 1510",
  ]);
  await end(all, running);
});

test.each([
  ["reply", { afterMs: 300, reply: ALONE }],
  ["reply to a sync before the last", { afterMs: 700, reply: ALONE }],
  ["failure", { afterMs: 300, error: DOWN }],
])("a late %s tells nothing", async (_name, first) => {
  const all = setUp((sequence) => (sequence === 1 ? first : {}));
  const running = all.driver.run();
  await all.timer.advance(740);
  expect(all.log).toEqual([`250 ${LATE}`]);
  expect([all.session.membership.size, all.session.syncedAtMs]).toEqual([0, undefined]);
  await end(all, running);
});

test("a reply that a busy process reads too late tells nothing, though nobody has given it up", async () => {
  let isBusy = false;
  const all = setUp(() => ({ afterMs: 100, reply: ALONE }));
  const { timer } = all;
  const now = timer.now.bind(timer);
  // The process stands still while the reply comes in.
  timer.now = () => (isBusy ? now() + 400 : now());
  const running = all.driver.run();
  await timer.advance(99);
  isBusy = true;
  await timer.advance(1);
  expect([all.log, all.session.membership.size]).toEqual([[], 0]);
  isBusy = false;
  await timer.advance(150);
  expect(all.log).toEqual([`250 ${LATE}`]);
  await end(all, running);
});

test("a store that is away is lost after a lease, and back with its first reply", async () => {
  let isAway = false;
  const all = setUp(() => (isAway ? { error: DOWN } : { reply: ALONE }));
  const running = all.driver.run();
  await all.timer.advance(6000);
  isAway = true;
  all.seen.changes.length = 0;
  await all.timer.advance(6000);
  expect(all.session.membership.standing).toBe("lost");
  isAway = false;
  await all.timer.advance(6000);
  expect(all.seen.changes.map(({ reason }) => reason)).toEqual([
    "lease-ended",
    "store-lost",
    "store-back",
    "agreed",
  ]);
  await end(all, running);
});

const leaves: readonly (readonly [string, Answer, number, readonly string[]])[] = [
  ["answers", { reply: ALONE }, 0, []],
  ["answers after a while", { afterMs: 300, reply: ALONE }, 300, []],
  ["fails", { error: DOWN }, 0, ["100 down"]],
  ["hangs", {}, 1000, []],
];

test.each(leaves)(
  "stopping gives the place back to a store that %s",
  async (_name, leave, tookMs, failures) => {
    const all = setUp(() => ({}), { leave });
    const running = all.driver.run();
    await all.timer.advance(100);
    const stopping = all.driver.stop("redeploy", 70, 1000).then(() => all.timer.now());
    await running;
    await all.timer.advance(tookMs);
    expect(await stopping).toBe(100 + tookMs);
    expect(all.seen.leaves).toEqual([
      { pool: "pool", member: "a", nonce: "n", level: 70, reason: "redeploy", resumeTtlMs: 0 },
    ]);
    expect([all.timer.sleeping, all.log]).toEqual([0, failures]);
    await all.timer.advance(5000);
    expect(all.sentAtMs).toEqual([0]);
  },
);

test("what comes back after the end tells nothing", async () => {
  for (const first of [
    { afterMs: 200, reply: ALONE },
    { afterMs: 200, error: DOWN },
  ]) {
    const all = setUp(() => first);
    const running = all.driver.run();
    await all.timer.advance(100);
    await all.driver.stop("pause", undefined, 1000);
    await running;
    await all.timer.advance(1000);
    expect([all.log, all.seen.changes, all.timer.sleeping]).toEqual([[], [], 0]);
  }
});

test("it gives its place back once, however often it is stopped", async () => {
  const all = setUp(() => ({ reply: ALONE }));
  const running = all.driver.run();
  await end(all, running);
  await all.driver.stop("pause", undefined, 1000);
  expect(all.seen.leaves.length).toBe(1);
});

test("who is told of a change may stop it there", async () => {
  const stops: Promise<void>[] = [];
  const all = setUp(() => ({ reply: ALONE }), {
    onChanges: () => void stops.push(all.driver.stop("pause", undefined, 1000)),
  });
  const running = all.driver.run();
  await all.timer.advance(10);
  await Promise.all([running, ...stops]);
  expect([all.timer.sleeping, all.sentAtMs, stops.length]).toEqual([0, [0], 1]);
});

test.each([
  [250, "before the next sync is due"],
  [700, "though a sync is due"],
])("who is told after %i ms of a failure may stop it there, %s", async (timeoutMs) => {
  const stops: Promise<void>[] = [];
  const all = setUp(() => ({}), {
    timing: { timeoutMs },
    onFailure: () => void stops.push(all.driver.stop("pause", undefined, 1000)),
  });
  const running = all.driver.run();
  await all.timer.advance(timeoutMs);
  expect(all.timer.sleeping).toBe(0);
  await Promise.all([running, ...stops]);
  expect([all.sentAtMs, stops.length]).toEqual([[0], 1]);
});

test("one that was stopped before it ran sends nothing but its leave", async () => {
  const all = setUp(() => ({ reply: ALONE }));
  await all.driver.stop("pause", undefined, 1000);
  await all.driver.run();
  expect([all.sentAtMs, all.seen.leaves.length, all.timer.sleeping]).toEqual([[], 1, 0]);
});
