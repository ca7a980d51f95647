import { decide } from "./decision.ts";
import type { Decision } from "./decision.ts";
import { demandOf, fairShare } from "./fair-share.ts";
import { equalShare, PARTS, POOL_MEMBERS_MAX } from "./parts.ts";
import { newLevelWindow } from "./running-level.ts";
import type { LevelWindow } from "./running-level.ts";
import { ledgerTimes } from "./timing.ts";
import type { LedgerTimes, Timing } from "./timing.ts";

/** The sequence number of a member that has left: later than any that may still be on its way. */
const LEFT = Number.POSITIVE_INFINITY;

/**
 * How often ages are refreshed, and the run of the server is looked at while no share grows. Raised, a
 * failover is noticed later if no share grows; at every sync both would cost Redis a third more.
 */
const REFRESH_MS = 1000;

/** From this part of its fair share on, a joiner has arrived: it no longer waits for a hand-over. */
const ARRIVED = 0.9;

/** What the ledger remembers of one member. Amounts in parts, instants in pool time. */
interface Entry {
  readonly nonce: string;
  readonly joinedAtMs: number;
  sequence: number;
  seenAtMs: number;
  /** The most that the member may be using, last renewed at `promisedAtMs`. */
  promised: number;
  promisedAtMs: number;
  /** What the member was told last, at most `promised`; its lease counts from `toldAtMs`. */
  told: number;
  toldAtMs: number;
  hasArrived: boolean;
  /**
   * Whether the member may use its safe share until it has arrived: `free`, as far as it is promised to
   * no other member, from its second sync on; or `at-once`, even if others were promised all of it.
   */
  safeStart: "no" | "free" | "at-once";
  /** Its demand, see `fairShare`. */
  lent: number;
  extra: number;
  /** What the member says of itself to people, as `aboutText` writes it; no rule reads it. */
  about: string;
}

/** One pool as the store remembers it. A plain value: a copy of it is a snapshot. */
export interface LedgerState {
  readonly timing: Timing;
  /** The run of the server that wrote this; another one may have older data. */
  runId: string;
  /** The store's wall clock at the last step. */
  wallMs: number;
  /** Pool time: follows the wall clock, never goes back, and never jumps by more than one gap. */
  nowMs: number;
  /** No share grows before this instant. */
  learningUntilMs: number;
  /** When a member last joined, left or was forgotten, or learning began. */
  changedAtMs: number;
  /** Entries that should be there: fewer or more means that the store has lost some. */
  count: number;
  /** Members that have not left. */
  members: number;
  /** Sums over the entries. */
  promised: number;
  returning: number;
  lent: number;
  extra: number;
  /** Parts asked back in this interval of one sync and in the one before. */
  asked: { sinceMs: number; now: number; before: number };
  /** The joiner that waits longest, and the parts that it lacks. */
  head: { atMs: number; joinedAtMs: number; need: number };
  /** What members report of their ramps; empty when the last one has left. */
  level: LevelWindow;
  /** The level that was saved last, and the wall clock when everything with an age was last refreshed. */
  saved: { level: number | undefined; refreshedAtMs: number };
  readonly entries: Map<string, Entry>;
}

/** One member's sync, as far as shares go. */
export interface LedgerSync {
  readonly id: string;
  readonly nonce: string;
  readonly sequence: number;
  /** What the member uses now, in parts. */
  readonly held: number;
  /** Whether `held` is used without a lease, by the policy for a lost store. */
  readonly isHeldUnleased: boolean;
  /** What the member would use, in parts. Undefined: not known yet, and taken for its equal share. */
  readonly wanted: number | undefined;
  /** Its safe share, in parts: told to the first joiner of an empty pool before the store has learnt. */
  readonly safeShare: number;
  /** Whether the member starts on its safe share at once, even if others were promised all of it. */
  readonly startsOnSafeShare: boolean;
  /** Whether it has not read any reply yet. */
  readonly isFirst: boolean;
  /** What it says of itself to people; no rule reads it. */
  readonly about: string;
}

/** What the ledger answers to a sync. */
export type LedgerReply =
  | { readonly kind: "refused"; readonly why: RefusalCause }
  /** A sync that was overtaken by a later one, or by the member's leave. It changes nothing. */
  | { readonly kind: "late" }
  | {
      readonly kind: "told";
      /** What the member may use from now on, in parts. */
      readonly told: number;
      /** Whether its lease starts anew with this sync. */
      readonly isRenewed: boolean;
      readonly reason: Decision["reason"];
      /** What it would be told if every hand-over were complete. */
      readonly fair: number;
      readonly members: number;
      /** How long no share will grow, because the store has lost memory. */
      readonly learningMs: number;
      /** Whether the members were the same for longer than any lease, so that their ranks are settled. */
      readonly isSettled: boolean;
    };

