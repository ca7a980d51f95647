import { VirtualClock } from "@sluice/core/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryStore } from "../store/memory-store.ts";
import { PARTS } from "../store/pool-store.ts";
import type { SyncReply, SyncRequest } from "../store/pool-store.ts";
import type { Entitlement, MembershipRules } from "./membership.ts";
import { MemberSession } from "./session.ts";

const TIMING = { syncIntervalMs: 100, leaseMs: 1000, staleMs: 1300, timeoutMs: 50 };
const RULES: MembershipRules = {
  timing: TIMING,
  maxMembers: 10,
  onStoreLoss: "closed",
  joinOn: "agreement",
  share: "equal",
};
const IDENTITY = { pool: "shop/orders", member: "a", nonce: "n1" };
const CONDITION = { level: 70, wanted: 5, limitsVersion: 2 };
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

function newSession(rules: Partial<MembershipRules> = {}, nowMs = 0): MemberSession {
  return new MemberSession(IDENTITY, { ...RULES, ...rules }, { nowMs, resumeTtlMs: 9000 });
}

test("it syncs when it starts, and tells all that the store must know", () => {
  const session = newSession({ share: "demand" }, 40);
  expect(session.dueAtMs).toBe(40);
  expect(session.onDue(39, CONDITION)).toEqual({ changes: [] });
  expect(session.onDue(40, CONDITION).send).toEqual({
    ...IDENTITY,
    sequence: 1,
    size: undefined,
    demand: { entitled: 0, held: 0, wanted: 5 },
    level: 70,
    limitsVersion: 2,
    times: { staleMs: 1300, learningMs: 1100, resumeTtlMs: 9000 },
  });
});

test("after a reply it is due one interval after the sending, and reports what it was told", () => {
  const session = newSession();
  session.onDue(0, CONDITION);
  expect([session.dueAtMs, session.syncedAtMs]).toEqual([50, undefined]);
  session.onReply(1, ALONE, 30);
  expect([session.dueAtMs, session.syncedAtMs]).toEqual([100, 0]);
  expect(session.onDue(99, CONDITION).send).toBeUndefined();
  expect(session.onDue(100, CONDITION).send).toMatchObject({ sequence: 2, size: 1 });
});

test("a sync without a reply is given up, and the next is due when it would have been", () => {
  const session = newSession();
  session.onDue(0, CONDITION);
  expect([session.giveUp(49), session.isAwaiting(1)]).toEqual([undefined, true]);
  expect([session.giveUp(50), session.isAwaiting(1)]).toEqual([[], false]);
  expect([session.giveUp(50), session.dueAtMs]).toEqual([undefined, 100]);
  session.onDue(100, CONDITION);
  session.onFailure(2, 110);
  expect([session.isAwaiting(2), session.dueAtMs]).toEqual([false, 200]);
});

test("with a timeout longer than the interval there is still only one sync at a time", () => {
  const session = newSession({ timing: { ...TIMING, timeoutMs: 150 } });
  session.onDue(0, CONDITION);
  expect(session.onDue(149, CONDITION).send).toBeUndefined();
  expect(session.onDue(150, CONDITION).send?.sequence).toBe(2);
});

test("what a process that was stopped has missed is not made up for", () => {
  const session = newSession();
  session.onDue(0, CONDITION);
  expect(session.onDue(5000, CONDITION).send?.sequence).toBe(2);
  session.onReply(2, ALONE, 5000);
  expect([session.onDue(5000, CONDITION).send, session.dueAtMs]).toEqual([undefined, 5100]);
});

test("a reply counts for the sync in flight only, and only in time", () => {
  const session = newSession();
  session.onDue(0, CONDITION);
  session.onDue(100, CONDITION);
  for (const sequence of [0, 1, 3]) {
    expect(session.isInTime(sequence, 120)).toBe(false);
    session.onReply(sequence, ALONE, 120);
    session.onFailure(sequence, 120);
  }
  expect([session.isAwaiting(2), session.membership.size]).toEqual([true, 0]);
  expect([session.isInTime(2, 150), session.isInTime(2, 151)]).toEqual([true, false]);
  // Nobody has noticed yet that it is late.
  session.onReply(2, ALONE, 151);
  expect([session.isAwaiting(2), session.membership.size]).toEqual([false, 0]);
  expect(session.syncedAtMs).toBeUndefined();
});

test("on going it tells the store who it is and why", () => {
  expect(newSession().leave("redeploy", 70)).toEqual({
    ...IDENTITY,
    level: 70,
    reason: "redeploy",
    resumeTtlMs: 9000,
  });
});

