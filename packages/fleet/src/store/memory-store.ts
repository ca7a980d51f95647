import { createHash } from "node:crypto";
import type { Clock } from "@sluice/core";
import { checkLeave, checkLimits, checkSync } from "./check-request.ts";
import { fairParts, partsFor } from "./demand.ts";
import type { Claim } from "./demand.ts";
import type {
  DemandReport,
  LeaveReason,
  LeaveRequest,
  PoolStore,
  SavedLevel,
  SyncReply,
  SyncRequest,
} from "./pool-store.ts";

/** Limits that are set for a pool without members are kept for so long. */
export const LIMITS_TTL_MS = 86_400_000;

interface Member {
  readonly nonce: string;
  /** What stands for this incarnation in a roster. */
  readonly standsFor: number;
  readonly sequence: number;
  readonly seenAtMs: number;
  readonly size: number;
  readonly level: number | undefined;
  readonly claim: Claim | undefined;
}

interface Level {
  readonly level: number;
  readonly atMs: number;
  /** `crash` until somebody says otherwise. */
  readonly left: LeaveReason | "crash";
}

interface Limits {
  readonly version: number;
  readonly text: string;
  readonly untilMs: number;
}

/** What is lost at once if anything of it is lost, so that a pool without members is seen as new. */
interface Register {
  bornAtMs: number;
  syncedAtMs: number;
  /** So long without a sync, and it is forgotten. */
  keptMs: number;
  readonly members: Map<string, Member>;
}

interface Pool {
  register: Register | undefined;
  level: Level | undefined;
  /** When the level is forgotten. */
  levelUntilMs: number;
  limits: Limits | undefined;
}

/**
 * Pools in the memory of one process: for many limiters in it, for tests, and as the reference that
 * says what every other store must answer. Pools that nobody syncs are forgotten.
 */