/** `id-taken`: another process that lives has the id. `other-timing`: the pool runs with another timing. */
export type RefusalCause = "id-taken" | "pool-full" | "other-timing";

/**
 * The ledger of promises of one pool. It remembers for every member the most that this member may be
 * using, and tells no member more than the free parts. A share that is asked back stays
 * promised until its holder has reported its release or its lease has ended. So the shares in use
 * never exceed the ceiling, and no share shrinks before another member can take it over.
 *
 * Joins, leaves and members that went silent restart nothing. Only lost memory stops growth, for one
 * learning time; shares that are held go on meanwhile.
 *
 * Every call is one atomic step. `sync.lua` and `leave.lua` do the same in Redis.
 */
export class Ledger {
  /** Undefined while nothing is remembered. */
  state: LedgerState | undefined;
  /** The run of the server in this step. */
  #runId = "";

  /**
   * Begins a step: moves pool time, looks for lost memory, and ends promises that have run out.
   * Answers what is remembered; `isNew` if that was nothing.
   */
  open(wallMs: number, runId: string, timing: Timing): { state: LedgerState; isNew: boolean } {
    const known = this.state;
    const isGone = known !== undefined && wallMs - known.wallMs > 2 * known.timing.staleMs;
    const isNew = known === undefined || isGone;
    const state = isNew ? newState(wallMs, runId, timing) : known;
    this.state = state;
    this.#runId = runId;
    this.#advance(state, wallMs);
    if (state.members > 0 || isSameTiming(state.timing, timing)) return { state, isNew };
    // The last member with the old timing has left.
    this.state = newState(wallMs, runId, timing);
    return { state: this.state, isNew: true };
  }

  sync(state: LedgerState, isNewPool: boolean, timing: Timing, request: LedgerSync): LedgerReply {
    const { id, nonce, sequence, held } = request;
    if (!isSameTiming(state.timing, timing)) return { kind: "refused", why: "other-timing" };
    let known = state.entries.get(id);
    if (known?.sequence === LEFT && known.nonce !== nonce) {
      remove(state, id, known);
      known = undefined;
    }
    if (known !== undefined && known.nonce !== nonce) return { kind: "refused", why: "id-taken" };
    if (known !== undefined && sequence <= known.sequence) return { kind: "late" };
    if (known === undefined && state.members >= POOL_MEMBERS_MAX)
      return { kind: "refused", why: "pool-full" };

    const times = ledgerTimes(state.timing);
    const { nowMs } = state;
    const isUnknown = held > (known?.promised ?? 0);
    // The member holds a lease that the store does not remember.
    if (isUnknown && !request.isHeldUnleased && nowMs >= state.learningUntilMs)
      startLearning(state, times);
    const entry = known ?? add(state, request, isNewPool);
    const heldAtMs = heldSince(entry, request, nowMs);
    // What a member reports is all that it may use: later replies have not reached it.
    promise(state, entry, {
      promised: held,
      promisedAtMs: heldAtMs,
      told: held,
      toldAtMs: heldAtMs,
    });
    entry.sequence = sequence;
    entry.seenAtMs = nowMs;
    entry.about = request.about;
    const wanted = request.wanted ?? equalShare(state.members);
    wish(state, entry, demandOf(wanted, state.members));

    const fair = fairShare(wanted, state.members, state);
    const isNew = known === undefined;
    if (held < fair) this.#checkRun(state, times);
    const decision = decide({
      held,
      fair,
      // A member whose demand is not known wants what it holds.
      wanted: request.wanted ?? PARTS,
      free: PARTS - state.promised,
      returning: returningAt(state),
      reserved: reservedFrom(state, entry, held),
      isOverdue: nowMs - heldAtMs > times.overdueMs,
      isNew,
      learning: learningAt(state),
    });
    const told = Math.max(
      decision.told,
      safeStart(state, entry, isNew, Math.min(request.safeShare, fair)),
    );
    const toldAtMs = decision.isRenewed ? nowMs : heldAtMs;
    if (told < held) {
      state.asked.now += held - told;
      promise(state, entry, { promised: held, promisedAtMs: heldAtMs, told, toldAtMs });
    } else promise(state, entry, { promised: told, promisedAtMs: toldAtMs, told, toldAtMs });
    noteArrival(state, entry, fair);
    return {
      kind: "told",
      told,
      isRenewed: decision.isRenewed,
      reason: told > decision.told ? "grown" : decision.reason,
      fair,
      members: state.members,
      learningMs: Math.max(0, state.learningUntilMs - nowMs),
      isSettled: nowMs - state.changedAtMs > state.timing.staleMs,
    };
  }

