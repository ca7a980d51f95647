/** What every store must do, whatever it is made of. */
import { ConfigError } from "@sluice/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PARTS } from "../src/store/pool-store.ts";
import type { PoolStore, SyncReply, SyncRequest } from "../src/store/pool-store.ts";

/** A store, and the time by which it judges. */
export interface StoreUnderTest {
  readonly store: PoolStore;
  /** Lets time pass on the store's clock. */
  pass(ms: number): void;
  /** Sets the store's clock back. */
  setBack(ms: number): void;
  /** Loses all of a pool. */
  forget(pool: string): Promise<void>;
  close(): Promise<void>;
}

type Counted = Extract<SyncReply, { kind: "counted" }>;

const STALE_MS = 6500;
const LEARNING_MS = 5500;
const RESUME_TTL_MS = 180_000;
const TIMES = { staleMs: STALE_MS, learningMs: LEARNING_MS, resumeTtlMs: RESUME_TTL_MS };
const HALF = PARTS / 2;

/** Every test has a pool of its own. */
let pools = 0;

function nextPool(): string {
  return `shop/pool-${++pools}`;
}

/** One process that syncs as a member does: its sequence counts up by itself. */
class Member {
  sequence = 0;
  readonly #store: PoolStore;
  readonly #who: Pick<SyncRequest, "pool" | "member" | "nonce">;

  constructor(store: PoolStore, pool: string, id: string, nonce: string = `nonce-of-${id}`) {
    this.#store = store;
    this.#who = { pool, member: id, nonce };
  }

  async sync(said: Partial<SyncRequest> = {}): Promise<Counted> {
    const reply = await this.try(said);
    if (reply.kind === "refused") throw new Error("refused");
    return reply;
  }

  try(said: Partial<SyncRequest> = {}): Promise<SyncReply> {
    this.sequence++;
    return this.#store.sync({
      ...this.#who,
      sequence: this.sequence,
      size: undefined,
      level: undefined,
      limitsVersion: 0,
      demand: undefined,
      times: TIMES,
      ...said,
    });
  }

  leave(reason: "redeploy" | "pause" = "redeploy", level?: number): Promise<void> {
    return this.#store.leave({ ...this.#who, level, reason, resumeTtlMs: RESUME_TTL_MS });
  }

  /** One sync by demand; answers the parts. */
  async ask(entitled: number, held: number, wanted: number): Promise<number | undefined> {
    return (await this.sync({ demand: { entitled, held, wanted } })).parts;
  }
}

