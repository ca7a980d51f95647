import { ConfigError } from "@sluice/core";
import type { Clock, Grant, RampOptions, Reason, Timer } from "@sluice/core";
import {
  requireCount,
  requireDuration,
  requireKnownKeys,
  addAbortListener,
  removeAbortListener,
} from "@sluice/core/internal";
import type { EpochClock } from "../pacing/epoch-clock.ts";
import { exactShare } from "../pacing/pacing.ts";
import type { Pacing } from "../pacing/pacing.ts";
import { UNLIMITED } from "../pacing/unlimited-pacing.ts";
import { readRateLimit } from "../settings/rate-limit.ts";
import type { RateLimitBlock } from "../settings/rate-limit.ts";
import { requireLeaveReason } from "../store/check-request.ts";
import type { LeaveReason } from "../store/pool-store.ts";
import type { Ceiling } from "./ceiling.ts";
import type { FleetCounts, Tally } from "./counts.ts";
import { Grants } from "./grants.ts";
import type { ShareSource, TokenQueue } from "./share-source.ts";
import { stateOf } from "./state.ts";
import type { FleetState } from "./state.ts";
import { FleetClosedError, FleetThrottledError } from "./throttled-error.ts";
import { WaiterQueue } from "./waiter-queue.ts";
import type { Ask } from "./waiter-queue.ts";

export interface AcquireOptions {
  /** The longest wait, ms; 0 does not wait. Default: no bound. */
  readonly timeoutMs?: number;
  /** Ends the wait: the call rejects with the signal's reason. Default: none. */
  readonly signal?: AbortSignal;
}

const ACQUIRE_KEYS: ReadonlySet<string> = new Set([
  "timeoutMs",
  "signal",
] satisfies (keyof AcquireOptions)[]);

/** What `pauseMs` answers while no tokens are in sight, ms: the next sync may bring a share. */
const PAUSE_UNKNOWN_MS = 1000;

export interface FleetLimiterOptions {
  readonly name: { readonly pool: string; readonly member?: string };
  readonly timer: Timer;
  /**
   * Dates calls, if not the timer. A clock that is read once per turn of the event loop makes calls
   * several times cheaper; a turn that is stopped half-way then grants at most the tokens that were there.
   */
  readonly clock?: Clock | undefined;
  readonly epochClock: EpochClock;
  /** Undefined: nothing is limited, and no clock is read. */
  readonly paced?: { readonly ceiling: Ceiling; readonly pacing: Pacing };
  readonly share: ShareSource;
  /** Replaces the limits that the member was started with. Undefined where nothing is limited. */
  readonly setOwn?: ((own: RampOptions, nowMs: number) => void) | undefined;
  readonly maxWaiting: number;
  readonly tally: Tally;
}

/**
 * One process's access to the tokens of its pool; `joinFleet` makes it. Every decision is made in
 * the process, without a call to the store. Waiting calls are served in the order of their arrival,
 * and no later call overtakes them.
 *
 * A limiter is also a `RateSource`: pass it to a gate of `@sluice/egress` as `rate`, or among its `rates`.
 *
 * @example
 * const limiter = await joinFleet({ pool: "mail", store, rateLimit: { max: 100, min: 100 } });
 * await limiter.acquire(); // waits for a token; rejects if it cannot be had
 * await send(message);
 */
export class FleetLimiter {
  readonly #options: FleetLimiterOptions;
  readonly #clock: Clock;
  readonly #pacing: Pacing;
  readonly #grants: Grants;
  readonly #queue: WaiterQueue;
  /** The queues of gates that take their tokens here. */
  readonly #gates = new Set<TokenQueue>();
  /** Calls of `ready` that wait. */
  readonly #unready = new Set<{ resolve(): void; reject(error: Error): void }>();
  #left: Promise<void> | undefined;