  /**
   * Ends a member. A tombstone stays for one stale age, so that its syncs that are still on their way
   * are recognised as late. False if another process has the id.
   */
  leave(state: LedgerState, id: string, nonce: string): boolean {
    const entry = state.entries.get(id);
    if (entry === undefined || entry.nonce !== nonce) return entry === undefined;
    if (entry.sequence === LEFT) return true;
    promise(state, entry, NOTHING);
    wish(state, entry, { lent: 0, extra: 0 });
    entry.sequence = LEFT;
    entry.seenAtMs = state.nowMs;
    resize(state, -1);
    return true;
  }

  /** Where a member stands among those that have not left, in the order of their ids, from 0. */
  rankOf(state: LedgerState, id: string): number {
    let rank = 0;
    for (const [other, { sequence }] of state.entries) if (sequence !== LEFT && other < id) rank++;
    return rank;
  }

  /**
   * Another run of the server may have older data. Only growth must know of it, so this is called before
   * a share grows, and otherwise once in `REFRESH_MS`.
   */
  #checkRun(state: LedgerState, times: LedgerTimes): void {
    if (state.runId === this.#runId) return;
    state.runId = this.#runId;
    startLearning(state, times);
  }

  #advance(state: LedgerState, wallMs: number): void {
    const times = ledgerTimes(state.timing);
    state.nowMs += Math.min(Math.max(wallMs - state.wallMs, 0), times.gapMs);
    state.wallMs = wallMs;
    if (isRefreshDue(state)) this.#checkRun(state, times);
    if (state.entries.size !== state.count) {
      recount(state);
      startLearning(state, times);
    }
    for (const [id, entry] of state.entries) endPromise(state, id, entry, times);
    const { asked, nowMs } = state;
    const sinceMs = nowMs - asked.sinceMs;
    const intervalMs = state.timing.syncIntervalMs;
    if (sinceMs >= intervalMs)
      state.asked = { sinceMs: nowMs, now: 0, before: sinceMs >= 2 * intervalMs ? 0 : asked.now };
  }
}

/** Whether everything with an age is to be refreshed in this step; also if the clock was set back. */
export function isRefreshDue({ wallMs, saved }: LedgerState): boolean {
  const sinceMs = wallMs - saved.refreshedAtMs;
  return sinceMs >= REFRESH_MS || sinceMs < 0;
}

interface Promised {
  readonly promised: number;
  readonly promisedAtMs: number;
  readonly told: number;
  readonly toldAtMs: number;
}

const NOTHING: Promised = { promised: 0, promisedAtMs: 0, told: 0, toldAtMs: 0 };

function newState(wallMs: number, runId: string, timing: Timing): LedgerState {
  return {
    timing,
    runId,
    wallMs,
    nowMs: 0,
    // An empty store may have lost its entries.
    learningUntilMs: ledgerTimes(timing).learningMs,
    changedAtMs: 0,
    count: 0,
    members: 0,
    promised: 0,
    returning: 0,
    lent: 0,
    extra: 0,
    asked: { sinceMs: 0, now: 0, before: 0 },
    head: { ...NO_HEAD },
    level: newLevelWindow(),
    saved: { level: undefined, refreshedAtMs: Number.NEGATIVE_INFINITY },
    entries: new Map(),
  };
}

const NO_HEAD = { atMs: -1e9, joinedAtMs: 0, need: 0 } as const;

function isSameTiming(a: Timing, b: Timing): boolean {
  return (
    a.syncIntervalMs === b.syncIntervalMs &&
    a.leaseMs === b.leaseMs &&
    a.staleMs === b.staleMs &&
    a.timeoutMs === b.timeoutMs
  );
}

function startLearning(state: LedgerState, { learningMs }: LedgerTimes): void {
  state.learningUntilMs = state.nowMs + learningMs;
  state.changedAtMs = state.nowMs;
}

/** In the last two syncs of learning shares are asked back already, so that they are free at its end. */
function learningAt(state: LedgerState): "no" | "growth" | "all" {
  const leftMs = state.learningUntilMs - state.nowMs;
  if (leftMs <= 0) return "no";
  return leftMs <= 2 * state.timing.syncIntervalMs ? "growth" : "all";
}

function add(state: LedgerState, request: LedgerSync, isNewPool: boolean): Entry {
  const { id, nonce, sequence, held, isFirst, startsOnSafeShare } = request;
  const isJoiner = isFirst && held === 0;
  const safe = startsOnSafeShare ? "at-once" : "free";
  const entry: Entry = {
    nonce,
    joinedAtMs: state.nowMs,
    sequence,
    seenAtMs: state.nowMs,
    ...NOTHING,
    hasArrived: false,
    // A pool that all have left says no more about running members than an empty store.
    safeStart: isJoiner && (isNewPool || state.members === 0 || startsOnSafeShare) ? safe : "no",
    lent: 0,
    extra: 0,
    about: "",
  };
  state.entries.set(id, entry);
  state.count++;
  resize(state, 1);
  return entry;
}

