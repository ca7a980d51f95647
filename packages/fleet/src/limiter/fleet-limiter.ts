import { InvariantError } from "@sluice/core";
import type { Clock, Reason, Timer } from "@sluice/core";
import { Grant, requireDuration, requireKnownKeys } from "@sluice/core/internal";
import type { TakeBack } from "@sluice/core/internal";
import type { Entitlement } from "../membership/membership.ts";
import { requireLeaveReason } from "../store/check-request.ts";
import type { LeaveReason } from "../store/pool-store.ts";
import type { Ceiling } from "./ceiling.ts";
import type { FleetCounts, Tally } from "./counts.ts";
import type { Pacing } from "./pacing.ts";
import type { PoolTime } from "./pool-time.ts";
import type { FleetState, MembershipState } from "./state.ts";
import { UNLIMITED } from "./unlimited-pacing.ts";
import { WaitingLine } from "./waiting-line.ts";

/** Where a limiter learns what it may use. */
export interface Entitling {
  /** Asked for every grant, after every wait. */
  entitlementAt(nowMs: number): Entitlement | undefined;
  /** Whether that is under a lease, or by the policy for those who have none. */
  isLeasedAt(nowMs: number): boolean;
  /** Why there are no tokens. */
  readonly reason: Reason;
  /** Told of every call, if demand counts. */
  onAsk?(asked: number, granted: number): void;
  /** What it knows of the pool, if there is a store. */
  stateAt?(nowMs: number): MembershipState;
  /** Ends it. */
  leave(reason: LeaveReason): Promise<void>;
}

export interface AcquireOptions {
  /** The longest wait; without it a call waits until it gets something. */
  readonly timeoutMs?: number;
  /** Ends the wait: the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

const ACQUIRE_KEYS: ReadonlySet<string> = new Set(["timeoutMs", "signal"]);

export interface FleetLimiterOptions {
  readonly name: { readonly pool: string; readonly member?: string };
  readonly timer: Timer;
  /**
   * What calls are dated by, if not the timer. One that is read once per turn makes them several times
   * cheaper; a turn that is stopped half-way then grants, at most, the tokens that were there.
   */
  readonly clock?: Clock | undefined;
  readonly time: PoolTime;
  /** Undefined: nothing is limited. */
  readonly paced?: { readonly ceiling: Ceiling; readonly pacing: Pacing };
  readonly entitling: Entitling;
  /** Calls that may wait at once; further ones are refused. */
  readonly maxWaiting: number;
  readonly tally: Tally;
}

interface Caller {
  readonly asked: number;
  readonly sinceMs: number;
  readonly settle: (grant: Grant) => void;
}

/**
 * One member's door to the tokens of its pool. All decisions are local. A call gets what is there,
 * up to what it asked for, and that is final; it waits only if nothing at all is there. Those who
 * wait are served in the order in which they came.
 */
export class FleetLimiter {
  readonly #name: FleetLimiterOptions["name"];
  readonly #timer: Timer;
  readonly #clock: Clock;
  readonly #time: PoolTime;
  /** Undefined: nothing is limited, and no clock is read. */
  readonly #ceiling: Ceiling | undefined;
  readonly #pacing: Pacing;
  readonly #entitling: Entitling;
  readonly #maxWaiting: number;
  readonly #tally: Tally;
  readonly #line = new WaitingLine<Caller>();
  readonly #listeners = new Set<() => void>();
  #asleep: AbortController | undefined;
  #isClosed = false;
  #left: Promise<void> | undefined;
  #pacingTakeBack: Pacing["takeBack"] | undefined;
  #takeBack: TakeBack = () => {};

  constructor(options: FleetLimiterOptions) {
    this.#name = options.name;
    this.#timer = options.timer;
    this.#clock = options.clock ?? options.timer;
    this.#time = options.time;
    this.#ceiling = options.paced?.ceiling;
    this.#pacing = options.paced?.pacing ?? UNLIMITED;
    this.#entitling = options.entitling;
    this.#maxWaiting = options.maxWaiting;
    this.#tally = options.tally;
  }

  /** What was done so far; the same object always. */
  get counts(): FleetCounts {
    return this.#tally;
  }

  get waiting(): number {
    return this.#line.size;
  }

  /** What callers are told while there are no tokens. */
  get reason(): Reason {
    return this.#entitling.reason;
  }

  get countMax(): number {
    return this.#pacing.countMax;
  }

