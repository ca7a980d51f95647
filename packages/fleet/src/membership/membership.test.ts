import fc from "fast-check";
import { expect, test } from "vitest";
import { PARTS } from "../store/pool-store.ts";
import type { SyncReply } from "../store/pool-store.ts";
import { Membership } from "./membership.ts";
import type { Entitlement, MembershipChange, MembershipRules } from "./membership.ts";

const TIMING = { syncIntervalMs: 100, leaseMs: 1000, staleMs: 1300, timeoutMs: 50 };
const RULES: MembershipRules = {
  timing: TIMING,
  maxMembers: 10,
  onStoreLoss: "safe-share",
  joinOn: "agreement",
  share: "equal",
};
const SAFE_SHARE: Entitlement = { kind: "parts", parts: PARTS / 10 };

type Counted = Extract<SyncReply, { kind: "counted" }>;
type Told = Partial<Counted> & { readonly live: number };

function counted(told: Told): Counted {
  return {
    kind: "counted",
    verdict: "agree",
    size: told.live,
    rank: 0,
    roster: `${told.live}, ${told.rank ?? 0}`,
    storeMs: 0,
    parts: undefined,
    saved: undefined,
    limits: undefined,
    ...told,
  };
}

/** A membership in a time that moves from sync to sync. */
class Story {
  readonly membership: Membership;
  readonly changes: MembershipChange[] = [];
  nowMs = 0;

  constructor(rules: Partial<MembershipRules> = {}) {
    this.membership = new Membership({ ...RULES, ...rules });
  }

  /** The next sync is answered at once. */
  told(told: Told): this {
    this.nowMs += TIMING.syncIntervalMs;
    this.changes.push(...this.membership.onReply(counted(told), this.nowMs, this.nowMs));
    return this;
  }

  /** So many syncs are answered alike. */
  times(count: number, told: Told): this {
    for (let i = 0; i < count; i++) this.told(told);
    return this;
  }

  /** So many syncs fail. */
  missed(count = 1): this {
    for (let i = 0; i < count; i++) {
      this.nowMs += TIMING.syncIntervalMs;
      this.changes.push(...this.membership.onMiss(this.nowMs, this.nowMs + TIMING.timeoutMs));
    }
    return this;
  }

  refused(): this {
    this.nowMs += TIMING.syncIntervalMs;
    this.changes.push(...this.membership.onReply({ kind: "refused" }, this.nowMs, this.nowMs));
    return this;
  }

  /** The process stops, with no sync in flight. */
  stopped(ms: number): this {
    this.nowMs += ms;
    return this;
  }

  /** A member of a pool of so many, who has told nobody yet. */
  joined(live: number, told: Partial<Counted> = {}): this {
    this.times(11, { live, ...told });
    this.changes.length = 0;
    return this;
  }

  get entitlement(): Entitlement | undefined {
    return this.membership.entitlementAt(this.nowMs);
  }

  get log(): string[] {
    return this.changes.map(
      (change) =>
        `${change.before} → ${change.type === "size" ? change.size : change.standing}: ${change.reason}`,
    );
  }
}

const LEASE_ENDED = "member → joining: lease-ended";
const STORE_LOST = "joining → lost: store-lost";

