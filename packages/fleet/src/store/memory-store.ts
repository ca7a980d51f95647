import type { Clock } from "@sluice/core";
import { systemTimer } from "@sluice/core/system";
import { isRefreshDue, Ledger } from "../ledger/ledger.ts";
import { reportLevel } from "../ledger/running-level.ts";
import { rosterOf } from "../ledger/roster.ts";
import type { PoolRoster } from "../ledger/roster.ts";
import { aboutText, readAbout } from "./about.ts";
import { requirePoolName } from "./names.ts";
import { checkLeave, checkLimits, checkSync } from "./check-request.ts";
import type {
  KnownLimits,
  LeaveReason,
  LeaveRequest,
  PoolLimits,
  PoolStore,
  SavedLevel,
  SyncReply,
  SyncRequest,
} from "./pool-store.ts";

/** Limits that are set for a pool without members are kept for one day. */
export const LIMITS_TTL_MS = 86_400_000;

interface Level {
  readonly level: number;
  /** `crash` unless a member has said otherwise. */
  readonly left: LeaveReason | "crash";
  readonly untilMs: number;
}

interface Limits extends PoolLimits {
  readonly untilMs: number;
}

interface Pool {
  readonly ledger: Ledger;
  level: Level | undefined;
  limits: Limits | undefined;
}

/**
 * Pools in the memory of one process: for many limiters in it, for tests, and as the reference that
 * says what every other store must answer. Pools without syncs are forgotten.
 */
export class MemoryStore implements PoolStore {
  readonly #clock: Clock;
  readonly #pools = new Map<string, Pool>();
  #run = 1;