  /** @internal */
  constructor(options: FleetLimiterOptions) {
    const { timer, clock = timer, paced, epochClock, share, tally } = options;
    const pacing = paced?.pacing ?? UNLIMITED;
    this.#options = options;
    this.#clock = clock;
    this.#pacing = pacing;
    const wake = (): void => this.#wake();
    this.#grants = new Grants({ pacing, epochClock, share, tally, onDeposit: wake });
    this.#queue = new WaiterQueue(timer, {
      enterEpoch: (nowMs) => void this.#grants.pauseMs(1, nowMs),
      tryGrant: (ask, nowMs) => this.#grants.tryGrant(ask, nowMs),
      readyAtMs: (ask, nowMs) => {
        const pauseMs = this.#grants.pauseMs(this.#grants.needed(ask), nowMs);
        return pauseMs === undefined ? undefined : nowMs + pauseMs;
      },
      onGone: ({ count }, waitedMs, isGranted) => {
        tally.waitedMs += waitedMs;
        if (!isGranted) this.#grants.refuse(count);
      },
    });
    share.subscribe?.({ wake, isWaiting: () => this.#isWaiting() });
  }

  /** What was done so far; always the same object. */
  get counts(): FleetCounts {
    return this.#options.tally;
  }

  /** Calls that wait in this limiter's queue; those of gates wait in the gates. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** What callers are told while tokens are missing. */
  get reason(): Reason {
    return this.#options.share.reason;
  }

  /** The most tokens that can be there at once, for now: a call that wants more waits for this many. */
  get countMax(): number {
    return this.#pacing.countMax;
  }

  /** Tokens a second that this member may use of the ceiling at this instant, not rounded; undefined: no limit. Costs less than `state()`. */
  get share(): number | undefined {
    const { paced, share } = this.#options;
    if (paced === undefined) return undefined;
    const entitlement = this.#grants.isClosed ? undefined : share.entitlementAt(this.#now());
    return exactShare(paced.ceiling.shown, entitlement);
  }

  /** The figures of this instant. Reading it counts as no call and moves no ramp. */
  state(): FleetState {
    return stateOf(this.#options, this.#queue, this.#grants.isClosed);
  }

  /**
   * Waits until this process has had its whole share once: about two seconds in a running pool, about
   * seven in an empty store. Calls need not wait for this; they queue for what there is.
   */
  async ready({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    signal?.throwIfAborted();
    if (this.#grants.isClosed) throw this.#closedError();
    if (this.#options.share.isReady ?? true) return;
    await new Promise<void>((resolve, reject: (reason: unknown) => void) => {
      const settle = (end: () => void): void => {
        this.#unready.delete(waiting);
        if (signal !== undefined) removeAbortListener(signal, waiting);
        end();
      };
      const waiting = {
        resolve: () => settle(resolve),
        reject: (error: Error) => settle(() => reject(error)),
        handleEvent: () => settle(() => reject(signal?.reason)),
      };
      this.#unready.add(waiting);
      if (signal !== undefined) addAbortListener(signal, waiting);
    });
  }

  /**
   * Takes `count` tokens, and waits for them if they are not there. Rejects with a
   * `FleetThrottledError` if the queue is full or `timeoutMs` passes, with a `FleetClosedError` after
   * `leave`, and with the signal's reason.
   *
   * A count above `countMax` is granted as soon as `countMax` tokens are there; the rest is missing
   * from what comes next.
   *
   * @param count Default: 1.
   */
  acquire(count: number = 1, options: AcquireOptions = {}): Promise<Grant> {
    return this.#acquire({ count, isPartial: false }, options);
  }

  /**
   * As `acquire`, but waits only for the first token and takes as many as are there, up to `countMost`:
   * for readers that can make do with a smaller batch. What was not granted is not waited for.
   */
  acquireUpTo(countMost: number, options: AcquireOptions = {}): Promise<Grant> {
    return this.#acquire({ count: countMost, isPartial: true }, options);
  }

  /**
   * Takes `count` tokens if they are there and no call waits; otherwise answers undefined at once, and
   * `pauseMs(count)` tells when to ask again.
   *
   * @param count Default: 1.
   */
  tryAcquire(count: number = 1): Grant | undefined {
    return this.#tryAcquire({ count, isPartial: false });
  }

  /** As `tryAcquire`, but takes as many tokens as are there, from 1 to `countMost`. */
  tryAcquireUpTo(countMost: number): Grant | undefined {
    return this.#tryAcquire({ count: countMost, isPartial: true });
  }

  /**
   * How long until `count` more tokens have come, behind the calls that wait; 0 if they are there,
   * and never 0 after a refusal. An estimate: 1000 while no tokens are in sight.
   *
   * @param count Default: 1.
   */
  pauseMs(count: number = 1, nowMs: number = this.#now()): number {
    requireTokens(count);
    return this.#pauseMs(count, nowMs) ?? PAUSE_UNKNOWN_MS;
  }

  /**
   * For a gate: takes all of `count` or nothing. A gate asks again for a call that waits, so an answer
   * of false counts as nothing; `onRefused` tells how such a call ended.
   */
  tryTake(count: number, nowMs: number): boolean {
    requireTokens(count);
    if (this.#queue.size > 0 || !this.#grants.tryTake(count, nowMs)) return false;
    this.#onRequested(count);
    return true;
  }

  /** Tokens that are there now; 0 in debt. For callers that decide for themselves, and then `charge`. */
  tokens(nowMs: number = this.#now()): number {
    return this.#grants.left(nowMs);
  }

  /**
   * Takes `count` tokens for work that was already accepted, into debt if necessary: as `charge` of a
   * `TokenBucket`. While no more is charged than one call after `tokens` was above 0, the debt is at most
   * that call.
   */
  charge(count: number, nowMs: number = this.#now()): void {
    requireTokens(count);
    this.#onRequested(count);
    this.#grants.charge(count, nowMs);
  }

  /**
   * For a gate: corrects the cost of a call. Takes `count` more tokens, into debt if necessary, or takes
   * `-count` back if `count` is below 0. What came back above `countMax` is gone.
   */
  adjust(count: number, nowMs: number): void {
    if (count >= 0) this.charge(count, nowMs);
    else {
      requireTokens(-count);
      this.#grants.giveBack(-count, nowMs);
    }
  }

  /** For a gate: a call of `count` tokens was refused because they were missing. */
  onRefused(count: number): void {
    requireTokens(count);
    this.#onRequested(count);
    this.#grants.refuse(count);
  }

  /**
   * Sets other limits for a limiter without a store, at once; the ramp keeps its level, within the new
   * bounds. The limits of a pool with a store change for all of its members, with `setPoolLimits`.
   */
  setRateLimit(rateLimit: RateLimitBlock): void {
    const { name } = this.#options;
    if (name.member !== undefined)
      throw new ConfigError(
        `the limits of ${name.pool} cannot be set in one process; call setPoolLimits(store, ${JSON.stringify(name.pool)}, rateLimit)`,
      );
    this.setOwnLimits(rateLimit);
  }

  /**
   * Replaces the limits that this member was started with, such as after a change of its settings file. Limits that
   * `setPoolLimits` has set for the whole pool go before them; after `clearPoolLimits` these hold.
   */
  setOwnLimits(rateLimit: RateLimitBlock): void {
    const { setOwn, name } = this.#options;
    if (setOwn === undefined)
      throw new ConfigError(
        `${name.pool} was joined without a limit, and has none to change; leave, and join with rateLimit: { max: 100 }`,
      );
    setOwn(readRateLimit(rateLimit).ramp, this.#now());
    this.#wake();
  }

  /** For a gate: wakes its queue whenever more may be there than `pauseMs` said. Answers how to stop. */
  subscribe(queue: TokenQueue): () => void {
    this.#gates.add(queue);
    return () => void this.#gates.delete(queue);
  }

  /**
   * Gives the share back at once, for the other members to use. Waiting calls and later ones reject
   * with a `FleetClosedError`. After `redeploy` the next member resumes the ramp's level, after
   * `pause` it does not.
   *
   * @param reason Default: `redeploy`.
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
    this.#grants.close();
    this.#queue.rejectAll(() => this.#closedError());
    for (const waiting of this.#unready) waiting.reject(this.#closedError());
    this.#wake();
    await this.#options.share.leave(reason);
  }

  async #acquire(ask: Ask, options: AcquireOptions): Promise<Grant> {
    const { timeoutMs, signal } = options;
    requireKnownKeys("acquire", options, ACQUIRE_KEYS);
    signal?.throwIfAborted();
    requireTokens(ask.count);
    if (timeoutMs !== undefined) requireDuration("timeoutMs", timeoutMs);
    const nowMs = this.#now();
    const { tally, maxWaiting } = this.#options;
    const grant = this.#tryRequest(ask, nowMs);
    if (grant !== undefined) return grant;
    const onTimeout = (): Error =>
      this.#throttledError(
        `${tokensText(ask.count)} did not come within ${timeoutMs} ms; raise timeoutMs`,
        ask,
      );
    if (!this.#grants.isClosed && timeoutMs !== 0 && this.#queue.size < maxWaiting) {
      tally.waits++;
      return this.#queue.wait(ask, nowMs, { signal, timeoutMs, onTimeout });
    }
    this.#grants.refuse(ask.count);
    if (this.#grants.isClosed) throw this.#closedError();
    if (timeoutMs === 0) throw onTimeout();
    throw this.#throttledError(
      `queue full: ${this.#queue.size} calls wait (maxWaiting); raise maxWaiting`,
      ask,
    );
  }

  #tryAcquire(ask: Ask): Grant | undefined {
    requireTokens(ask.count);
    const grant = this.#tryRequest(ask, this.#now());
    if (grant !== undefined) return grant;
    this.#grants.refuse(ask.count);
    if (ask.isPartial) this.#options.share.demand?.onShort();
    return undefined;
  }

  /** Counts a new call, and grants it unless others wait or its tokens are missing. */
  #tryRequest(ask: Ask, nowMs: number): Grant | undefined {
    // A partial ask is an upper bound: its demand is what it gets, and that there was less.
    if (ask.isPartial) this.#options.tally.requested += ask.count;
    else this.#onRequested(ask.count);
    return this.#queue.size > 0 ? undefined : this.#grants.tryGrant(ask, nowMs);
  }

  #onRequested(count: number): void {
    this.#options.tally.requested += count;
    this.#options.share.demand?.onRequested(count);
  }

  #throttledError(message: string, ask: Ask): FleetThrottledError {
    const { name, share } = this.#options;
    const retryAfterMs = this.#pauseMs(this.#grants.needed(ask), this.#now());
    return new FleetThrottledError(message, {
      pool: name.pool,
      reason: share.reason,
      retryAfterMs,
    });
  }

  #closedError(): FleetClosedError {
    return new FleetClosedError(this.#options.name.pool);
  }

  #pauseMs(count: number, nowMs: number): number | undefined {
    return this.#grants.pauseMs(this.#queue.tokens + count, nowMs);
  }

  /** The entitlement has changed, or tokens came back. */
  #wake(): void {
    if (this.#options.share.isReady ?? true) for (const waiting of this.#unready) waiting.resolve();
    this.#queue.wake();
    for (const gate of this.#gates) gate.wake();
  }

  #isWaiting(): boolean {
    if (this.#queue.size > 0) return true;
    for (const gate of this.#gates) if (gate.isWaiting()) return true;
    return false;
  }

  #now(): number {
    return this.#options.paced === undefined ? 0 : this.#clock.now();
  }
}

function tokensText(count: number): string {
  return count === 1 ? "1 token" : `${count} tokens`;
}

function requireTokens(count: number): void {
  requireCount("count of a FleetLimiter", count, 0, Number.MAX_SAFE_INTEGER);
}