const transitions: readonly (readonly [string, Story, readonly string[]])[] = [
  ["a newcomer's first reply gives it a size", new Story().told({ live: 2 }), ["0 → 2: agreed"]],
  [
    "a newcomer is a member when all have agreed for a whole lease",
    new Story().times(11, { live: 2 }),
    ["0 → 2: agreed", "joining → member: agreed"],
  ],
  ["and no sooner", new Story().times(10, { live: 2 }), ["0 → 2: agreed"]],
  [
    "a newcomer does not start while any disagree",
    new Story().times(30, { live: 2, size: 3, verdict: "disagree" }),
    ["0 → 3: more-are-live"],
  ],
  ["nothing changes while all agree", new Story().joined(3).times(30, { live: 3 }), []],
  [
    "who sees more live members shrinks its share at once",
    new Story().joined(2).told({ live: 3, size: 2, verdict: "disagree" }),
    ["2 → 3: more-are-live"],
  ],
  [
    "who sees a larger size reported shrinks its share at once",
    new Story().joined(2).told({ live: 2, size: 4, verdict: "disagree" }),
    ["2 → 4: more-are-live"],
  ],
  [
    "fewer live members alone change nothing",
    new Story().joined(3).times(30, { live: 2, size: 3, verdict: "disagree" }),
    [],
  ],
  [
    "who is left takes more when all have agreed on it for a whole lease",
    new Story().joined(3).told({ live: 2, size: 3, verdict: "disagree" }).times(10, { live: 2 }),
    ["3 → 2: agreed"],
  ],
  [
    "and no sooner",
    new Story().joined(3).told({ live: 2, size: 3, verdict: "disagree" }).times(9, { live: 2 }),
    [],
  ],
  [
    "not with a missed sync among them",
    new Story().joined(3).times(9, { live: 2 }).missed().times(10, { live: 2 }),
    [],
  ],
  ["a lease bridges missed syncs", new Story().joined(2).missed(9), []],
  [
    "a store that is away for a lease is lost",
    new Story().joined(2).missed(10),
    [LEASE_ENDED, STORE_LOST],
  ],
  [
    "a lost store that answers is back, and all is agreed on anew",
    new Story().joined(2).missed(10).times(11, { live: 2 }),
    [LEASE_ENDED, STORE_LOST, "lost → joining: store-back", "joining → member: agreed"],
  ],
  [
    "it may be lost again before that",
    new Story().joined(2).missed(10).told({ live: 2 }).missed(),
    [LEASE_ENDED, STORE_LOST, "lost → joining: store-back", STORE_LOST],
  ],
  [
    "who was stopped for a lease joins anew",
    new Story().joined(2).stopped(1000).times(11, { live: 2 }),
    [LEASE_ENDED, "joining → member: agreed"],
  ],
  ["who was stopped for less does not", new Story().joined(2).stopped(899).told({ live: 2 }), []],
  ["a newcomer has no store to lose", new Story().told({ live: 2 }).missed(30), ["0 → 2: agreed"]],
  ["a newcomer may be refused", new Story().refused(), ["joining → refused: id-taken"]],
  ["a member may be refused", new Story().joined(2).refused(), ["member → refused: id-taken"]],
  [
    "so may one whose lease has ended",
    new Story().joined(2).stopped(1000).refused(),
    [LEASE_ENDED, "joining → refused: id-taken"],
  ],
  [
    "so may one who has lost the store",
    new Story().joined(2).missed(10).refused(),
    [LEASE_ENDED, STORE_LOST, "lost → refused: id-taken"],
  ],
  ["it is told only once", new Story().refused().refused(), ["joining → refused: id-taken"]],
  [
    "a miss changes nothing for it",
    new Story().refused().missed(20),
    ["joining → refused: id-taken"],
  ],
  [
    "who was refused joins as a newcomer when the id is free",
    new Story().joined(2).refused().times(11, { live: 2 }),
    [
      "member → refused: id-taken",
      "refused → joining: id-free",
      "0 → 2: agreed",
      "joining → member: agreed",
    ],
  ],
  [
    "who was refused has no store to lose until it is a member again",
    new Story().joined(2).refused().told({ live: 2 }).missed(20),
    ["member → refused: id-taken", "refused → joining: id-free", "0 → 2: agreed"],
  ],
];

test.each(transitions)("%s", (_name, story, changes) => {
  expect(story.log).toEqual(changes);
});

const TWO: Entitlement = { kind: "seat", seat: { poolSize: 2, rank: 0 } };
const lost = (rules: Partial<MembershipRules>) => new Story(rules).joined(2).missed(10);
const back = (rules: Partial<MembershipRules>) => lost(rules).told({ live: 2 });