  constructor(clock: Clock = systemTimer) {
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

  roster(pool: string): Promise<PoolRoster | undefined> {
    return settled(() => {
      requirePoolName(pool);
      const state = this.#pools.get(pool)?.ledger.state;
      return state && rosterOf(state, this.#wallMs(), readAbout);
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** How many pools are remembered. */
  get size(): number {
    return this.#pools.size;
  }

  /** Loses a pool, or the entry of one member: what any store may do at any time. */
  forget(pool: string, member?: string): void {
    if (member === undefined) this.#pools.delete(pool);
    else this.#pools.get(pool)?.ledger.state?.entries.delete(member);
  }

  /**
   * Prepares a failover: the answered function puts the pools back as they are now, in a new run of
   * the server.
   */
  snapshot(): () => void {
    const saved = structuredClone(
      [...this.#pools].map(([name, { ledger, level, limits }]) => {
        return { name, state: ledger.state, level, limits };
      }),
    );
    return () => {
      this.#run++;
      this.#pools.clear();
      for (const { name, state, level, limits } of structuredClone(saved)) {
        const ledger = new Ledger();
        ledger.state = state;
        this.#pools.set(name, { ledger, level, limits });
      }
    };
  }

  /** As `sync`, at once: for simulations, in which nothing waits. */
  syncNow(request: SyncRequest): SyncReply {
    checkSync(request);
    const { member: id, timing, resumeTtlMs } = request;
    const wallMs = this.#wallMs();
    const pool = this.#pool(request.pool, wallMs);
    const { state, isNew } = pool.ledger.open(wallMs, String(this.#run), timing);
    const reply = pool.ledger.sync(state, isNew, timing, {
      ...request,
      id,
      about: aboutText(request),
    });
    if (reply.kind !== "told") return reply;
    const running = reportLevel(state.level, request.level, state.nowMs);
    const saved = request.isFirst ? savedLevel(pool, running, state.members > 1) : undefined;
    const isDue = isRefreshDue(state);
    if (isDue) state.saved.refreshedAtMs = wallMs;
    if (resumeTtlMs > 0 && (isDue || (running !== undefined && running !== state.saved.level))) {
      state.saved.level = running;
      keepLevel(pool, running, wallMs + resumeTtlMs);
    }
    const untilMs = wallMs + Math.max(resumeTtlMs, 2 * timing.staleMs);
    keepLimits(pool, request.limits, { untilMs, isDue });
    const { limits } = pool;
    return {
      ...reply,
      rank: request.needsRank && reply.isSettled ? pool.ledger.rankOf(state, id) : undefined,
      storeMs: wallMs,
      hasRunId: true,
      saved,
      limitsVersion: limits?.version ?? 0,
      limits:
        limits !== undefined && limits.version > request.limits.version
          ? { version: limits.version, text: limits.text }
          : undefined,
    };
  }

  /** As `leave`, at once. */
  leaveNow(request: LeaveRequest): void {
    checkLeave(request);
    const { member: id, nonce, timing, resumeTtlMs, reason } = request;
    const wallMs = this.#wallMs();
    const pool = this.#pool(request.pool, wallMs);
    // A store that remembers nothing stays empty, so that the next joiner finds it so.
    if (pool.ledger.state !== undefined) {
      const { state } = pool.ledger.open(wallMs, String(this.#run), timing);
      if (!pool.ledger.leave(state, id, nonce)) return;
    }
    const level = request.level ?? pool.level?.level;
    if (level === undefined || resumeTtlMs === 0) return;
    pool.level = { level, left: reason, untilMs: wallMs + resumeTtlMs };
  }

  #setLimits(name: string, text: string): number {
    checkLimits(name, text);
    const wallMs = this.#wallMs();
    const pool = this.#pool(name, wallMs);
    // Of the clock, so that it is higher than any that members remember from before a flush.
    const version = Math.max((pool.limits?.version ?? 0) + 1, wallMs);
    pool.limits = { version, text, untilMs: wallMs + LIMITS_TTL_MS };
    return version;
  }

  /** Whole milliseconds, as servers tell them. */
  #wallMs(): number {
    return Math.floor(this.#clock.now());
  }

  /** The pool without what has run out. A new pool pays for the removal of old ones. */
  #pool(name: string, wallMs: number): Pool {
    let pool = this.#pools.get(name);
    if (pool === undefined) {
      for (const [other, old] of this.#pools) if (isOver(old, wallMs)) this.#pools.delete(other);
      pool = { ledger: new Ledger(), level: undefined, limits: undefined };
      this.#pools.set(name, pool);
    }
    forgetOld(pool, wallMs);
    return pool;
  }
}

function forgetOld(pool: Pool, wallMs: number): void {
  if (pool.level !== undefined && wallMs >= pool.level.untilMs) pool.level = undefined;
  if (pool.limits !== undefined && wallMs >= pool.limits.untilMs) pool.limits = undefined;
}

function isOver(pool: Pool, wallMs: number): boolean {
  forgetOld(pool, wallMs);
  const { ledger, level, limits } = pool;
  const { state } = ledger;
  const isEmpty = state === undefined || wallMs - state.wallMs > 2 * state.timing.staleMs;
  return isEmpty && level === undefined && limits === undefined;
}

/** What a joiner finds: the level of the running members, or the one that was left. */
function savedLevel(
  { level }: Pool,
  running: number | undefined,
  hasOthers: boolean,
): SavedLevel | undefined {
  if (running !== undefined && hasOthers) return { level: running, left: "running" };
  return level && { level: level.level, left: level.left };
}

/** Without a running level the saved one stays as it was left. */
function keepLevel(pool: Pool, running: number | undefined, untilMs: number): void {
  if (running !== undefined) pool.level = { level: running, left: "crash", untilMs };
  else if (pool.level !== undefined) pool.level = { ...pool.level, untilMs };
}

/** A member teaches a store the limits that the store has lost. */
function keepLimits(
  pool: Pool,
  { version, text }: KnownLimits,
  { untilMs, isDue }: { readonly untilMs: number; readonly isDue: boolean },
): void {
  const known = pool.limits;
  if (text !== undefined && version > (known?.version ?? 0))
    pool.limits = { version, text, untilMs };
  else if (isDue && known !== undefined) pool.limits = { ...known, untilMs };
}

function settled<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(work());
  });
}
