import type { Grant } from "@sluice/core";
import { FleetClosedError } from "@sluice/fleet";
import type { FleetLimiter, FleetState } from "@sluice/fleet";
import { slept } from "../run-context.ts";
import type { RunContext } from "../run-context.ts";
import { ThrottleNotice } from "./throttle-notice.ts";
import type { ThrottleChange } from "./throttle-notice.ts";
import type { VertexWaiting } from "../pipeline-state.ts";

/**
 * How long a read waits at least once no token is left, ms. Tokens of 40 ms are saved up, so nothing is lost
 * meanwhile, and a limit of 1000/s is read in batches of ten instead of one by one. Above 30 a late timer
 * would lose tokens.
 */
const GATHER_MS = 10;

/** The rate limit of one vertex: reads take their tokens here. */
export class ReadLimit {
  readonly #context: RunContext;
  readonly #vertex: string;
  readonly #notice = new ThrottleNotice();
  #limiter: FleetLimiter | undefined;
  #waitingSinceMs: number | undefined;
  /** Whether tokens may be missing: the last read got fewer than it could use, or the vertex is throttled. */
  #isShort = true;

  constructor(context: RunContext, vertex: string, limiter: FleetLimiter | undefined) {
    this.#context = context;
    this.#vertex = vertex;
    this.#limiter = limiter;
  }

  /** False: reads need no tokens, and no clock is read for them. */
  get isLimited(): boolean {
    return this.#limiter !== undefined;
  }

  get limiter(): FleetLimiter | undefined {
    return this.#limiter;
  }

  state(): FleetState | undefined {
    return this.#limiter?.state();
  }

  /** Reads take their tokens here from now on; those that wait ask again. Answers the limiter that was used before. */
  replace(limiter: FleetLimiter | undefined): FleetLimiter | undefined {
    const before = this.#limiter;
    this.#limiter = limiter;
    return before;
  }

  /** Why reads wait for tokens at present; undefined if they do not. */
  why(): VertexWaiting | undefined {
    const limiter = this.#limiter;
    const sinceMs = this.#waitingSinceMs;
    if (limiter === undefined || sinceMs === undefined) return undefined;
    const nowMs = this.#context.timer.now();
    const untilMs = nowMs + limiter.pauseMs(1, nowMs);
    return { reason: limiter.reason, detail: detailOf(limiter.state()), sinceMs, untilMs };
  }

  /** Tokens for a read of 1 to `countMax` messages, without a promise. Undefined if none are there. */
  tryAcquire(countMax: number): Grant | undefined {
    const limiter = this.#limiter;
    if (limiter === undefined) return undefined;
    if (this.#isShort) {
      const nowMs = this.#context.timer.now();
      // A refused call would count as one, and a wait follows that counts too.
      if (limiter.tokens(nowMs) === 0) return undefined;
      this.#tell(this.#notice.onRead(nowMs, 0), limiter);
    }
    const grant = limiter.tryAcquireUpTo(countMax);
    this.#isShort = this.#notice.isThrottled || grant === undefined || grant.reason !== undefined;
    return grant;
  }

  /** Waits for more tokens, for a short time and at most `ms`. Answers false if the signal ended the wait. */
  async gather(ms: number, signal: AbortSignal): Promise<boolean> {
    const limiter = this.#limiter;
    const { timer } = this.#context;
    const sinceMs = timer.now();
    this.#waitingSinceMs = sinceMs;
    if (limiter !== undefined) this.#tell(this.#notice.onWait(limiter.reason, sinceMs), limiter);
    try {
      return await slept(timer, Math.max(1, Math.min(ms, GATHER_MS)), signal);
    } finally {
      this.#waitingSinceMs = undefined;
    }
  }

  /**
   * Waits as `gather` does, while the limit is not the cause: `why` does not name it, and no event tells of it. Answers false
   * if the signal ended the wait.
   */
  hold(ms: number, signal: AbortSignal): Promise<boolean> {
    return slept(this.#context.timer, Math.max(1, Math.min(ms, GATHER_MS)), signal);
  }

  /** Waits for tokens for a read of 1 to `countMax` messages. Undefined if the signal ended the wait, or the limit has changed. */
  async acquire(countMax: number, signal: AbortSignal): Promise<Grant | undefined> {
    const limiter = this.#limiter;
    if (limiter === undefined) return undefined;
    const { timer } = this.#context;
    const sinceMs = timer.now();
    this.#waitingSinceMs = sinceMs;
    try {
      this.#tell(this.#notice.onWait(limiter.reason, sinceMs), limiter);
      if (!(await slept(timer, GATHER_MS, signal))) return undefined;
      const grant = await limiter.acquireUpTo(countMax, { signal });
      const nowMs = timer.now();
      this.#tell(this.#notice.onRead(nowMs, nowMs - sinceMs), limiter);
      return grant;
    } catch (error) {
      if (signal.aborted || error instanceof FleetClosedError) return undefined;
      throw error;
    } finally {
      this.#waitingSinceMs = undefined;
    }
  }

  #tell(change: ThrottleChange | undefined, limiter: FleetLimiter): void {
    if (change === undefined) return;
    const { tell, pipeline } = this.#context;
    const of = { pipeline, vertex: this.#vertex };
    if (change.kind === "flowing") tell({ ...of, ...change });
    else tell({ ...of, ...change, detail: detailOf(limiter.state()) });
  }
}

/** The state of a limit in half a sentence. */
function detailOf({ share = 0, ceiling = 0, membership }: FleetState): string {
  if (membership === undefined)
    return share === ceiling
      ? `its limit is ${perSecond(ceiling)}`
      : `its share is ${perSecond(share)} of the ceiling of ${perSecond(ceiling)}`;
  const members = membership.size === 1 ? "1 member" : `${membership.size} members`;
  return `its share is ${perSecond(share)}: the ceiling of ${perSecond(ceiling)} by ${members}`;
}

function perSecond(count: number): string {
  return `${Number(count.toFixed(1))}/s`;
}