const policies: readonly (readonly [string, Story, Entitlement | undefined])[] = [
  ["a member has its seat", new Story().joined(2), TWO],
  ["a newcomer has nothing", new Story().told({ live: 2 }), undefined],
  ["nor before the first reply", new Story(), undefined],
  ["a newcomer may have the safe share", new Story({ joinOn: "safe-share" }), SAFE_SHARE],
  ["who lost the store has the safe share", lost({}), SAFE_SHARE],
  ["or nothing if closed", lost({ onStoreLoss: "closed" }), undefined],
  ["or what it had if open", lost({ onStoreLoss: "open" }), TWO],
  ["and keeps it when the store is back", back({}), SAFE_SHARE],
  ["nothing if closed", back({ onStoreLoss: "closed" }), undefined],
  ["what it had if open", back({ onStoreLoss: "open" }), TWO],
  [
    "closed and back it is a newcomer",
    back({ onStoreLoss: "closed", joinOn: "safe-share" }),
    SAFE_SHARE,
  ],
  [
    "who was stopped for a lease has nothing, even if open",
    new Story({ onStoreLoss: "open" }).joined(2).stopped(1000),
    undefined,
  ],
  [
    "nor after its first reply",
    new Story({ onStoreLoss: "open" }).joined(2).stopped(1000).told({ live: 2 }),
    undefined,
  ],
  [
    "nor if it once lost the store and has been a member since",
    lost({ onStoreLoss: "open" }).joined(2).stopped(1000).told({ live: 2 }),
    undefined,
  ],
  [
    "open or not, nobody goes on with more than by what it knows",
    back({ onStoreLoss: "open" }).told({ live: 8, verdict: "disagree" }).missed(),
    { kind: "parts", parts: PARTS / 8 },
  ],
  [
    "the safe share is no more than an equal one when there are more members than foreseen",
    new Story().joined(20).missed(10),
    { kind: "parts", parts: PARTS / 20 },
  ],
  ["who is refused has nothing", new Story({ joinOn: "safe-share" }).refused(), undefined],
  [
    "not even if it had lost the store",
    lost({ onStoreLoss: "open", joinOn: "safe-share" }).refused(),
    undefined,
  ],
  ["nor when its id is free again", lost({}).refused().told({ live: 2 }), undefined],
];

test.each(policies)("%s", (_name, story, entitlement) => {
  expect(story.entitlement).toEqual(entitlement);
});

test("a sync that was in flight while the process was stopped does not mean that the store is lost", () => {
  const { membership, nowMs } = new Story({ onStoreLoss: "open" }).joined(2);
  const sentAtMs = nowMs + 100;
  const backAtMs = sentAtMs + 5000;
  expect(membership.onMiss(sentAtMs, backAtMs).map(({ reason }) => reason)).toEqual([
    "lease-ended",
  ]);
  expect(membership.entitlementAt(backAtMs)).toBeUndefined();
});

test("a missed sync starts the hold-down anew even where a timeout is longer than two intervals", () => {
  const timing = { syncIntervalMs: 100, leaseMs: 1600, staleMs: 2000, timeoutMs: 300 };
  const story = new Story({ timing }).times(16, { live: 2 }).missed().times(16, { live: 2 });
  expect(story.membership.standing).toBe("joining");
  expect(story.told({ live: 2 }).membership.standing).toBe("member");
});

test("a lease counts from the sending, and the millisecond in which it ends is not in it", () => {
  const { membership, nowMs } = new Story().joined(2);
  const sentAtMs = nowMs + 100;
  membership.onReply(counted({ live: 2 }), sentAtMs, sentAtMs + 50);
  expect(membership.leaseUntilMs).toBe(sentAtMs + 1000);
  expect(membership.entitlementAt(sentAtMs + 999)).toEqual(TWO);
  expect(membership.entitlementAt(sentAtMs + 1000)).toBeUndefined();
});

