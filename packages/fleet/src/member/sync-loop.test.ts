import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { PARTS } from "../ledger/parts.ts";
import { DEFAULT_TIMING } from "../ledger/timing.ts";
import type { Timing } from "../ledger/timing.ts";
import { told } from "../../test/replies.ts";
import type { LeaveRequest, PoolStore, SyncReply, SyncRequest } from "../store/pool-store.ts";
import type { MemberRules, MembershipChange } from "./membership.ts";
import { MemberSession } from "./session.ts";
import { SyncLoop } from "./sync-loop.ts";

const ALONE: SyncReply = told(PARTS);
const DOWN = new Error("down");

/** How a store answers one call: after so long, so. It hangs if it says neither. */
interface Answer {
  readonly afterMs?: number;
  readonly reply?: SyncReply;
  readonly error?: Error;
}

/** A sync loop against a store that answers by a script; what happens is noted with its time. */
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
  const rules: MemberRules = {
    timing: { ...DEFAULT_TIMING, ...timing },
    maxMembers: 10,
    onStoreLoss: "closed",
    joinOn: "agreement",
    share: "equal",
    needsRank: false,
  };
  const identity = { pool: "pool", member: "a", nonce: "n" };
  const session = new MemberSession(identity, rules, { nowMs: 0, resumeTtlMs: 0 });
  const loop = new SyncLoop(
    session,
    { store, timer },
    {
      condition: () => {
        seen.conditions++;
        return { level: undefined, wanted: 0, limits: { version: 0, text: undefined } };
      },
      onReply: (_reply, _sentAtMs, nowMs) => note(`reply at ${nowMs}`),
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
  return { timer, log, sentAtMs, seen, session, loop };
}

/** Stops a loop and makes sure that nothing is left of it. */
async function end({ loop, timer }: ReturnType<typeof setUp>, running: Promise<void>) {
  await loop.stop("pause", undefined, 1000);
  await running;
  expect(timer.sleeping).toBe(0);
}

const LATE = "the store has not answered in time";
const cadences: readonly (readonly [string, Answer, Partial<Timing>])[] = [
  ["answers at once", { reply: ALONE }, {}],
  ["answers a little later", { afterMs: 80, reply: ALONE }, {}],
  ["answers in the last moment", { afterMs: 250, reply: ALONE }, {}],
  ["fails at once", { error: DOWN }, {}],
  ["fails late", { afterMs: 200, error: DOWN }, {}],
  ["answers nonsense", { reply: told(-1) }, {}],
  ["answers sooner than it must", { afterMs: 80, reply: ALONE }, { timeoutMs: 700 }],
];

test.each(cadences)("a store that %s is called twice a second", async (_name, answer, timing) => {
  const all = setUp(() => answer, { timing });
  const running = all.loop.run();
  await all.timer.advance(9999);
  expect(all.sentAtMs).toEqual(Array.from({ length: 20 }, (_, i) => i * 500));
  expect(all.seen.conditions).toBe(20);
  await end(all, running);
});

test("a store that hangs is called when no reply can count any more", async () => {
  const all = setUp(() => ({}));
  const running = all.loop.run();
  await all.timer.advance(3000);
  expect(all.sentAtMs).toEqual([0, 750, 1500, 2250, 3000]);
  await end(all, running);
});

test("a member has what it was told with its first reply, and its changes are told", async () => {
  const all = setUp(() => ({ afterMs: 20, reply: ALONE }));
  const running = all.loop.run();
  await all.timer.advance(19);
  expect(all.session.membership.standing).toBe("joining");
  await all.timer.advance(1);
  expect(all.session.membership.standing).toBe("member");
  expect(all.session.membership.leaseUntilMs).toBe(5000);
  expect(all.seen.changes.map(({ type }) => type)).toEqual(["standing", "size", "share"]);
  await end(all, running);
});

test("what fails, hangs or is nonsense is told once for each sync, with its reason", async () => {
  const answers: readonly Answer[] = [
    { afterMs: 10, error: DOWN },
    {},
    { afterMs: 10, reply: told(PARTS, { rank: 7 }) },
    { afterMs: 10, reply: ALONE },
  ];
  const all = setUp((sequence) => answers[sequence - 1] ?? { reply: ALONE });
  const running = all.loop.run();
  await all.timer.advance(1900);
  expect(all.log).toEqual([
    "10 down",
    `750 ${LATE}`,
    "1260 the store answered nonsense: rank is 7",
    "1760 reply at 1760",
  ]);
  await end(all, running);
});

test.each([
  ["reply to a sync before the last", { afterMs: 900, reply: ALONE }],
  ["failure of a sync before the last", { afterMs: 900, error: DOWN }],
])("a %s tells nothing", async (_name, first) => {
  const all = setUp((sequence) => (sequence === 1 ? first : {}));
  const running = all.loop.run();
  await all.timer.advance(990);
  expect(all.log).toEqual([`250 ${LATE}`]);
  expect(all.session.membership.size).toBe(0);
  await end(all, running);
});

test("a reply that takes longer than the sync interval counts", async () => {
  const all = setUp((sequence) => (sequence === 1 ? { afterMs: 600, reply: ALONE } : {}));
  const running = all.loop.run();
  await all.timer.advance(650);
  expect(all.log).toEqual([`250 ${LATE}`, "600 reply at 600"]);
  expect(all.sentAtMs).toEqual([0, 600]);
  expect(all.session.membership.standing).toBe("member");
  await end(all, running);
});

test("a store that is away is lost after a lease, and back with its first reply", async () => {
  let isAway = false;
  const all = setUp(() => (isAway ? { error: DOWN } : { reply: ALONE }));
  const running = all.loop.run();
  await all.timer.advance(6000);
  isAway = true;
  all.seen.changes.length = 0;
  await all.timer.advance(6000);
  expect(all.session.membership.standing).toBe("lost");
  isAway = false;
  await all.timer.advance(6000);
  const standings = all.seen.changes.filter((change) => change.type === "standing");
  expect(standings.map(({ reason }) => reason)).toEqual(["lease-ended", "store-back"]);
  await end(all, running);
});

const leaves: readonly (readonly [string, Answer, number, readonly string[]])[] = [
  ["answers", { reply: ALONE }, 0, []],
  ["answers after a while", { afterMs: 300, reply: ALONE }, 300, []],
  ["fails", { error: DOWN }, 0, ["100 down"]],
  ["hangs", {}, 1000, []],
];

test.each(leaves)(
  "stopping gives the share back to a store that %s",
  async (_name, leave, tookMs, failures) => {
    const all = setUp(() => ({}), { leave });
    const running = all.loop.run();
    await all.timer.advance(100);
    const stopping = all.loop.stop("redeploy", 70, 1000).then(() => all.timer.now());
    await running;
    await all.timer.advance(tookMs);
    expect(await stopping).toBe(100 + tookMs);
    expect(all.seen.leaves).toEqual([
      {
        pool: "pool",
        member: "a",
        nonce: "n",
        level: 70,
        reason: "redeploy",
        timing: DEFAULT_TIMING,
        resumeTtlMs: 0,
      },
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
    const running = all.loop.run();
    await all.timer.advance(100);
    await all.loop.stop("pause", undefined, 1000);
    await running;
    await all.timer.advance(1000);
    expect([all.log, all.seen.changes, all.timer.sleeping]).toEqual([[], [], 0]);
  }
});

test("it gives its share back once, however often it is stopped", async () => {
  const all = setUp(() => ({ reply: ALONE }));
  const running = all.loop.run();
  await end(all, running);
  await all.loop.stop("pause", undefined, 1000);
  expect(all.seen.leaves.length).toBe(1);
});

test("a host that is told of a change may stop the loop there", async () => {
  const stops: Promise<void>[] = [];
  const all = setUp(() => ({ reply: ALONE }), {
    onChanges: () => void stops.push(all.loop.stop("pause", undefined, 1000)),
  });
  const running = all.loop.run();
  await all.timer.advance(10);
  await Promise.all([running, ...stops]);
  expect([all.timer.sleeping, all.sentAtMs, stops.length]).toEqual([0, [0], 1]);
});

test("a host that is told of a failure may stop the loop there", async () => {
  const stops: Promise<void>[] = [];
  const all = setUp(() => ({}), {
    onFailure: () => void stops.push(all.loop.stop("pause", undefined, 1000)),
  });
  const running = all.loop.run();
  await all.timer.advance(250);
  expect(all.timer.sleeping).toBe(0);
  await Promise.all([running, ...stops]);
  expect([all.sentAtMs, stops.length]).toEqual([[0], 1]);
});

test("one that was stopped before it ran sends nothing but its leave", async () => {
  const all = setUp(() => ({ reply: ALONE }));
  await all.loop.stop("pause", undefined, 1000);
  await all.loop.run();
  expect([all.sentAtMs, all.seen.leaves.length, all.timer.sleeping]).toEqual([[], 1, 0]);
});
