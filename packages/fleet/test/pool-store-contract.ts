/** What every store must do, whatever it is made of. */
import { ConfigError } from "@sluice/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PARTS } from "../src/ledger/parts.ts";
import { DEFAULT_TIMING, ledgerTimes } from "../src/ledger/timing.ts";
import type {
  LeaveReason,
  PoolStore,
  SyncReply,
  SyncRequest,
  Told,
} from "../src/store/pool-store.ts";

/** A store, and the time by which it judges. */
export interface StoreUnderTest {
  readonly store: PoolStore;
  /** Lets time pass on the store's clock. */
  pass(ms: number): void;
  /** Sets the store's clock back. */
  setBack(ms: number): void;
  /** Loses all of a pool, or the entry of one member. */
  forget(pool: string, member?: string): Promise<void>;
  /** The server is restarted with the data that it has. */
  restart(): void;
  close(): Promise<void>;
}

const SYNC_MS = DEFAULT_TIMING.syncIntervalMs;
const STALE_MS = DEFAULT_TIMING.staleMs;
const { learningMs: LEARNING_MS, silentMs: SILENT_MS, gapMs: GAP_MS } = ledgerTimes(DEFAULT_TIMING);
const RESUME_TTL_MS = 180_000;
const HALF = PARTS / 2;
const SAFE = PARTS / 64;

/** A member that knows limits of this version. */
function known(version: number): Pick<SyncRequest, "limits"> {
  return { limits: { version, text: undefined } };
}

/** Every test has a pool of its own. */
let pools = 0;

function nextPool(): string {
  return `shop/pool-${++pools}`;
}

/** One process that syncs as a member does: it holds what it was told, unless a test says otherwise. */
class Member {
  readonly id: string;
  held = 0;
  #sequence = 0;
  #isFirst = true;
  readonly #store: PoolStore;
  readonly #who: Pick<SyncRequest, "pool" | "member" | "nonce">;

  constructor(store: PoolStore, pool: string, id: string, nonce: string = `nonce-of-${id}`) {
    this.id = id;
    this.#store = store;
    this.#who = { pool, member: id, nonce };
  }

  async sync(said: Partial<SyncRequest> = {}): Promise<Told> {
    const reply = await this.try(said);
    if (reply.kind !== "told") throw new Error(JSON.stringify(reply));
    this.held = reply.told;
    this.#isFirst = false;
    return reply;
  }

  /** A sync whose reply is lost. */
  try(said: Partial<SyncRequest> = {}): Promise<SyncReply> {
    this.#sequence++;
    return this.#store.sync({
      ...this.#who,
      sequence: this.#sequence,
      isFirst: this.#isFirst,
      held: this.held,
      isHeldUnleased: false,
      wanted: PARTS,
      safeShare: 0,
      startsOnSafeShare: false,
      needsRank: false,
      level: undefined,
      limits: { version: 0, text: undefined },
      timing: DEFAULT_TIMING,
      resumeTtlMs: RESUME_TTL_MS,
      ...said,
    });
  }

  leave(reason: LeaveReason = "redeploy", level?: number): Promise<void> {
    const timing = DEFAULT_TIMING;
    return this.#store.leave({ ...this.#who, level, reason, timing, resumeTtlMs: RESUME_TTL_MS });
  }
}