test("a reply that comes a lease after its sync shrinks a share and confirms nothing", () => {
  const { membership, nowMs } = new Story({ onStoreLoss: "open" }).joined(2).told({ live: 2 });
  const late = counted({ live: 3, verdict: "disagree" });
  membership.onReply(late, nowMs - 200, nowMs + 999);
  expect(membership.entitlementAt(nowMs + 999)).toEqual({
    kind: "parts",
    parts: Math.floor(PARTS / 3),
  });
  expect(membership.leaseUntilMs).toBeLessThanOrEqual(nowMs + 1100);
});

test("nor does it make a newcomer a member", () => {
  const { membership, nowMs } = new Story().times(10, { live: 2 });
  membership.onReply(counted({ live: 2 }), nowMs + 100, nowMs + 1100);
  expect(membership.standing).toBe("joining");
});

test("while nothing changes the entitlement is the same object", () => {
  for (const share of ["equal", "demand"] as const) {
    const story = new Story({ share }).joined(2, { parts: 7 });
    const { entitlement } = story;
    expect(entitlement).toBeDefined();
    expect(story.times(5, { live: 2, parts: 7 }).entitlement).toBe(entitlement);
  }
});

const seat = (rank: number): Entitlement => ({ kind: "seat", seat: { poolSize: 3, rank } });

test("a rank counts once it was told for a whole lease, and no longer than it is told", () => {
  const story = new Story().joined(3, { rank: 1 });
  const third = { kind: "parts", parts: Math.floor(PARTS / 3) };
  expect(story.entitlement).toEqual(seat(1));
  // One goes while another comes: still three, but in other places.
  expect(story.told({ live: 3, rank: 2 }).entitlement).toEqual(third);
  expect(story.times(9, { live: 3, rank: 2 }).entitlement).toEqual(third);
  expect(story.told({ live: 3, rank: 2 }).entitlement).toEqual(seat(2));
  // Fewer are live: it divides by three as before, and keeps its place among three.
  const fewer = { live: 2, size: 3, rank: 1, verdict: "disagree" } as const;
  expect(story.times(5, fewer).entitlement).toEqual(seat(2));
  expect(story.told({ live: 3, rank: 1 }).entitlement).toEqual(third);
});

test("a rank that stays the same while the number changes counts a whole lease later too", () => {
  const story = new Story().joined(2).told({ live: 3, size: 2, verdict: "disagree" });
  expect(story.times(9, { live: 3 }).entitlement?.kind).toBe("parts");
  expect(story.told({ live: 3 }).entitlement).toEqual(seat(0));
});

test("by demand it says what it has, and has what it was told", () => {
  const story = new Story({ share: "demand" });
  const asks = () => story.membership.report(5).demand;
  expect(asks()).toEqual({ entitled: 0, held: 0, wanted: 5 });
  story.times(10, { live: 2, parts: 0 });
  expect([asks(), story.entitlement]).toEqual([{ entitled: 0, held: 0, wanted: 5 }, undefined]);
  story.told({ live: 2, parts: 0 });
  expect(asks()).toEqual({ entitled: PARTS / 2, held: 0, wanted: 5 });
  story.told({ live: 2, parts: 700 });
  expect(asks()).toEqual({ entitled: PARTS / 2, held: 700, wanted: 5 });
  expect(story.entitlement).toEqual({ kind: "parts", parts: 700 });
  story.told({ live: 2, parts: 300 });
  expect(story.entitlement).toEqual({ kind: "parts", parts: 300 });
  // After a miss it only shrinks, for a whole lease.
  story.missed().told({ live: 2, parts: 200 });
  expect(story.entitlement).toEqual({ kind: "parts", parts: 200 });
  story.times(9, { live: 2, parts: 900 });
  expect(story.entitlement).toEqual({ kind: "parts", parts: 200 });
  story.told({ live: 2, parts: 900 });
  expect(story.entitlement).toEqual({ kind: "parts", parts: 900 });
  story.missed(10);
  expect(asks()).toEqual({ entitled: 0, held: 0, wanted: 5 });
  expect(new Story().joined(2).membership.report(5)).toEqual({ size: 2, demand: undefined });
});