  /** What it is at now, for whoever looks on. Looking moves nothing. */
  state(): FleetState {
    const nowMs = this.#timer.now();
    const ceiling = this.#ceiling;
    const entitlement = this.#isClosed ? undefined : this.#entitling.entitlementAt(nowMs);
    const glance =
      ceiling === undefined ? undefined : this.#pacing.glance(this.#time.at(nowMs), entitlement);
    return {
      pool: this.#name.pool,
      member: this.#name.member,
      membership: this.#isClosed ? undefined : this.#entitling.stateAt?.(nowMs),
      ceiling: ceiling?.shown,
      share: glance?.share,
      left: glance?.left,
      utilisation: ceiling?.utilisation,
      waiting: this.#line.size,
    };
  }

  /** Takes up to `count` tokens of those that are there now. */
  tryAcquire(count: number): Grant {
    requireCount(count);
    this.#tally.requested += count;
    // Who waits comes first.
    const granted = this.#line.size > 0 ? 0 : this.#take(count, this.#now());
    return this.#grant(count, granted);
  }

  /** Takes up to `count` tokens, and waits for the first if none is there. */
  async acquire(count: number, options: AcquireOptions = {}): Promise<Grant> {
    const { timeoutMs, signal } = options;
    requireKnownKeys("a call", options, ACQUIRE_KEYS);
    signal?.throwIfAborted();
    requireCount(count);
    if (timeoutMs !== undefined) requireDuration("timeoutMs", timeoutMs);
    this.#tally.requested += count;
    const nowMs = this.#now();
    const granted = this.#line.size > 0 ? 0 : this.#take(count, nowMs);
    const isFull = this.#line.size >= this.#maxWaiting;
    if (granted > 0 || count === 0 || timeoutMs === 0 || isFull || this.#isClosed)
      return this.#grant(count, granted);
    return this.#wait(count, nowMs, options);
  }

  /**
   * All of `count`, or nothing; for a gate that holds its own line. A count of more than `countMax`
   * waits for so many, and the rest is missing from what comes next.
   */
  tryTake(count: number, nowMs: number): boolean {
    requireCount(count);
    this.#tally.requested += count;
    const isThere =
      this.#line.size === 0 && this.#leftAt(nowMs) >= Math.min(count, this.#pacing.countMax);
    if (isThere) {
      this.#pacing.spend(count);
      this.#onGranted(count, nowMs);
    } else this.#onRefused(count);
    this.#entitling.onAsk?.(count, isThere ? count : 0);
    return isThere;
  }

  /** How long until `count` will have come, as far as is known. */
  pauseMs(count: number, nowMs: number): number {
    const readyAtMs = this.#readyAtMs(count, nowMs);
    return readyAtMs === undefined ? PAUSE_UNKNOWN_MS : Math.max(0, readyAtMs - nowMs);
  }

  /** Calls `wake` whenever more may be there than `pauseMs` said. Answers how to stop that. */
  subscribe(wake: () => void): () => void {
    this.#listeners.add(wake);
    return () => void this.#listeners.delete(wake);
  }

  /** What may be used has changed: whoever waits is looked at again. */
  onChange(): void {
    this.#asleep?.abort();
    for (const wake of this.#listeners) wake();
  }

  /**
   * Gives the share back at once, so that the others can have it. All who wait are told that there
   * is nothing, and nothing is granted any more. A level that was left for a redeploy is taken up
   * again by who comes next, one that was left for a pause is not.
   */
  async leave(reason: LeaveReason = "redeploy"): Promise<void> {
    requireLeaveReason(reason);
    this.#left ??= this.#leave(reason);
    await this.#left;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
  }

  async #leave(reason: LeaveReason): Promise<void> {
    this.#isClosed = true;
    for (let caller = this.#line.first; caller !== undefined; caller = this.#line.first)
      this.#end(caller, 0);
    this.onChange();
    await this.#entitling.leave(reason);
  }

  #now(): number {
    return this.#ceiling === undefined ? 0 : this.#clock.now();
  }

  #leftAt(nowMs: number): number {
    if (this.#isClosed) return 0;
    return this.#pacing.leftAt(this.#time.at(nowMs), this.#entitling.entitlementAt(nowMs));
  }

  #readyAtMs(count: number, nowMs: number): number | undefined {
    if (this.#isClosed) return undefined;
    const entitlement = this.#entitling.entitlementAt(nowMs);
    const atMs = this.#pacing.readyAtMs(count, this.#time.at(nowMs), entitlement);
    return atMs === undefined ? undefined : this.#time.from(atMs);
  }

  #take(ask: number, nowMs: number): number {
    if (this.#isClosed) return 0;
    const entitlement = this.#entitling.entitlementAt(nowMs);
    const granted = this.#pacing.take(ask, this.#time.at(nowMs), entitlement);
    if (granted > 0) this.#onGranted(granted, nowMs);
    this.#entitling.onAsk?.(ask, granted);
    return granted;
  }

  #onGranted(granted: number, nowMs: number): void {
    this.#tally.granted += granted;
    if (!this.#entitling.isLeasedAt(nowMs)) this.#tally.grantedUnleased += granted;
  }

  #onRefused(refused: number): Reason {
    const { reason } = this;
    this.#tally.refused += refused;
    if (reason === "store-lost") this.#tally.refusedStoreLost += refused;
    return reason;
  }