test("whenever it is called, syncs are an interval apart, one at a time, numbered from 1, and late replies tell nothing", () => {
  const calls = fc.array(
    fc.record({
      waitMs: fc.oneof(fc.constantFrom(0, 1, 20, 50, 51, 100), fc.nat(3000)),
      call: fc.constantFrom("due", "due", "reply", "failure"),
      back: fc.constantFrom(0, 0, 0, 1, 2),
    }),
    { maxLength: 80, size: "max" },
  );
  fc.assert(
    fc.property(calls, (all) => {
      const session = newSession();
      let nowMs = 0;
      let sequence = 0;
      let sentAtMs = Number.NEGATIVE_INFINITY;
      let isInFlight = false;
      for (const { waitMs, call, back } of all) {
        nowMs += waitMs;
        if (call === "due") {
          const isDue = nowMs >= session.dueAtMs;
          const { send } = session.onDue(nowMs, CONDITION);
          if (!isDue) expect(send).toBeUndefined();
          if (isInFlight && nowMs >= sentAtMs + 50) isInFlight = false;
          if (send === undefined) continue;
          expect(isInFlight).toBe(false);
          expect(nowMs - sentAtMs).toBeGreaterThanOrEqual(TIMING.syncIntervalMs);
          expect(send.sequence).toBe(++sequence);
          sentAtMs = nowMs;
          isInFlight = true;
          continue;
        }
        const isCurrent = isInFlight && back === 0;
        const before = session.syncedAtMs;
        if (call === "reply") {
          const isCounted = isCurrent && nowMs - sentAtMs <= TIMING.timeoutMs;
          expect(session.isInTime(sequence - back, nowMs)).toBe(isCounted);
          session.onReply(sequence - back, ALONE, nowMs);
          expect(session.syncedAtMs).toBe(isCounted ? sentAtMs : before);
        } else session.onFailure(sequence - back, nowMs);
        if (isCurrent) isInFlight = false;
        expect(session.isAwaiting(sequence)).toBe(isInFlight);
      }
    }),
  );
});

/** One process with a session, as far as the others can tell. */
interface Replica {
  readonly session: MemberSession;
  /** Processed, and on its way back. */
  reply:
    | { readonly sequence: number; readonly reply: SyncReply; readonly atMs: number }
    | undefined;
  pausedUntilMs: number;
  cutUntilMs: number;
}

const STEP_MS = 25;

/** Several sessions and one store, a step at a time. */
class Pool {
  readonly #clock = new VirtualClock();
  readonly #store = new MemoryStore(this.#clock);
  readonly #rules: MembershipRules;
  readonly replicas: Replica[] = [];
  #started = 0;
  #lossAtMs = Number.NEGATIVE_INFINITY;
  wanted: (index: number) => number = () => PARTS;

  constructor(rules: Partial<MembershipRules>) {
    this.#rules = { ...RULES, ...rules };
  }

  get nowMs(): number {
    return this.#clock.now();
  }

  /** Ids are such that newcomers come before, between and after the others. */
  join(): void {
    if (this.replicas.length >= 5) return;
    const index = this.#started++;
    const identity = { ...IDENTITY, member: `m${(index * 7) % 10}-${index}`, nonce: `n${index}` };
    const session = new MemberSession(identity, this.#rules, { nowMs: this.nowMs, resumeTtlMs: 0 });
    this.replicas.push({ session, reply: undefined, pausedUntilMs: 0, cutUntilMs: 0 });
  }

  async leave(index: number): Promise<void> {
    const replica = this.replicas[index];
    if (replica === undefined || this.#isAway(replica)) return;
    this.replicas.splice(index, 1);
    await this.#store.leave(replica.session.leave("pause", undefined));
  }

  kill(index: number): void {
    this.replicas.splice(index, 1);
  }

  flush(): void {
    this.#store.forget(IDENTITY.pool);
  }

  /** Once a lease is what is promised. */
  lose(index: number): void {
    const replica = this.replicas[index];
    if (replica === undefined || this.nowMs - this.#lossAtMs <= TIMING.leaseMs) return;
    this.#lossAtMs = this.nowMs;
    const { member } = replica.session.leave("pause", undefined);
    this.#store.forget(IDENTITY.pool, member);
  }

  async step(delayMs: (index: number) => number): Promise<void> {
    for (const [index, replica] of this.replicas.entries()) {
      if (this.nowMs < replica.pausedUntilMs) continue;
      this.#receive(replica);
      if (this.nowMs < replica.session.dueAtMs) continue;
      const condition = { level: undefined, wanted: this.wanted(index), limitsVersion: 0 };
      const { send } = replica.session.onDue(this.nowMs, condition);
      if (send !== undefined) await this.#sync(replica, send, delayMs(index));
    }
    this.#check();
    this.#clock.advance(STEP_MS);
  }

  /** What all have together, in parts; who is paused grants nothing. */
  get sum(): number {
    return this.#granting.reduce((sum, entitlement) => sum + partsOf(entitlement), 0);
  }

  get #granting(): Entitlement[] {
    return this.replicas.flatMap(({ session, pausedUntilMs }) =>
      this.nowMs < pausedUntilMs ? [] : (session.membership.entitlementAt(this.nowMs) ?? []),
    );
  }

  #isAway({ pausedUntilMs, cutUntilMs }: Replica): boolean {
    return this.nowMs < pausedUntilMs || this.nowMs < cutUntilMs;
  }

  async #sync(replica: Replica, send: SyncRequest, delayMs: number): Promise<void> {
    if (this.#isAway(replica)) return;
    const reply = await this.#store.sync(send);
    replica.reply = { sequence: send.sequence, reply, atMs: this.nowMs + delayMs };
    this.#receive(replica);
  }

  #receive(replica: Replica): void {
    const { reply, session } = replica;
    if (reply === undefined || this.nowMs < reply.atMs) return;
    replica.reply = undefined;
    session.onReply(reply.sequence, reply.reply, this.nowMs);
  }