/** One thing that happens to a member: syncs that are answered alike, or fail, or a process that stops. */
interface Step {
  readonly kind: "agree" | "disagree" | "refused" | "miss" | "stop";
  readonly count: number;
  readonly live: number;
  readonly size: number;
  readonly rank: number;
  readonly parts: number;
  readonly delayMs: number;
}

const calm = fc.record<Step>({
  kind: fc.constantFrom("agree", "agree", "agree", "disagree"),
  count: fc.constantFrom(1, 3, 10, 11, 12, 14),
  live: fc.integer({ min: 1, max: 4 }),
  size: fc.integer({ min: 1, max: 5 }),
  rank: fc.nat(1),
  parts: fc.nat(PARTS),
  delayMs: fc.constantFrom(0, 0, 0, 7, 50),
});
const fault = fc
  .tuple(calm, fc.constantFrom("refused", "miss", "stop"), fc.constantFrom(1, 1, 2, 9, 10, 14))
  .map(([step, kind, count]): Step => ({ ...step, kind, count }));
const stories = fc.array(
  fc.oneof({ weight: 4, arbitrary: calm }, { weight: 1, arbitrary: fault }),
  {
    maxLength: 25,
    size: "max",
  },
);

/** What happened to a member at one sync. */
interface Happening {
  readonly reply: SyncReply | undefined;
  readonly sentAtMs: number;
  readonly nowMs: number;
}

/** What a story is played to. */
interface Played {
  report: Membership["report"];
  onReply(...args: Parameters<Membership["onReply"]>): unknown;
  onMiss(...args: Parameters<Membership["onMiss"]>): unknown;
}

/** Plays a story; `look` is called after everything that happens. */
function play(steps: readonly Step[], membership: Played, look: (at: Happening) => void): void {
  let sentAtMs = 0;
  for (const { kind, count, live, size, rank, parts, delayMs } of steps)
    for (let i = 0; i < count; i++) {
      sentAtMs += TIMING.syncIntervalMs;
      if (kind === "stop") continue;
      if (kind === "miss") {
        const nowMs = sentAtMs + TIMING.timeoutMs;
        membership.onMiss(sentAtMs, nowMs);
        look({ reply: undefined, sentAtMs, nowMs });
        continue;
      }
      // No store agrees on a size that this member does not report.
      const isAgreed = kind === "agree" && (membership.report(0).size ?? live) === live;
      const verdict = isAgreed ? "agree" : "disagree";
      const told = counted({ live, size: isAgreed ? live : size, rank, parts, verdict });
      const reply: SyncReply = kind === "refused" ? { kind } : told;
      const nowMs = sentAtMs + delayMs;
      membership.onReply(reply, sentAtMs, nowMs);
      look({ reply, sentAtMs, nowMs });
    }
}

/**
 * What the model's variant 5 does when it receives a reply or its lease ends, word for word; a time
 * stands where it counts ticks, and who is live where it looks at their number.
 */
class Model {
  state: "join" | "run" | "refused" = "join";
  used = 0;
  reported: number | undefined;
  leaseUntilMs = 0;
  #target = "";
  #sinceMs = 0;
  #receivedAtMs = -1e9;

  tick(nowMs: number): void {
    if (this.state !== "run" || nowMs < this.leaseUntilMs) return;
    this.state = "join";
    this.#target = "";
  }

  receive({ reply, sentAtMs, nowMs }: Happening): void {
    this.tick(nowMs);
    if (reply === undefined) {
      this.#receivedAtMs = -1e9;
      return;
    }
    if (reply.kind === "refused") {
      Object.assign(this, { state: "refused", used: 0, reported: undefined });
      this.#target = "";
      return;
    }
    const { leaseMs, syncIntervalMs, timeoutMs } = TIMING;
    if (this.state === "refused") this.state = "join";
    const hasGap = sentAtMs - this.#receivedAtMs > syncIntervalMs + timeoutMs;
    if (reply.roster !== this.#target || hasGap) {
      this.#target = reply.roster;
      this.#sinceMs = nowMs;
    }
    this.#receivedAtMs = nowMs;
    // A newcomer registers with the number that the store counts.
    if (this.used === 0) this.used = reply.size;
    const isHeld = sentAtMs - this.#sinceMs >= leaseMs;
    if (reply.verdict === "agree") {
      this.reported = reply.size;
      if ((reply.size >= this.used && this.state === "run") || isHeld) {
        this.used = reply.size;
        this.state = "run";
      }
    } else {
      this.used = Math.max(this.used, reply.size, reply.live);
      this.reported = reply.live;
    }
    if (this.state === "run") this.leaseUntilMs = sentAtMs + leaseMs;
  }
}