export function testPoolStore(
  name: string,
  start: () => Promise<StoreUnderTest>,
  { isSkipped = false }: { readonly isSkipped?: boolean } = {},
): void {
  describe.skipIf(isSkipped)(name, () => {
    let tested: StoreUnderTest;
    beforeAll(async () => {
      tested = await start();
    });
    afterAll(() => tested.close());

    const member = (pool: string, id: string, nonce?: string): Member =>
      new Member(tested.store, pool, id, nonce);

    /** Every member syncs in turn, `rounds` times, one sync interval apart. */
    async function syncAll(members: readonly Member[], rounds: number): Promise<void> {
      for (let round = 0; round < rounds; round++) {
        for (const each of members) await each.sync();
        tested.pass(SYNC_MS);
      }
    }

    /** A pool that has learnt, whose members hold equal shares. */
    async function settledPool(...ids: string[]): Promise<[string, ...Member[]]> {
      const pool = nextPool();
      const members = ids.map((id) => member(pool, id));
      await syncAll(members, Math.ceil(LEARNING_MS / SYNC_MS) + 4);
      for (const { held } of members) expect(held).toBe(Math.floor(PARTS / ids.length));
      return [pool, ...members];
    }

    test("the roster of a pool that is not known is undefined", async () => {
      expect(await tested.store.roster?.(nextPool())).toBeUndefined();
    });

    test("the roster has every member with what it is promised, its age and the most that is left of its lease", async () => {
      const [pool, a] = await settledPool("a", "b");
      tested.pass(100);
      await a?.sync({ used: 0.997, where: "shop-1:4121" });
      tested.pass(50);
      const roster = await tested.store.roster?.(pool);
      expect(roster).toMatchObject({ leftOut: 0, learningMs: 0, timing: DEFAULT_TIMING });
      const shared = {
        promised: HALF,
        told: HALF,
        wanted: PARTS,
        fair: HALF,
        joinedAgoMs: expect.any(Number) as number,
        hasArrived: true,
        hasLeft: false,
      };
      expect(roster?.members).toEqual([
        {
          id: "a",
          nonce: "nonce-of-a",
          ...shared,
          used: 0.997,
          where: "shop-1:4121",
          syncAgeMs: 50,
          leaseLeftMs: DEFAULT_TIMING.leaseMs - 50,
        },
        {
          id: "b",
          nonce: "nonce-of-b",
          ...shared,
          syncAgeMs: SYNC_MS + 150,
          leaseLeftMs: DEFAULT_TIMING.leaseMs - SYNC_MS - 150,
        },
      ]);
    });

    test("the roster shows a joiner that waits, a member that was asked back, and one that has left", async () => {
      const [pool, a, b] = await settledPool("a", "b");
      const c = member(pool, "c");
      await c.sync();
      await a?.sync();
      await b?.leave();
      const roster = await tested.store.roster?.(pool);
      const [ofA, ofB, ofC] = roster?.members ?? [];
      expect(ofA).toMatchObject({ id: "a", promised: HALF });
      expect(ofA?.told).toBeLessThan(HALF);
      expect(ofB).toMatchObject({ id: "b", promised: 0, leaseLeftMs: 0, hasLeft: true });
      expect(ofC).toMatchObject({ id: "c", promised: 0, hasArrived: false, hasLeft: false });
    });

    test("the roster tells what each member wants and what is fair, and since when it is there", async () => {
      const [pool, a, b] = await settledPool("a", "b");
      const c = member(pool, "c");
      await c.sync({ wanted: undefined });
      tested.pass(70);
      await a?.sync({ wanted: PARTS / 10 });
      await b?.leave();
      const roster = await tested.store.roster?.(pool);
      const [ofA, ofB, ofC] = roster?.members ?? [];
      // Of two members each has half; what a member said while three were there is taken as of then.
      const third = Math.floor(PARTS / 3);
      expect(ofA?.wanted).toBe(HALF - third + PARTS / 10);
      expect(ofB).toMatchObject({ wanted: 0, fair: 0 });
      expect(ofC).toMatchObject({ wanted: HALF, joinedAgoMs: 70 });
      expect(ofC?.used).toBeUndefined();
      expect(ofC?.where).toBeUndefined();
    });

    test("what a member says of itself changes no share, and stays when another member syncs and when it leaves", async () => {
      const [pool, a, b] = await settledPool("a", "b");
      for (const used of [0, 0.5, undefined, 1])
        expect(await a?.sync({ used, where: "shop-1:4121" })).toMatchObject({ told: HALF });
      await b?.sync();
      const roster = await tested.store.roster?.(pool);
      expect(roster?.members[0]).toMatchObject({ used: 1, where: "shop-1:4121" });
      await a?.leave();
      const after = await tested.store.roster?.(pool);
      expect(after?.members[0]).toMatchObject({ hasLeft: true, where: "shop-1:4121" });
    });

    test("asking for the roster changes nothing", async () => {
      const [pool, a] = await settledPool("a", "b");
      const before = await tested.store.roster?.(pool);
      expect(await tested.store.roster?.(pool)).toEqual(before);
      expect(await a?.sync()).toMatchObject({ told: HALF, reason: "kept" });
    });

    test("the roster tells how long no share grows after lost memory", async () => {
      const pool = nextPool();
      await member(pool, "a").sync();
      tested.pass(200);
      expect(await tested.store.roster?.(pool)).toMatchObject({ learningMs: LEARNING_MS - 200 });
    });

    test("an empty store tells its first joiner a safe share at its second sync, and others nothing, until it has learnt", async () => {
      const pool = nextPool();
      const [a, b] = [member(pool, "a"), member(pool, "b")];
      const said = { safeShare: SAFE };
      const first = { told: 0, fair: PARTS, members: 1, learningMs: LEARNING_MS };
      expect(await a.sync(said)).toMatchObject(first);
      expect(await b.sync(said)).toMatchObject({ told: 0, reason: "learning" });
      tested.pass(SYNC_MS);
      for (let ms = SYNC_MS; ms < LEARNING_MS; ms += SYNC_MS) {
        expect(await a.sync(said)).toMatchObject({ told: SAFE, isRenewed: true });
        expect(await b.sync(said)).toMatchObject({ told: 0 });
        tested.pass(SYNC_MS);
      }
      expect(await b.sync()).toMatchObject({ told: HALF, reason: "grown", learningMs: 0 });
      expect(await a.sync()).toMatchObject({ told: HALF, reason: "grown" });
    });

    test("a joiner starts on a safe share too if all others left before the store had learnt", async () => {
      const pool = nextPool();
      const [a, b] = [member(pool, "a"), member(pool, "b")];
      const said = { safeShare: SAFE };
      await a.sync(said);
      await a.leave();
      tested.pass(SYNC_MS);
      expect(await b.sync(said)).toMatchObject({ told: 0, members: 1 });
      tested.pass(SYNC_MS);
      expect(await b.sync(said)).toMatchObject({
        told: SAFE,
        learningMs: LEARNING_MS - 2 * SYNC_MS,
      });
      expect(await member(pool, "c").sync(said)).toMatchObject({ told: 0 });
    });

    test("a joiner that finds the store emptied gets no safe share while others report that they hold all", async () => {
      const [pool, a] = await settledPool("a");
      await tested.forget(pool);
      const b = member(pool, "b");
      await b.sync({ safeShare: SAFE });
      await a?.sync();
      tested.pass(SYNC_MS);
      expect(await b.sync({ safeShare: SAFE })).toMatchObject({ told: 0 });
    });

    test("a lost first reply of an empty store is made up for", async () => {
      const a = member(nextPool(), "a");
      await a.try({ safeShare: SAFE });
      await a.try({ safeShare: SAFE });
      expect(await a.sync({ safeShare: SAFE })).toMatchObject({ told: SAFE });
    });

    test("a joiner that starts on its safe share is told it at once; others give that much back", async () => {
      const [pool, a] = await settledPool("a");
      const b = member(pool, "b");
      const eager = { safeShare: SAFE, startsOnSafeShare: true };
      expect(await b.sync(eager)).toMatchObject({ told: SAFE, fair: HALF });
      expect(await a?.sync()).toMatchObject({ reason: "asked-back", isRenewed: false });
      await a?.sync();
      expect((a?.held ?? 0) + b.held).toBeLessThanOrEqual(PARTS);
    });

    test("a share is handed over only after its holder has reported the release", async () => {
      const [pool, a] = await settledPool("a");
      const b = member(pool, "b");
      await b.sync();
      // Asked back in a step of 30 %, and still promised.
      expect(await a?.sync()).toMatchObject({ told: 0.7 * PARTS, isRenewed: false });
      expect(await b.sync()).toMatchObject({ told: 0, reason: "no-room" });
      // The holder syncs with what it has left: now it is free.
      await a?.sync();
      expect(await b.sync()).toMatchObject({ told: 0.3 * PARTS, reason: "grown" });
      await syncAll([a ?? b, b], 4);
      expect([a?.held, b.held]).toEqual([HALF, HALF]);
    });

    test("what was told in a lost reply stays promised until the member reports otherwise", async () => {
      const [pool, a, b] = await settledPool("a", "b");
      await b?.leave();
      // The reply that gives it everything is lost: it may hold all, or half.
      expect(await a?.try()).toMatchObject({ told: PARTS });
      const c = member(pool, "c");
      await c.sync();
      expect(await c.sync()).toMatchObject({ told: 0 });
      await a?.sync();
      expect(a?.held).toBe(HALF);
      expect(await c.sync()).toMatchObject({ told: HALF });
    });

    test("the share of a member that died is free one stale age after its last renewal", async () => {
      const [, a, b] = await settledPool("a", "b");
      await b?.sync();
      for (let ms = 0; ms < STALE_MS; ms += SYNC_MS) {
        tested.pass(SYNC_MS);
        expect(await a?.sync()).toMatchObject({ told: HALF, members: 2 });
      }
      tested.pass(1);
      expect(await a?.sync()).toMatchObject({ told: PARTS, members: 1 });
    });

    test("a joiner that was promised nothing is forgotten soon", async () => {
      const [pool, a] = await settledPool("a");
      await member(pool, "b").sync();
      tested.pass(GAP_MS);
      expect(await a?.sync()).toMatchObject({ members: 2 });
      tested.pass(GAP_MS);
      expect(await a?.sync()).toMatchObject({ members: 2 });
      tested.pass(SILENT_MS - 2 * GAP_MS + 1);
      expect(await a?.sync()).toMatchObject({ members: 1 });
    });

    test("a member that leaves gives its share back at once; a share of another process with its id stays", async () => {
      const [pool, a, b] = await settledPool("a", "b");
      await member(pool, "b", "other").leave();
      expect(await a?.sync()).toMatchObject({ members: 2, told: HALF });
      await b?.leave();
      expect(await a?.sync()).toMatchObject({ members: 1, told: PARTS });
      // A sync that was still on its way changes nothing.
      expect(await b?.try()).toEqual({ kind: "late" });
      // The id is free for another process at once.
      expect(await member(pool, "b", "third").sync()).toMatchObject({ members: 2, told: 0 });
      await member(nextPool(), "nobody").leave();
    });

    test("a second process with the same id is refused until the first has left or is stale", async () => {
      const [pool, a] = await settledPool("a");
      const twin = member(pool, "a", "twin");
      const refused = { kind: "refused", why: "id-taken" };
      expect(await twin.try()).toEqual(refused);
      await a?.sync();
      for (let ms = 0; ms < STALE_MS; ms += GAP_MS) {
        expect(await twin.try()).toEqual(refused);
        tested.pass(GAP_MS);
      }
      tested.pass(GAP_MS);
      expect(await twin.try()).toMatchObject({ kind: "told" });
    });

    test("a sync that arrives after a later one changes nothing", async () => {
      const [, a] = await settledPool("a");
      expect(await a?.try({ sequence: 1000 })).toMatchObject({ told: PARTS });
      expect(await a?.try({ sequence: 1000, held: 0, wanted: 0 })).toEqual({ kind: "late" });
      expect(await a?.try({ sequence: 999 })).toEqual({ kind: "late" });
      expect(await a?.try({ sequence: 1001 })).toMatchObject({ told: PARTS });
    });

    test("after a flush members keep what they report, and no share grows until all have reported", async () => {
      const [pool, a, b] = await settledPool("a", "b");
      await tested.forget(pool);
      expect(await a?.sync()).toMatchObject({ told: HALF, reason: "learning", isRenewed: true });
      for (let ms = 0; ms < LEARNING_MS - GAP_MS; ms += GAP_MS) {
        tested.pass(GAP_MS);
        expect(await a?.sync()).toMatchObject({ told: HALF });
      }
      expect(await b?.sync()).toMatchObject({ told: HALF });
      tested.pass(GAP_MS);
      expect(await a?.sync()).toMatchObject({ told: HALF, fair: HALF });
    });

    test("a member that lends has all of its fair share back after a flush", async () => {
      const [pool, a] = await settledPool("a", "b");
      await tested.forget(pool);
      expect(await a?.sync()).toMatchObject({ told: HALF, learningMs: LEARNING_MS });
      for (let ms = 0; ms < LEARNING_MS; ms += SYNC_MS) {
        tested.pass(SYNC_MS);
        await a?.sync();
      }
      // The other never came back.
      expect(a?.held).toBe(PARTS);
    });

    test.each([
      ["a restart with old data", (): void => tested.restart()],
      ["the loss of one entry", (pool: string): Promise<void> => tested.forget(pool, "b")],
    ])("%s stops growth for the learning time, and shrinks nothing", async (_what, befall) => {
      const [pool, a, b, c] = await settledPool("a", "b", "c");
      await a?.sync();
      await befall(pool);
      await c?.leave();
      expect(await a?.sync()).toMatchObject({
        reason: "learning",
        told: a?.held,
        learningMs: LEARNING_MS,
      });
      expect(await b?.sync()).toMatchObject({ told: b?.held });
      for (let ms = 0; ms < LEARNING_MS; ms += SYNC_MS) {
        tested.pass(SYNC_MS);
        await a?.sync();
        await b?.sync();
      }
      expect([a?.held, b?.held]).toEqual([HALF, HALF]);
    });

    test("a restart is noticed within a second, though no share grows", async () => {
      const [, a] = await settledPool("a", "b");
      await a?.sync();
      tested.restart();
      tested.pass(1000);
      expect(await a?.sync()).toMatchObject({ told: HALF, learningMs: LEARNING_MS });
    });

    test("a member that holds more than the store remembers stops growth", async () => {
      const [pool, a] = await settledPool("a", "b");
      expect(await a?.sync()).toMatchObject({ learningMs: 0 });
      const stranger = member(pool, "stranger");
      stranger.held = 1000;
      expect(await stranger.sync({ isFirst: false })).toMatchObject({
        told: 1000,
        learningMs: LEARNING_MS,
      });
    });

    test("a safe share used without a lease is reported, and is no sign of lost memory", async () => {
      const [pool, a] = await settledPool("a");
      const back = member(pool, "b");
      back.held = SAFE;
      const reply = await back.sync({ isFirst: false, isHeldUnleased: true });
      expect(reply).toMatchObject({ told: SAFE, learningMs: 0 });
      expect(await a?.sync()).toMatchObject({ reason: "asked-back" });
    });

    test("the store's clock may jump: no promise ends early, and none lasts for ever", async () => {
      const [, a, b] = await settledPool("a", "b");
      await b?.sync();
      tested.pass(2 * STALE_MS - 1);
      expect(await a?.sync()).toMatchObject({ told: HALF, members: 2 });
      tested.setBack(60_000);
      expect(await a?.sync()).toMatchObject({ told: HALF, members: 2 });
      for (let ms = 0; ms < STALE_MS; ms += GAP_MS) {
        tested.pass(GAP_MS);
        await a?.sync();
      }
      expect(a?.held).toBe(PARTS);
    });

    test("an empty pool is remembered for twice the stale age, then it is new", async () => {
      const [pool, a] = await settledPool("a");
      await a?.leave();
      tested.pass(2 * STALE_MS);
      const b = member(pool, "b");
      expect(await b.sync()).toMatchObject({ learningMs: 0 });
      expect(await b.sync()).toMatchObject({ told: PARTS });
      await b.leave();
      tested.pass(2 * STALE_MS + 1);
      expect(await member(pool, "c").sync()).toMatchObject({ learningMs: LEARNING_MS });
    });

    test("pools know nothing of each other, and times are the store's", async () => {
      const first = member(nextPool(), "a");
      const second = member(nextPool(), "a", "other");
      const { storeMs } = await first.sync();
      tested.pass(1234);
      expect(await second.sync()).toMatchObject({ members: 1, storeMs: storeMs + 1234 });
    });

    test("members with another timing are refused while the pool has any member", async () => {
      const [pool, a] = await settledPool("a");
      const timing = { ...DEFAULT_TIMING, leaseMs: 5100, staleMs: 7000 };
      const b = member(pool, "b");
      expect(await b.try({ timing })).toEqual({ kind: "refused", why: "other-timing" });
      await a?.leave();
      expect(await b.try({ timing })).toMatchObject({ kind: "told", members: 1 });
      expect(await a?.try()).toEqual({ kind: "refused", why: "other-timing" });
    });

    test("what idle members lend goes to busy ones, and comes back when it is asked for", async () => {
      const [, idle, hot] = await settledPool("idle", "hot");
      const little = PARTS / 100;
      // What is not wanted is asked back at once, and free when it is reported.
      expect(await idle?.sync({ wanted: little })).toMatchObject({ told: little });
      expect(await hot?.sync()).toMatchObject({ told: HALF });
      await idle?.sync({ wanted: little });
      expect(await hot?.sync()).toMatchObject({ told: PARTS - little });
      // The idle member wants everything again: the rest is handed over in steps of 30 %.
      for (let round = 0; round < 6; round++) {
        await idle?.sync();
        await hot?.sync();
        expect((idle?.held ?? 0) + (hot?.held ?? 0)).toBeLessThanOrEqual(PARTS);
        tested.pass(SYNC_MS);
      }
      expect([idle?.held, hot?.held]).toEqual([HALF, HALF]);
    });

    test("an idle pool keeps its shares, so that a burst finds all of them", async () => {
      const [, a] = await settledPool("a");
      for (let round = 0; round < 3; round++) await a?.sync({ wanted: PARTS / 1000 });
      expect(a?.held).toBe(PARTS);
    });

    test("a member whose demand is not known claims its equal share, from idle members too, and gives back in steps", async () => {
      const [pool, a] = await settledPool("a");
      const b = member(pool, "b");
      const idle = { wanted: PARTS / 1000 };
      const unknown = { wanted: undefined };
      expect(await b.sync(unknown)).toMatchObject({ told: 0, fair: HALF });
      // Parts that an idle member does not want are asked back at once, down to its fair share.
      expect(await a?.sync(idle)).toMatchObject({ told: HALF, fair: HALF });
      await a?.sync(idle);
      expect(await b.sync(unknown)).toMatchObject({ told: HALF });
      await a?.leave();
      expect(await b.sync(unknown)).toMatchObject({ told: PARTS });
      await member(pool, "c").sync(unknown);
      expect(await b.sync(unknown)).toMatchObject({ told: 0.7 * PARTS, reason: "asked-back" });
    });

    test("the joiner that waits longest is served first", async () => {
      const [pool, a] = await settledPool("a");
      const [b, c] = [member(pool, "b"), member(pool, "c")];
      await b.sync();
      tested.pass(1);
      await c.sync();
      await a?.sync();
      await a?.sync();
      await b.sync({ held: 0 });
      // What is left of what was released is kept for b.
      const { told } = await c.sync();
      expect(told).toBe(0);
      expect(b.held).toBe(0.3 * PARTS);
    });

    test("ranks are told when the members have been the same for longer than any lease", async () => {
      const [pool, b, a] = await settledPool("B", "a");
      const asked = { needsRank: true };
      await syncAll([b ?? a, a ?? b] as Member[], 14);
      expect(await b?.sync(asked)).toMatchObject({ rank: 0, isSettled: true });
      expect(await a?.sync(asked)).toMatchObject({ rank: 1 });
      expect((await a?.sync())?.rank).toBeUndefined();
      const c = member(pool, "C");
      expect(await c.sync(asked)).toMatchObject({ rank: undefined, isSettled: false });
      expect((await a?.sync(asked))?.rank).toBeUndefined();
      await c.leave();
      for (let round = 0; round < 14; round++) {
        await a?.sync();
        await b?.sync();
        tested.pass(SYNC_MS);
      }
      expect(await a?.sync(asked)).toMatchObject({ rank: 1 });
    });

    test("a joiner finds the level of the running members", async () => {
      const [pool, a, b] = await settledPool("a", "b");
      await a?.sync({ level: 700 });
      await b?.sync({ level: 300 });
      const c = member(pool, "c");
      // The first reply may be lost: the level is told until one was read.
      await c.try();
      expect((await c.sync()).saved).toEqual({ level: 700, left: "running" });
      expect((await c.sync()).saved).toBeUndefined();
      // A level counts for 2 to 4 s after it was last reported.
      for (let round = 0; round < 8; round++) {
        await a?.sync({ level: 200 });
        await b?.sync({ level: 300 });
        tested.pass(SYNC_MS);
      }
      expect((await member(pool, "d").sync()).saved).toEqual({ level: 300, left: "running" });
    });

    test("a level is found as it was left: after a crash, a redeploy or a pause", async () => {
      const [pool, a] = await settledPool("a");
      const atLevel = { level: Number.MAX_SAFE_INTEGER };
      await a?.sync(atLevel);
      const watch = member(pool, "watch");
      for (let ms = 0; ms <= STALE_MS; ms += GAP_MS) {
        tested.pass(GAP_MS);
        await watch.sync();
      }
      await watch.leave("redeploy");
      const b = member(pool, "b");
      expect((await b.sync()).saved).toEqual({ ...atLevel, left: "redeploy" });
      await b.leave("pause");
      const c = member(pool, "c");
      expect((await c.sync()).saved).toEqual({ ...atLevel, left: "pause" });
      await c.sync({ level: 40 });
      await c.leave("redeploy", 50);
      const d = member(pool, "d");
      expect((await d.sync()).saved).toEqual({ level: 50, left: "redeploy" });
      await d.sync({ level: 60 });
      tested.pass(2 * STALE_MS + 1);
      expect((await member(pool, "e").sync()).saved).toEqual({ level: 60, left: "crash" });
    });

    test("a level is kept for its time after the last sync of any member, and no longer", async () => {
      const [pool, a] = await settledPool("a");
      await a?.leave("redeploy", 80);
      tested.pass(RESUME_TTL_MS - 1);
      const b = member(pool, "b");
      expect((await b.sync()).saved).toEqual({ level: 80, left: "redeploy" });
      tested.pass(RESUME_TTL_MS - 1);
      expect((await member(pool, "c").sync()).saved).toEqual({ level: 80, left: "redeploy" });
      tested.pass(RESUME_TTL_MS);
      expect((await member(pool, "d").sync()).saved).toBeUndefined();
    });

    test("a member that does not resume leaves no level", async () => {
      const pool = nextPool();
      await member(pool, "a").sync({ level: 10, resumeTtlMs: 0 });
      tested.pass(2 * STALE_MS + 1);
      expect((await member(pool, "b").sync({ resumeTtlMs: 0 })).saved).toBeUndefined();
    });

    test("limits are told to members that do not know them, as they were written", async () => {
      const [pool, a] = await settledPool("a");
      expect(await a?.sync()).toMatchObject({ limits: undefined, limitsVersion: 0 });
      const text = '{ "max": 1000, "name": "übermäßig {viel}\\n\\u0000" }';
      const first = await tested.store.setLimits(pool, "first");
      const second = await tested.store.setLimits(pool, text);
      expect(second).toBeGreaterThan(first);
      expect((await a?.sync())?.limits).toEqual({ version: second, text });
      expect((await a?.sync(known(first)))?.limits).toEqual({ version: second, text });
      expect(await a?.sync(known(second))).toMatchObject({
        limits: undefined,
        limitsVersion: second,
      });
      const third = await tested.store.setLimits(pool, "");
      expect((await a?.sync(known(second)))?.limits).toEqual({ version: third, text: "" });
    });

    test("a store that has lost the limits is taught them by a member", async () => {
      const [pool, a, b] = await settledPool("a", "b");
      const version = await tested.store.setLimits(pool, "live");
      await tested.forget(pool);
      expect((await a?.sync({ limits: { version, text: undefined } }))?.limitsVersion).toBe(0);
      await a?.sync({ limits: { version, text: "live" } });
      expect((await b?.sync())?.limits).toEqual({ version, text: "live" });
    });

    test("limits that are set after the store has lost its data are newer than any", async () => {
      const [pool, a] = await settledPool("a");
      const before = await tested.store.setLimits(pool, "old");
      await tested.forget(pool);
      tested.pass(1);
      const after = await tested.store.setLimits(pool, "new");
      expect(after).toBeGreaterThan(before);
      const taught = await a?.sync({ limits: { version: before, text: "old" } });
      expect(taught?.limits).toEqual({ version: after, text: "new" });
    });

    test("limits outlive a redeploy, and not much more", async () => {
      const [pool, a] = await settledPool("a");
      const version = await tested.store.setLimits(pool, "live");
      await a?.sync();
      tested.pass(RESUME_TTL_MS - 1);
      expect((await member(pool, "b").sync()).limits).toEqual({ version, text: "live" });
      tested.pass(RESUME_TTL_MS);
      expect((await member(pool, "c").sync()).limits).toBeUndefined();
    });

    test("names and numbers that no store may see are refused", async () => {
      const { store } = tested;
      const said = (changed: Partial<SyncRequest>): Promise<SyncReply> =>
        new Member(store, nextPool(), "a").try(changed);
      for (const pool of ["", "/", "a//b", "/a", "a/", "a b", "a{b}", "ä", "x".repeat(65), "a\n"])
        await expect(said({ pool }), pool).rejects.toThrow(ConfigError);
      for (const id of ["", "@", "!", "a/b", "a b", "{a}", "a\n", "x".repeat(65)]) {
        await expect(said({ member: id }), id).rejects.toThrow(ConfigError);
        await expect(said({ nonce: id }), id).rejects.toThrow(ConfigError);
      }
      await expect(store.setLimits("a b", "")).rejects.toThrow(ConfigError);
      await expect(store.setLimits("a", "x".repeat(65_537))).rejects.toThrow(ConfigError);
      await expect(said({ level: -1 })).rejects.toThrow(ConfigError);
      await expect(said({ sequence: 0 })).rejects.toThrow(ConfigError);
      await expect(said({ held: PARTS + 1 })).rejects.toThrow(ConfigError);
      await expect(said({ wanted: 0.5 })).rejects.toThrow(ConfigError);
      const timing = { ...DEFAULT_TIMING, staleMs: 5000 };
      await expect(said({ timing })).rejects.toThrow(ConfigError);
    });
  });
}