export class MemoryStore implements PoolStore {
  readonly #clock: Clock;
  readonly #pools = new Map<string, Pool>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  sync(request: SyncRequest): Promise<SyncReply> {
    return settled(() => this.syncNow(request));
  }

  leave(request: LeaveRequest): Promise<void> {
    return settled(() => this.leaveNow(request));
  }

  setLimits(pool: string, text: string): Promise<number> {
    return settled(() => this.#setLimits(pool, text));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** How many pools are remembered. */
  get size(): number {
    return this.#pools.size;
  }

  /** Loses a pool, or the registration of one member: what any store may do at any time. */
  forget(pool: string, member?: string): void {
    if (member === undefined) this.#pools.delete(pool);
    else this.#pools.get(pool)?.register?.members.delete(member);
  }

  /** As `sync`, at once: for simulations, in which nothing waits. */
  syncNow(request: SyncRequest): SyncReply {
    checkSync(request);
    const { member: id, times } = request;
    const nowMs = this.#nowMs();
    const pool = this.#poolAt(request.pool, nowMs);
    const register = registerAt(pool, times.staleMs, nowMs);
    const live = liveMembers(register, times.staleMs, nowMs);
    const known = live.get(id);
    if (known !== undefined && known.nonce !== request.nonce) return { kind: "refused" };

    // It has read no reply yet: a lost one is made up for.
    const isFirst = request.size === undefined && request.level === undefined;
    const left = levelAt(pool, times.resumeTtlMs, nowMs);
    const saved = isFirst ? savedLevel(left, others(live, id)) : undefined;
    const limits = limitsFor(pool, request, nowMs);
    const isLate = known !== undefined && request.sequence <= known.sequence;
    const isLearning = nowMs < Math.min(register.bornAtMs, nowMs) + times.learningMs;
    const member = isLate ? known : memberOf(request, live, nowMs);
    live.set(id, member);
    const isGrowing = !isLate && !isLearning;
    const parts = request.demand && tellParts(live, id, isGrowing);

    if (!isLate) {
      const { claim } = member;
      const promised = Math.max(claim?.promised ?? 0, parts ?? 0);
      live.set(id, claim === undefined ? member : { ...member, claim: { ...claim, promised } });
      register.members.clear();
      for (const [other, entry] of live) register.members.set(other, entry);
      register.bornAtMs = Math.min(register.bornAtMs, nowMs);
      register.syncedAtMs = nowMs;
      register.keptMs = 2 * times.staleMs;
      pool.register = register;
      const level = nextLevel(left, [...live.values()], nowMs);
      if (level !== undefined) keepLevel(pool, level, times.resumeTtlMs);
      if (limits !== undefined)
        pool.limits = {
          ...limits,
          untilMs: nowMs + Math.max(times.resumeTtlMs, 2 * times.staleMs),
        };
      this.#pools.set(request.pool, pool);
    }

    const sizes = [...live.values()].map(({ size }) => size);
    const size = Math.max(...sizes);
    const isAgreed = size === live.size && Math.min(...sizes) === size && !isLearning;
    return {
      kind: "counted",
      verdict: isAgreed ? "agree" : "disagree",
      size,
      live: live.size,
      rank: [...live.keys()].filter((other) => other < id).length,
      roster: rosterOf(live),
      storeMs: nowMs,
      parts,
      saved,
      limits:
        limits !== undefined && limits.version > request.limitsVersion
          ? { version: limits.version, text: limits.text }
          : undefined,
    };
  }

  /** As `leave`, at once. */
  leaveNow(request: LeaveRequest): void {
    checkLeave(request);
    const { member: id, nonce, resumeTtlMs, reason } = request;
    const nowMs = this.#nowMs();
    const pool = this.#poolAt(request.pool, nowMs);
    const known = pool.register?.members.get(id);
    if (known !== undefined && known.nonce !== nonce) return;
    pool.register?.members.delete(id);
    const level = request.level ?? levelAt(pool, resumeTtlMs, nowMs)?.level;
    if (level === undefined) return;
    keepLevel(pool, { level, atMs: nowMs, left: reason }, resumeTtlMs);
    this.#pools.set(request.pool, pool);
  }

  #setLimits(name: string, text: string): number {
    checkLimits(name, text);
    const nowMs = this.#nowMs();
    const pool = this.#poolAt(name, nowMs);
    const version = (pool.limits?.version ?? 0) + 1;
    pool.limits = { version, text, untilMs: nowMs + LIMITS_TTL_MS };
    this.#pools.set(name, pool);
    return version;
  }

  /** As servers tell it: whole milliseconds. */
  #nowMs(): number {
    return Math.floor(this.#clock.now());
  }

  /** The pool without what has run out; an empty one, not yet kept, if there is none. */
  #poolAt(name: string, nowMs: number): Pool {
    const found = this.#pools.get(name);
    if (found === undefined) this.#sweep(nowMs);
    else forgetOld(found, nowMs);
    return found ?? { register: undefined, level: undefined, levelUntilMs: 0, limits: undefined };
  }

  /** A new pool pays for the old ones, so that they do not pile up. */
  #sweep(nowMs: number): void {
    for (const [name, pool] of this.#pools) {
      forgetOld(pool, nowMs);
      const { register, level, limits } = pool;
      if (register === undefined && level === undefined && limits === undefined)
        this.#pools.delete(name);
    }
  }
}

function forgetOld(pool: Pool, nowMs: number): void {
  const { register, level, limits } = pool;
  if (register !== undefined && nowMs - register.syncedAtMs > register.keptMs)
    pool.register = undefined;
  if (level !== undefined && nowMs >= pool.levelUntilMs) pool.level = undefined;
  if (limits !== undefined && nowMs >= limits.untilMs) pool.limits = undefined;
}

/** Nobody knows who holds shares of a pool that is new here: it is born now. */
function registerAt(pool: Pool, staleMs: number, nowMs: number): Register {
  const { register } = pool;
  if (register !== undefined && nowMs - register.syncedAtMs <= 2 * staleMs) return register;
  return { bornAtMs: nowMs, syncedAtMs: nowMs, keptMs: 2 * staleMs, members: new Map() };
}