  #check(): void {
    expect(this.sum).toBeLessThanOrEqual(PARTS * (1 + 1e-9));
    const seats = this.#granting.flatMap((entitlement) =>
      entitlement.kind === "seat" ? `${entitlement.seat.rank}/${entitlement.seat.poolSize}` : [],
    );
    expect(new Set(seats).size).toBe(seats.length);
  }
}

function partsOf(entitlement: Entitlement): number {
  return entitlement.kind === "parts" ? entitlement.parts : PARTS / entitlement.seat.poolSize;
}

const FAULTS = ["join", "join", "leave", "kill", "pause", "cut", "flush", "lose"] as const;

function events(kinds: readonly (typeof FAULTS)[number][]) {
  const one = fc.record({
    kind: fc.constantFrom(...kinds),
    index: fc.nat(4),
    /** Often at once, often about a lease later. */
    afterSteps: fc.constantFrom(0, 0, 1, 2, 5, 20, 40, 44, 48, 60),
    lastsMs: fc.constantFrom(100, 900, 1000, 1100, 1400, 2600),
  });
  return fc.array(one, { minLength: 1, maxLength: 10, size: "max" });
}

type Event = ReturnType<typeof events> extends fc.Arbitrary<infer All> ? All : never;

async function happen(pool: Pool, { kind, index, lastsMs }: Event[number]): Promise<void> {
  const replica = pool.replicas[index];
  if (kind === "join") pool.join();
  if (kind === "leave") await pool.leave(index);
  if (kind === "kill") pool.kill(index);
  if (kind === "flush") pool.flush();
  if (kind === "lose") pool.lose(index);
  if (kind === "pause" && replica !== undefined) replica.pausedUntilMs = pool.nowMs + lastsMs;
  if (kind === "cut" && replica !== undefined) replica.cutUntilMs = pool.nowMs + lastsMs;
}

async function run(pool: Pool, story: Event, delays: readonly number[]): Promise<void> {
  let drawn = 0;
  const delayMs = (): number => delays[drawn++ % delays.length] ?? 0;
  const steps = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await pool.step(delayMs);
  };
  pool.join();
  pool.join();
  await steps(100);
  for (const event of story) {
    await happen(pool, event);
    await steps(event.afterSteps);
  }
  if (pool.replicas.length === 0) pool.join();
  // The longest absence, then stale age, lease, learning and a few syncs.
  await steps((2600 + 1300 + 1100 + 1000 + 600) / STEP_MS);
}

const delays = fc.array(fc.constantFrom(0, 0, 0, 25, 50, 75), { minLength: 1, maxLength: 7 });

test("whatever happens, equal shares together are at most the whole, no seat is taken twice, and all is used afterwards", async () => {
  await fc.assert(
    fc.asyncProperty(events(FAULTS), delays, async (story, late) => {
      const pool = new Pool({});
      await run(pool, story, late);
      if (late.includes(75)) return;
      const live = pool.replicas.length;
      for (const { session } of pool.replicas) expect(session.membership.size).toBe(live);
      expect(pool.sum).toBeGreaterThan(PARTS * (1 - 1e-6));
    }),
    { numRuns: 60 },
  );
});

test("whatever happens, shares by demand together are at most the whole, and all is used afterwards", async () => {
  await fc.assert(
    fc.asyncProperty(
      events(FAULTS),
      delays,
      fc.array(fc.constantFrom(PARTS / 100, PARTS / 2, PARTS), { minLength: 5, maxLength: 5 }),
      async (story, late, wants) => {
        const pool = new Pool({ share: "demand" });
        pool.wanted = (index) => wants[(index + Math.floor(pool.nowMs / 1500)) % 5] ?? 0;
        await run(pool, story, late);
        if (late.includes(75)) return;
        pool.wanted = () => PARTS;
        for (let i = 0; i < 20; i++) await pool.step(() => 0);
        expect(pool.sum).toBeGreaterThan(PARTS * (1 - 1e-6));
      },
    ),
    { numRuns: 60 },
  );
});