/** Runs the suite on a store that `start` makes. */
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
    afterAll(async () => {
      // There is none if it did not start.
      await (tested as StoreUnderTest | undefined)?.close();
    });

    const member = (pool: string, id: string, nonce?: string): Member =>
      new Member(tested.store, pool, id, nonce);

    /** A pool that has been there for so long that it has nothing to learn. */
    async function oldPool(...ids: readonly string[]): Promise<[string, ...Member[]]> {
      const pool = nextPool();
      const members = ids.map((id) => member(pool, id));
      for (const each of members) await each.sync();
      tested.pass(LEARNING_MS);
      for (const each of members) await each.sync();
      return [pool, ...members];
    }

    test("a pool that is new has much to learn: nothing is agreed until then", async () => {
      const a = member(nextPool(), "a");
      expect(await a.sync()).toMatchObject({ verdict: "disagree", size: 1, live: 1, rank: 0 });
      tested.pass(LEARNING_MS - 1);
      expect(await a.sync({ size: 1 })).toMatchObject({ verdict: "disagree" });
      tested.pass(1);
      expect(await a.sync({ size: 1 })).toMatchObject({ verdict: "agree", size: 1, live: 1 });
    });

    test("all agree only if all report the number of those who are live", async () => {
      const [pool, a] = await oldPool("a");
      const b = member(pool, "b");
      expect(await a?.sync({ size: 1 })).toMatchObject({ verdict: "agree", size: 1 });
      // The newcomer counts itself; who was there has not heard of it yet.
      expect(await b.sync()).toMatchObject({ verdict: "disagree", size: 2, live: 2, rank: 1 });
      expect(await a?.sync({ size: 1 })).toMatchObject({ verdict: "disagree", size: 2, live: 2 });
      expect(await a?.sync({ size: 2 })).toMatchObject({ verdict: "agree", size: 2, live: 2 });
      expect(await b.sync({ size: 3 })).toMatchObject({ verdict: "disagree", size: 3, live: 2 });
      // Agreeing with each other is not enough.
      expect(await a?.sync({ size: 3 })).toMatchObject({ verdict: "disagree", size: 3, live: 2 });
    });

    test("who has not synced for longer than the stale age is gone, and not a moment earlier", async () => {
      const [, a, b] = await oldPool("a", "b");
      tested.pass(STALE_MS);
      expect(await a?.sync({ size: 2 })).toMatchObject({ live: 2, verdict: "agree" });
      tested.pass(1);
      expect(await a?.sync({ size: 2 })).toMatchObject({ live: 1, size: 2, verdict: "disagree" });
      expect(await a?.sync({ size: 1 })).toMatchObject({ live: 1, size: 1, verdict: "agree" });
      expect(await b?.sync({ size: 2 })).toMatchObject({ live: 2, size: 2, verdict: "disagree" });
    });

    test("an id has one holder: another is refused, without effect, until the first is gone", async () => {
      const [pool, a] = await oldPool("a");
      const second = member(pool, "a", "other");
      expect(await second.try({ size: 7, level: 7 })).toEqual({ kind: "refused" });
      expect(await a?.sync({ size: 1 })).toMatchObject({ verdict: "agree", size: 1, live: 1 });
      tested.pass(STALE_MS);
      expect(await second.try()).toEqual({ kind: "refused" });
      tested.pass(1);
      expect(await second.try()).toMatchObject({ kind: "counted", live: 1 });
      expect(await a?.try()).toEqual({ kind: "refused" });
    });

    test("a refused sync does not keep anybody alive", async () => {
      const [pool, a, b] = await oldPool("a", "b");
      tested.pass(STALE_MS);
      expect(await member(pool, "b", "other").try()).toEqual({ kind: "refused" });
      tested.pass(1);
      expect(await a?.sync({ size: 1 })).toMatchObject({ live: 1 });
      expect(await b?.sync()).toMatchObject({ live: 2 });
    });

    test("a sync that arrives after a later one is answered and changes nothing", async () => {
      const [pool, a, b] = await oldPool("a", "b");
      await a?.sync({ size: 2, sequence: 10 });
      tested.pass(STALE_MS);
      const late = await a?.sync({ size: 9, level: 9, sequence: 9 });
      expect(late).toMatchObject({ size: 2, live: 2, rank: 0, verdict: "agree" });
      expect(await a?.sync({ size: 9, sequence: 10 })).toMatchObject({ size: 2 });
      expect(await member(pool, "c").sync()).toMatchObject({ live: 3, size: 3 });
      // It did not count as seen.
      tested.pass(1);
      expect(await b?.sync()).toMatchObject({ live: 2, size: 3 });
    });

    test("ranks follow the ids, byte by byte", async () => {
      const ids = ["a", "B", "a-1", "a.1", "_", "9", "aa", "Z"];
      const [, ...members] = await oldPool(...ids);
      const ranks = await Promise.all(members.map(async (each) => (await each.sync()).rank));
      expect(ids.toSorted()).toEqual(["9", "B", "Z", "_", "a", "a-1", "a.1", "aa"]);
      expect(ids.map((_id, index) => ids.toSorted()[ranks[index] ?? 0])).toEqual(ids);
    });

    test("who leaves gives its place back at once; what another has, it cannot give", async () => {
      const [pool, a, b] = await oldPool("a", "b");
      await member(pool, "b", "other").leave();
      expect(await a?.sync({ size: 2 })).toMatchObject({ live: 2 });
      await b?.leave();
      expect(await a?.sync({ size: 1 })).toMatchObject({ live: 1, size: 1, verdict: "agree" });
      // The id is free for another process at once.
      expect(await member(pool, "b", "third").sync()).toMatchObject({ live: 2 });
      await member(nextPool(), "nobody").leave();
    });

    test("a place that was forgotten is nobody's: whoever leaves it leaves its level", async () => {
      const [pool] = await oldPool("a");
      tested.pass(2 * STALE_MS);
      await member(pool, "a", "other").leave("pause", 70);
      expect((await member(pool, "b").sync()).saved).toBeUndefined();
      tested.pass(2 * STALE_MS + 1);
      await member(pool, "b", "other").leave("pause", 70);
      expect((await member(pool, "c").sync()).saved).toEqual({ level: 70, left: "pause" });
    });

    test("a store that has lost the pool learns again", async () => {
      const [pool, a, b] = await oldPool("a", "b");
      await tested.forget(pool);
      expect(await a?.sync({ size: 1 })).toMatchObject({ verdict: "disagree", size: 1, live: 1 });
      tested.pass(LEARNING_MS - 1);
      expect(await a?.sync({ size: 1 })).toMatchObject({ verdict: "disagree", live: 1 });
      expect(await b?.sync({ size: 2 })).toMatchObject({ verdict: "disagree", live: 2 });
      tested.pass(1);
      expect(await a?.sync({ size: 2 })).toMatchObject({ verdict: "agree", live: 2 });
    });

    test("an empty pool is remembered for twice the stale age, then it is new", async () => {
      const [pool, a] = await oldPool("a");
      await a?.leave();
      tested.pass(2 * STALE_MS);
      const b = member(pool, "b");
      expect(await b.sync()).toMatchObject({ verdict: "agree", live: 1 });
      await b.leave();
      tested.pass(2 * STALE_MS + 1);
      expect(await member(pool, "c").sync()).toMatchObject({ verdict: "disagree", live: 1 });
    });

    test("a clock that is set back keeps nobody alive for longer than the stale age", async () => {
      const [, a, b] = await oldPool("a", "b");
      await b?.sync();
      tested.setBack(60_000);
      expect(await a?.sync({ size: 2 })).toMatchObject({ live: 2, verdict: "disagree" });
      tested.pass(STALE_MS + 1);
      // Its age, and that of the pool, count from when that was seen.
      expect(await a?.sync({ size: 1 })).toMatchObject({ live: 1, verdict: "agree" });
    });

    test("pools know nothing of each other, and times are the store's", async () => {
      const first = member(nextPool(), "a");
      const second = member(nextPool(), "a", "other");
      const { storeMs } = await first.sync();
      tested.pass(1234);
      expect(await second.sync()).toMatchObject({ live: 1, storeMs: storeMs + 1234 });
    });

    test("a newcomer finds the level of those who run", async () => {
      const [pool, a, b] = await oldPool("a", "b");
      await a?.sync({ level: 700 });
      await b?.sync({ level: 300 });
      const c = member(pool, "c");
      expect((await c.sync()).saved).toEqual({ level: 700, left: "running" });
      // The reply may have been lost: it is told until the member reports a size.
      expect((await c.sync()).saved).toEqual({ level: 700, left: "running" });
      expect((await c.sync({ size: 3 })).saved).toBeUndefined();
      await a?.sync({ level: 200 });
      expect((await member(pool, "d").sync()).saved).toEqual({ level: 300, left: "running" });
    });

    test("a level is found as it was left: after a crash, a redeploy or a pause", async () => {
      const [pool, a] = await oldPool("a");
      const atLevel = { level: Number.MAX_SAFE_INTEGER };
      await a?.sync(atLevel);
      tested.pass(STALE_MS + 1);
      const b = member(pool, "b");
      expect((await b.sync()).saved).toEqual({ ...atLevel, left: "crash" });
      // Nobody has a level of its own now, so it stays as it was left.
      await b.leave("pause");
      const c = member(pool, "c");
      expect((await c.sync()).saved).toEqual({ ...atLevel, left: "pause" });
      await c.sync({ level: 40 });
      await c.leave("redeploy", 50);
      const d = member(pool, "d");
      expect((await d.sync()).saved).toEqual({ level: 50, left: "redeploy" });
      await d.sync({ level: 60 });
      tested.pass(STALE_MS + 1);
      expect((await member(pool, "e").sync()).saved).toEqual({ level: 60, left: "crash" });
    });

    test("a level is kept for its time after the last sync of anybody, and no longer", async () => {
      const [pool, a] = await oldPool("a");
      await a?.leave("redeploy", 80);
      tested.pass(RESUME_TTL_MS - 1);
      const b = member(pool, "b");
      expect((await b.sync()).saved).toEqual({ level: 80, left: "redeploy" });
      tested.pass(RESUME_TTL_MS - 1);
      expect((await member(pool, "c").sync()).saved).toEqual({ level: 80, left: "redeploy" });
      tested.pass(RESUME_TTL_MS);
      expect((await member(pool, "d").sync()).saved).toBeUndefined();
    });

    test("who does not resume leaves no level", async () => {
      const pool = nextPool();
      const times = { ...TIMES, resumeTtlMs: 0 };
      await member(pool, "a").sync({ level: 10, times });
      tested.pass(STALE_MS + 1);
      expect((await member(pool, "b").sync({ times })).saved).toBeUndefined();
      const c = member(pool, "c");
      expect((await c.sync()).saved).toBeUndefined();
      // Nor does it take away what others leave.
      await c.sync({ level: 30 });
      const leaving = { pool, member: "b", nonce: "nonce-of-b", level: 20 };
      await tested.store.leave({ ...leaving, reason: "pause", resumeTtlMs: 0 });
      tested.pass(STALE_MS + 1);
      expect((await member(pool, "d").sync()).saved).toEqual({ level: 30, left: "crash" });
    });

    test("limits are told to whoever does not know them, as they were written", async () => {
      const [pool, a] = await oldPool("a");
      expect((await a?.sync())?.limits).toBeUndefined();
      const text = '{ "max": 1000, "name": "übermäßig {viel}\\n\\u0000" }';
      expect(await tested.store.setLimits(pool, "first")).toBe(1);
      expect(await tested.store.setLimits(pool, text)).toBe(2);
      expect((await a?.sync())?.limits).toEqual({ version: 2, text });
      expect((await a?.sync({ limitsVersion: 1 }))?.limits).toEqual({ version: 2, text });
      expect((await a?.sync({ limitsVersion: 2 }))?.limits).toBeUndefined();
      expect((await member(pool, "b").sync()).limits).toEqual({ version: 2, text });
      expect(await tested.store.setLimits(pool, "")).toBe(3);
      expect((await a?.sync({ limitsVersion: 2 }))?.limits).toEqual({ version: 3, text: "" });
    });

    test("limits that are set after the store has lost its count are newer than any", async () => {
      const [pool, a, b] = await oldPool("a", "b");
      await tested.forget(pool);
      expect(await tested.store.setLimits(pool, "new")).toBe(1);
      expect((await a?.sync({ limitsVersion: 5 }))?.limits).toEqual({ version: 6, text: "new" });
      expect((await b?.sync({ limitsVersion: 5 }))?.limits).toEqual({ version: 6, text: "new" });
      expect((await a?.sync({ limitsVersion: 6 }))?.limits).toBeUndefined();
      expect(await tested.store.setLimits(pool, "newer")).toBe(7);
    });

    test("limits outlive a redeploy, and not much more", async () => {
      const [pool, a] = await oldPool("a");
      await tested.store.setLimits(pool, "live");
      await a?.sync();
      tested.pass(RESUME_TTL_MS - 1);
      expect((await member(pool, "b").sync()).limits).toEqual({ version: 1, text: "live" });
      tested.pass(RESUME_TTL_MS);
      expect((await member(pool, "c").sync()).limits).toBeUndefined();
    });

    test("what an idle member lends is used within two syncs, and comes back when asked for", async () => {
      const [, idle, hot] = await oldPool("idle", "hot");
      expect(await idle?.ask(HALF, HALF, 1000)).toBe(1000);
      // It was told to shrink, but may not have heard.
      expect(await hot?.ask(HALF, HALF, PARTS)).toBe(HALF);
      expect(await idle?.ask(HALF, 1000, 1000)).toBe(1000);
      expect(await hot?.ask(HALF, HALF, PARTS)).toBe(PARTS - 1000);
      // The lender asks for its share: nothing is free until the other has given it back.
      expect(await idle?.ask(HALF, 1000, HALF)).toBe(1000);
      expect(await hot?.ask(HALF, PARTS - 1000, PARTS)).toBe(HALF);
      expect(await idle?.ask(HALF, 1000, HALF)).toBe(1000);
      expect(await hot?.ask(HALF, HALF, PARTS)).toBe(HALF);
      expect(await idle?.ask(HALF, 1000, HALF)).toBe(HALF);
    });

    test("what a dead member may still be using is lent to nobody until it is gone", async () => {
      const [, dead, hot] = await oldPool("dead", "hot");
      await dead?.ask(HALF, HALF, 0);
      tested.pass(STALE_MS);
      expect(await hot?.ask(HALF, HALF, PARTS)).toBe(HALF);
      tested.pass(1);
      // Nor then: its share is nobody's until all agree on a new size.
      expect(await hot?.ask(HALF, HALF, PARTS)).toBe(HALF);
      expect(await hot?.ask(PARTS, HALF, PARTS)).toBe(PARTS);
    });

    test("who has no lease is lent nothing, and nothing grows while there is much to learn", async () => {
      const [pool, a, b, idle] = await oldPool("a", "b", "idle");
      expect(await idle?.ask(HALF, 0, 0)).toBe(0);
      // Ten parts are nobody's, and b would have them.
      expect(await a?.ask(HALF, HALF, PARTS - 10)).toBe(PARTS - 10);
      expect(await b?.ask(0, 0, PARTS)).toBe(0);
      await tested.forget(pool);
      expect(await a?.ask(HALF, 1000, HALF)).toBe(1000);
      expect(await b?.ask(HALF, HALF, 7)).toBe(7);
      tested.pass(LEARNING_MS);
      expect(await b?.ask(HALF, 7, 7)).toBe(7);
      expect(await a?.ask(HALF, 1000, HALF)).toBe(HALF);
    });

    test("parts are told to those who ask for them", async () => {
      const [, a, b] = await oldPool("a", "b");
      expect((await a?.sync())?.parts).toBeUndefined();
      // Who shares equally neither lends nor borrows.
      expect(await b?.ask(HALF, HALF, PARTS)).toBe(HALF);
    });

    test("names that could not be told apart are refused", async () => {
      const { store } = tested;
      const said = (changed: Partial<SyncRequest>): Promise<SyncReply> =>
        new Member(store, nextPool(), "a").try(changed);
      for (const pool of ["", "/", "a//b", "/a", "a/", "a b", "a{b}", "ä", "x".repeat(65), "a\n"])
        await expect(said({ pool }), pool).rejects.toThrow(ConfigError);
      for (const id of ["", "@", "a/b", "a b", "{a}", "a\n", "x".repeat(65)]) {
        await expect(said({ member: id }), id).rejects.toThrow(ConfigError);
        await expect(said({ nonce: id }), id).rejects.toThrow(ConfigError);
      }
      await expect(store.setLimits("a b", "")).rejects.toThrow(ConfigError);
      await expect(store.setLimits("a", "x".repeat(65_537))).rejects.toThrow(ConfigError);
      await expect(said({ size: 0 })).rejects.toThrow(ConfigError);
      await expect(said({ level: -1 })).rejects.toThrow(ConfigError);
      await expect(said({ sequence: 0 })).rejects.toThrow(ConfigError);
      const demand = { entitled: 0.5, held: 0, wanted: 0 };
      await expect(said({ demand })).rejects.toThrow(ConfigError);
    });
  });
}