function liveMembers(register: Register, staleMs: number, nowMs: number): Map<string, Member> {
  const live = new Map<string, Member>();
  for (const [id, member] of register.members) {
    // A clock that was set back must not keep the dead alive until it has caught up.
    const seenAtMs = Math.min(member.seenAtMs, nowMs);
    if (nowMs - seenAtMs <= staleMs) live.set(id, { ...member, seenAtMs });
  }
  return live;
}

function memberOf(request: SyncRequest, live: ReadonlyMap<string, Member>, nowMs: number): Member {
  const { nonce, sequence, level, member: id } = request;
  const count = live.has(id) ? live.size : live.size + 1;
  const size = request.size ?? count;
  const standsFor = live.get(id)?.standsFor ?? standsForOf(id, nonce);
  const claim = claimOf(request.demand);
  return { nonce, standsFor, sequence, seenAtMs: nowMs, size, level, claim };
}

function claimOf(demand: DemandReport | undefined): Claim | undefined {
  if (demand === undefined) return undefined;
  const { entitled, held, wanted } = demand;
  // What it says that it holds is all that it may use: later replies have not reached it.
  return { entitled, promised: held, wanted };
}

function tellParts(live: ReadonlyMap<string, Member>, id: string, isGrowing: boolean): number {
  const asking = [...live].filter(([, { claim }]) => claim !== undefined);
  const claims = asking.flatMap(([, { claim }]) => claim ?? []);
  const index = asking.findIndex(([other]) => other === id);
  const claim = claims[index];
  if (claim === undefined) return 0;
  if (isGrowing) return partsFor(claims, index);
  return Math.min(claim.promised, fairParts(claims)[index] ?? 0);
}

/** What a newcomer finds: the level of those who run, or the one that was left. */
function savedLevel(left: Level | undefined, running: readonly Member[]): SavedLevel | undefined {
  const highest = highestLevel(running);
  if (highest !== undefined) return { level: highest, left: "running" };
  return left && { level: left.level, left: left.left };
}

function levelAt({ level }: Pool, resumeTtlMs: number, nowMs: number): Level | undefined {
  return level !== undefined && nowMs - level.atMs < resumeTtlMs ? level : undefined;
}

/** The level as the pool now stands. One that was left stays as it is until somebody has another. */
function nextLevel(
  left: Level | undefined,
  live: readonly Member[],
  nowMs: number,
): Level | undefined {
  const highest = highestLevel(live);
  if (highest !== undefined) return { level: highest, atMs: nowMs, left: "crash" };
  return left && { ...left, atMs: nowMs };
}

function keepLevel(pool: Pool, level: Level, resumeTtlMs: number): void {
  if (resumeTtlMs === 0) return;
  pool.level = level;
  pool.levelUntilMs = level.atMs + resumeTtlMs;
}

/** A member that knows a later version was told it by a store that has since lost it: what is here now is newer. */
function limitsFor({ limits }: Pool, request: SyncRequest, nowMs: number): Limits | undefined {
  if (limits === undefined || nowMs >= limits.untilMs) return undefined;
  if (limits.version >= request.limitsVersion) return limits;
  return { ...limits, version: request.limitsVersion + 1 };
}

function others(live: ReadonlyMap<string, Member>, id: string): Member[] {
  return [...live].filter(([other]) => other !== id).map(([, member]) => member);
}

function highestLevel(members: readonly Member[]): number | undefined {
  const levels = members.flatMap(({ level }) => level ?? []);
  return levels.length === 0 ? undefined : Math.max(...levels);
}

function settled<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(work());
  });
}

/** Digits of a hash that are added up: thousands of them stay exact. */
const ROSTER_DIGITS = 10;

function standsForOf(id: string, nonce: string): number {
  const hash = createHash("sha1").update(`${id}=${nonce}`).digest("hex");
  return Number.parseInt(hash.slice(0, ROSTER_DIGITS), 16);
}

/** In whatever order they come: the sum of what stands for each. */
function rosterOf(live: ReadonlyMap<string, Member>): string {
  let sum = 0;
  for (const { standsFor } of live.values()) sum += standsFor;
  return String(sum);
}