const partsOf = (entitlement: Entitlement | undefined): number => {
  if (entitlement === undefined) return 0;
  return entitlement.kind === "parts" ? entitlement.parts : PARTS / entitlement.seat.poolSize;
};

test("it is the checked model's variant 5, reply by reply", () => {
  let runs = 0;
  fc.assert(
    fc.property(stories, (steps) => {
      const membership = new Membership({ ...RULES, onStoreLoss: "closed" });
      const model = new Model();
      play(steps, membership, (at) => {
        model.receive(at);
        const { standing, size } = membership;
        expect(size).toBe(model.used);
        expect(membership.report(0).size).toBe(model.reported);
        expect(standing === "member").toBe(model.state === "run");
        expect(standing === "refused").toBe(model.state === "refused");
        for (const laterMs of [0, 500, 849, 949, 999, 1000]) {
          const atMs = at.nowMs + laterMs;
          const grants = model.state === "run" && atMs < model.leaseUntilMs;
          const share = grants ? PARTS / model.used : 0;
          expect(Math.abs(partsOf(membership.entitlementAt(atMs)) - share)).toBeLessThan(1);
        }
        if (model.state === "run") runs++;
      });
    }),
    { numRuns: 60 },
  );
  expect(runs).toBeGreaterThan(500);
});

const rules = fc.record({
  timing: fc.constant(TIMING),
  maxMembers: fc.constantFrom(1, 3, 10),
  onStoreLoss: fc.constantFrom("safe-share", "closed", "open"),
  joinOn: fc.constantFrom("agreement", "safe-share"),
  share: fc.constantFrom("equal", "demand"),
});

test("it never reports a size larger than the one it uses", () => {
  fc.assert(
    fc.property(stories, rules, (steps, some) => {
      const membership = new Membership(some);
      play(steps, membership, () => {
        expect(membership.report(0).size ?? 0).toBeLessThanOrEqual(membership.size);
      });
    }),
  );
});

test("a size falls, and parts grow, only at a reply that ends a whole lease of the same number, none missed", () => {
  let grown = 0;
  fc.assert(
    fc.property(stories, rules, (steps, some) => {
      const membership = new Membership(some);
      let size = 0;
      let parts = 0;
      let calmSinceMs: number | undefined;
      let last: { live: number; nowMs: number } | undefined;
      play(steps, membership, ({ reply, sentAtMs, nowMs }) => {
        if (reply?.kind !== "counted") {
          last = undefined;
          calmSinceMs = undefined;
        } else {
          const isCalm = last?.live === reply.live && sentAtMs - last.nowMs <= 150;
          if (!isCalm) calmSinceMs = nowMs;
          last = { live: reply.live, nowMs };
        }
        const isHeld = calmSinceMs !== undefined && sentAtMs - calmSinceMs >= TIMING.leaseMs;
        const isAgreed = reply?.kind === "counted" && reply.verdict === "agree";
        if (membership.size < size && membership.standing !== "refused")
          expect([isHeld, isAgreed]).toEqual([true, true]);
        const now = membership.standing === "member" ? partsOf(membership.entitlementAt(nowMs)) : 0;
        // A part less: a seat and its parts are the same share.
        if (now > parts + 1 && parts > 0) {
          grown++;
          expect(isHeld).toBe(true);
        }
        size = membership.size;
        parts = now;
      });
    }),
    { numRuns: 60 },
  );
  expect(grown).toBeGreaterThan(50);
});