  /** What is not granted now is not waited for any more. */
  #grant(asked: number, granted: number): Grant {
    const reason = granted < asked ? this.#onRefused(asked - granted) : undefined;
    const { takeBack } = this.#pacing;
    if (takeBack !== this.#pacingTakeBack) {
      this.#pacingTakeBack = takeBack;
      this.#takeBack = (count, kind) => {
        takeBack(count);
        this.#tally[kind === "dropped" ? "refunded" : "deposited"] += count;
        this.onChange();
      };
    }
    return new Grant(granted, reason, this.#takeBack);
  }

  #wait(asked: number, sinceMs: number, { timeoutMs, signal }: AcquireOptions): Promise<Grant> {
    this.#tally.waits++;
    return new Promise((resolve, reject: (reason: unknown) => void) => {
      const over = new AbortController();
      const abort = (): void => {
        if (!this.#line.leave(caller)) return;
        over.abort();
        this.#tally.waitedMs += this.#timer.now() - sinceMs;
        this.#onRefused(asked);
        this.#rest();
        reject(signal?.reason);
      };
      const caller: Caller = {
        asked,
        sinceMs,
        settle: (grant) => {
          signal?.removeEventListener("abort", abort);
          over.abort();
          resolve(grant);
        },
      };
      this.#line.join(caller);
      signal?.addEventListener("abort", abort, { once: true });
      if (timeoutMs !== undefined)
        this.#timer.sleep(timeoutMs, over.signal).then(
          () => this.#end(caller, 0),
          () => {},
        );
      if (this.#line.size > 1) return;
      if (this.#asleep === undefined) void this.#serve();
      else this.#asleep.abort();
    });
  }

  /** Serves those who wait until nobody does. Only one of these runs at a time. */
  async #serve(): Promise<void> {
    while (this.#line.size > 0) {
      const nowMs = this.#timer.now();
      this.#serveNow(nowMs);
      if (this.#line.size === 0) return;
      const readyAtMs = this.#readyAtMs(1, nowMs);
      const sleepMs = Math.min(LOOK_MS, Math.max(0, (readyAtMs ?? Infinity) - nowMs));
      this.#asleep = new AbortController();
      await this.#timer.sleep(sleepMs, this.#asleep.signal).catch(() => {});
      this.#asleep = undefined;
    }
  }

  #serveNow(nowMs: number): void {
    for (let caller = this.#line.first; caller !== undefined; caller = this.#line.first) {
      const granted = this.#take(caller.asked, nowMs);
      if (granted === 0) return;
      this.#end(caller, granted);
    }
  }

  #end(caller: Caller, granted: number): void {
    if (!this.#line.leave(caller)) return;
    this.#tally.waitedMs += this.#timer.now() - caller.sinceMs;
    this.#rest();
    caller.settle(this.#grant(caller.asked, granted));
  }

  /** Nothing sleeps for nobody. */
  #rest(): void {
    if (this.#line.size === 0) this.#asleep?.abort();
  }
}

function requireCount(count: number): void {
  if (Number.isSafeInteger(count) && count >= 0) return;
  throw new InvariantError(`a count of tokens is ${count}; it must be whole, from 0 to 2^53 − 1`);
}

/** Told when no tokens are in sight: a share may come back with any sync. */
const PAUSE_UNKNOWN_MS = 1000;
/** Who waits is looked at this often at least: a ramp may move without anybody being told. */
const LOOK_MS = 1000;