function remove(state: LedgerState, id: string, entry: Entry): void {
  promise(state, entry, NOTHING);
  wish(state, entry, { lent: 0, extra: 0 });
  if (entry.sequence !== LEFT) resize(state, -1);
  state.count--;
  state.entries.delete(id);
}

function resize(state: LedgerState, by: number): void {
  state.members += by;
  state.changedAtMs = state.nowMs;
  if (state.members === 0) state.level = newLevelWindow();
}

function promise(state: LedgerState, entry: Entry, made: Promised): void {
  state.promised += made.promised - entry.promised;
  state.returning += made.promised - made.told - (entry.promised - entry.told);
  Object.assign(entry, made);
}

function wish(
  state: LedgerState,
  entry: Entry,
  { lent, extra }: { lent: number; extra: number },
): void {
  state.lent += lent - entry.lent;
  state.extra += extra - entry.extra;
  entry.lent = lent;
  entry.extra = extra;
}

/** Entries were lost: the sums are those of what is left. */
function recount(state: LedgerState): void {
  Object.assign(state, { members: 0, promised: 0, returning: 0, lent: 0, extra: 0 });
  for (const entry of state.entries.values()) {
    if (entry.sequence !== LEFT) state.members++;
    state.promised += entry.promised;
    state.returning += entry.promised - entry.told;
    state.lent += entry.lent;
    state.extra += entry.extra;
  }
  state.count = state.entries.size;
}

/** A promise that was not renewed for one stale age ends; what was told after it may still run. */
function endPromise(state: LedgerState, id: string, entry: Entry, times: LedgerTimes): void {
  const { nowMs } = state;
  const { staleMs } = state.timing;
  if (entry.promised > 0 && nowMs > entry.promisedAtMs + staleMs) {
    const { told, toldAtMs } = entry;
    const isToldValid = toldAtMs > entry.promisedAtMs && nowMs <= toldAtMs + staleMs;
    const left = { promised: told, promisedAtMs: toldAtMs, told, toldAtMs };
    promise(state, entry, isToldValid ? left : NOTHING);
  }
  const keptMs = entry.sequence === LEFT ? staleMs : times.silentMs;
  if (entry.promised === 0 && nowMs > entry.seenAtMs + keptMs) remove(state, id, entry);
}

/**
 * What a joiner may use before it has its share, in parts. An empty store may have lost the promises of
 * running members, so its first joiner waits one sync, in which they report what they hold.
 */
function safeStart(state: LedgerState, entry: Entry, isNew: boolean, safeShare: number): number {
  if (entry.safeStart === "at-once") return safeShare;
  if (entry.safeStart === "no" || isNew) return 0;
  return Math.min(safeShare, entry.promised + Math.max(0, PARTS - state.promised));
}

/** When the lease on what a member holds was last renewed. */
function heldSince(entry: Entry, { held, isHeldUnleased }: LedgerSync, nowMs: number): number {
  if (isHeldUnleased || held > entry.promised) return nowMs;
  return held <= entry.told ? entry.toldAtMs : entry.promisedAtMs;
}

/** Parts asked back lately and not released; what was asked longer ago may never come. */
function returningAt({ returning, asked }: LedgerState): number {
  return Math.min(returning, asked.now + asked.before);
}

/**
 * What is kept for the joiner that waits longest: from all that joined after it, and from members that
 * have their equal share and would only borrow more.
 */
function reservedFrom(state: LedgerState, entry: Entry, held: number): number {
  const { head, members } = state;
  if (!isHeadFresh(state) || entry.joinedAtMs === head.joinedAtMs) return 0;
  return entry.joinedAtMs > head.joinedAtMs || held >= equalShare(members) ? head.need : 0;
}

function isHeadFresh({ nowMs, head, timing }: LedgerState): boolean {
  return nowMs - head.atMs <= 2 * timing.syncIntervalMs;
}

/** Joiners are served in the order in which they came: by chance alone one could wait for ever. */
function noteArrival(state: LedgerState, entry: Entry, fair: number): void {
  const { head, nowMs } = state;
  if (entry.told >= ARRIVED * fair) {
    entry.hasArrived = true;
    entry.safeStart = "no";
    if (entry.joinedAtMs === head.joinedAtMs) state.head = { ...NO_HEAD };
    return;
  }
  if (entry.hasArrived) return;
  if (!isHeadFresh(state) || entry.joinedAtMs <= head.joinedAtMs)
    state.head = { atMs: nowMs, joinedAtMs: entry.joinedAtMs, need: fair - entry.told };
}