test("without a lease it has at most the safe share, unless it is open and has lost the store", () => {
  let granted = 0;
  fc.assert(
    fc.property(stories, rules, (steps, some) => {
      const membership = new Membership(some);
      let leaseUntilMs = 0;
      let hasLost = false;
      play(steps, membership, ({ reply, sentAtMs, nowMs }) => {
        const { standing } = membership;
        if (standing === "member" && reply !== undefined) leaseUntilMs = sentAtMs + TIMING.leaseMs;
        if (standing === "member" || standing === "refused") hasLost = false;
        if (standing === "lost") hasLost = true;
        for (const laterMs of [0, 300, 850, 900, 950, 999, 1000, 5000]) {
          const isLeased = standing === "member" && nowMs + laterMs < leaseUntilMs;
          const parts = partsOf(membership.entitlementAt(nowMs + laterMs));
          if (isLeased && parts > 0) granted++;
          if (isLeased || (hasLost && some.onStoreLoss === "open")) continue;
          const mayHave =
            (hasLost && some.onStoreLoss === "safe-share") ||
            (standing === "joining" && some.joinOn === "safe-share");
          expect(parts).toBeLessThanOrEqual(mayHave ? PARTS / some.maxMembers : 0);
        }
      });
    }),
    { numRuns: 60 },
  );
  expect(granted).toBeGreaterThan(1000);
});

test("an equal share is never more than by the most members that the last reply told of", () => {
  fc.assert(
    fc.property(stories, rules, (steps, some) => {
      const membership = new Membership({ ...some, share: "equal" });
      play(steps, membership, ({ reply, nowMs }) => {
        if (reply?.kind !== "counted") return;
        const parts = partsOf(membership.entitlementAt(nowMs));
        expect(parts).toBeLessThanOrEqual(PARTS / Math.max(reply.live, reply.size));
      });
    }),
  );
});

test("a seat has the rank that was told at every sync of a whole lease", () => {
  let seats = 0;
  fc.assert(
    fc.property(stories, (steps) => {
      const membership = new Membership(RULES);
      let taken: number | undefined;
      let told: { rank: number; sinceMs: number; nowMs: number } | undefined;
      play(steps, membership, ({ reply, sentAtMs, nowMs }) => {
        if (reply?.kind !== "counted") told = undefined;
        else {
          const isCalm = told?.rank === reply.rank && sentAtMs - told.nowMs <= 150;
          const sinceMs = isCalm && told !== undefined ? told.sinceMs : nowMs;
          told = { rank: reply.rank, sinceMs, nowMs };
        }
        const entitlement = membership.entitlementAt(nowMs);
        const rank = entitlement?.kind === "seat" ? entitlement.seat.rank : undefined;
        if (rank !== undefined && rank !== taken) {
          seats++;
          expect(told?.rank).toBe(rank);
          expect(sentAtMs - (told?.sinceMs ?? sentAtMs)).toBeGreaterThanOrEqual(TIMING.leaseMs);
        }
        taken = rank;
      });
    }),
    { numRuns: 60 },
  );
  expect(seats).toBeGreaterThan(50);
});

test("the changes tell all there is to know: standing and size follow from them", () => {
  fc.assert(
    fc.property(stories, rules, (steps, some) => {
      const membership = new Membership(some);
      const seen: MembershipChange[] = [];
      const watched: Played = {
        report: (wanted) => membership.report(wanted),
        onReply: (...args) => seen.push(...membership.onReply(...args)),
        onMiss: (...args) => seen.push(...membership.onMiss(...args)),
      };
      let standing = "joining";
      let size = 0;
      play(steps, watched, () => {
        for (const change of seen.splice(0)) {
          expect(change.before).toBe(change.type === "size" ? size : standing);
          if (change.type === "size") size = change.size;
          else standing = change.standing;
          // Who is refused knows of no pool.
          if (standing === "refused") size = 0;
        }
        expect([membership.standing, membership.size]).toEqual([standing, size]);
      });
    }),
  );
});
