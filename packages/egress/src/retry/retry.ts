import type { Random, Timer } from "@sluice/core";
import {
  requireKnownKeys,
  requireWhole,
  addAbortListener,
  removeAbortListener,
} from "@sluice/core/internal";
import type { Alarms, Sleeper } from "@sluice/core/internal";
import { deadlineAtOf, requireCallOptions } from "../gate/options/call-options.ts";
import type { CallOptions } from "../gate/options/call-options.ts";
import type { LeftBecause } from "../gate/error/refusal.ts";
import type { DeniedBy } from "../gate/event/event.ts";
import type { RunHooks } from "../gate/call/watched-call.ts";
import { ThrottledError } from "../gate/error/throttled-error.ts";
import type { Verdict } from "../outcome/verdict.ts";
import { backoffMs, requireBackoff } from "./backoff.ts";
import type { BackoffOptions } from "./backoff.ts";
import { RetryBudget } from "./budget.ts";
import type { RetryBudgetOptions } from "./budget.ts";

export interface RetryOptions {
  /** Attempts in all, the first included; 3 unless given. */
  readonly attempts?: number;
  /** What retries may add to the load: 20 % and 10 a second unless given. */
  readonly budget?: RetryBudgetOptions;
  /** Pauses between attempts. Default: those of `BackoffOptions`. */
  readonly backoff?: BackoffOptions;
  /** Every call may be executed twice. Else only what the peer has not begun is retried. Default: false. */
  readonly idempotent?: boolean;
  /** Most calls that wait to be tried again; beyond it a failure is final. Default: `maxWaiting`, at least 100. */
  readonly maxParked?: number;
}

export interface RetrierHost {
  readonly timer: Timer;
  readonly random: Random;
  readonly deadlines: Alarms;
  /** Most calls in the queue of the gate: the parked calls are bounded alike. */
  readonly maxWaiting: number;
  /** A call is not parked for a pause that lasts longer than this, in ms. */
  readonly maxPauseMs: number;
  /** How long no call starts because the peer asked for a pause, in ms. */
  readonly pausedForMs: () => number;
  readonly onRetry: (attempt: number, delayMs: number) => void;
  readonly onDenied: (attempt: number, deniedBy: DeniedBy) => void;
  /** A call was given up while it was parked. */
  readonly onLeft: (leftBecause: LeftBecause) => void;
}

/** One attempt with what is left of the deadline; it tells its verdict before it settles. */
export type Attempt<T> = (
  options: CallOptions,
  hooks: Pick<RunHooks<T>, "onVerdict">,
) => Promise<T>;

/**
 * What is done with a value that another attempt is to replace. It is of no use after that, so if the
 * attempt is then refused, its caller gets the refusal.
 */
export type Discard<T> = (value: T) => void;

const KEYS: ReadonlySet<string> = new Set([
  "attempts",
  "budget",
  "backoff",
  "idempotent",
  "maxParked",
] satisfies (keyof RetryOptions)[]);

const ATTEMPTS_MAX = 100;
const MAX_PARKED = 1_000_000;
/** The least default of `maxParked`: a gate without a queue retries as well. */
const MAX_PARKED_MIN = 100;

/** So that rounding never brings a call back before the pause has ended. */
const AFTER_PAUSE_MS = 0.01;

/**
 * Makes failed calls again, within bounds: attempts, a budget of extra load, and calls parked.
 *
 * Each attempt goes through the gate by itself, with a permit and a measurement of its own; between
 * two of them a call is parked and holds nothing. The deadline is that of the
 * whole call: a retry that could not start before it is not waited for. A peer that is busy itself,
 * while another may serve, is tried again at once, every other failure after a backoff; but none before
 * the end of a pause that a peer asked for. A refusal of the gate's own is never retried, and if it is a
 * retry that is refused, the caller gets what the attempt before it came to.
 */
export class Retrier {
  readonly #host: RetrierHost;
  readonly #budget: RetryBudget;
  readonly #backoff: BackoffOptions;
  readonly #attempts: number = 0;
  readonly #maxParked: number = 0;
  readonly #isIdempotent: boolean = false;
  readonly #parked = new Set<Parked>();
  #isClosed = false;

  constructor(options: RetryOptions, host: RetrierHost) {
    requireKnownKeys("retry", options, KEYS);
    const { attempts = 3, backoff = {}, budget, idempotent = false } = options;
    const { maxParked = Math.min(Math.max(host.maxWaiting, MAX_PARKED_MIN), MAX_PARKED) } = options;
    requireWhole("retry.attempts", attempts, 1, ATTEMPTS_MAX);
    requireWhole("retry.maxParked", maxParked, 0, MAX_PARKED);
    requireBackoff(backoff);
    this.#host = host;
    this.#budget = new RetryBudget(host.timer, budget);
    this.#backoff = backoff;
    this.#attempts = attempts;
    this.#maxParked = maxParked;
    this.#isIdempotent = idempotent;
  }

  /** Calls that wait to be tried again. */
  get parked(): number {
    return this.#parked.size;
  }

  async run<T>(attempt: Attempt<T>, options: CallOptions, discard?: Discard<T>): Promise<T> {
    requireCallOptions(options);
    const { idempotent = this.#isIdempotent } = options;
    const startedAtMs = this.#host.timer.now();
    const deadlineAtMs = deadlineAtOf(options, startedAtMs);
    let before: Settlement<T> | undefined;
    for (let made = 1; ; made++) {
      let verdict: Verdict | undefined;
      const onVerdict = (judged: Verdict): void => {
        verdict = judged;
      };
      const nowMs = made === 1 ? startedAtMs : this.#host.timer.now();
      const left =
        deadlineAtMs === undefined ? {} : { deadlineMs: Math.max(0, deadlineAtMs - nowMs) };
      const settled = await settle(attempt({ ...options, ...left }, { onVerdict }));
      // What was refused here was never sent, and must not pay for the retries of others.
      if (made === 1 && verdict !== undefined) this.#budget.deposit(nowMs);
      if (verdict === undefined)
        return unwrap((isRefused(settled) ? before : undefined) ?? settled);
      if (!this.#mayRetry(verdict, idempotent)) return unwrap(settled);
      const delayMs = this.#delayMs(verdict, made, deadlineAtMs);
      if (typeof delayMs === "string") {
        this.#host.onDenied(made, delayMs);
        return unwrap(settled);
      }
      this.#host.onRetry(made, delayMs);
      before = settled;
      if ("value" in settled && discard !== undefined) {
        discard(settled.value);
        before = undefined;
      }
      if (delayMs > 0) await this.#park(delayMs, options.signal);
    }
  }

  /** Wakes the parked; the gate, closed by then, gives them their answer. */
  close(): void {
    this.#isClosed = true;
    for (const parked of this.#parked) parked.ring();
  }

  #mayRetry({ outcome, retriable }: Verdict, idempotent: boolean): boolean {
    if (outcome === "ok" || this.#isClosed) return false;
    return retriable === "safe" || (retriable === "if-idempotent" && idempotent);
  }

  /** How long to wait for the next attempt, or what keeps it from being made. */
  #delayMs(verdict: Verdict, made: number, deadlineAtMs: number | undefined): number | DeniedBy {
    if (made >= this.#attempts) return "attempts";
    if (this.#host.pausedForMs() > this.#host.maxPauseMs) return "max-pause";
    const delayMs = this.#waitMs(verdict, made);
    const nowMs = this.#host.timer.now();
    if (deadlineAtMs !== undefined && nowMs + delayMs >= deadlineAtMs) return "deadline";
    if (delayMs > 0 && this.#parked.size >= this.#maxParked) return "max-parked";
    return this.#budget.tryWithdraw(nowMs) ? delayMs : "budget";
  }

  #waitMs({ scope }: Verdict, made: number): number {
    // Includes the server's `Retry-After` plus one jitter draw that all waiters share; a call that came
    // earlier would only wait in the queue.
    const pauseMs = this.#host.pausedForMs();
    const pausedMs = pauseMs > 0 ? pauseMs + AFTER_PAUSE_MS : 0;
    if (scope === "busy-here") return pausedMs;
    // A `Retry-After` of 0 allows a retry, but not retries without any backoff.
    return Math.max(pausedMs, backoffMs(made, this.#backoff, this.#host.random));
  }

  #park(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject: (reason: unknown) => void) => {
      // An event that has come already does not come again.
      if (signal?.aborted === true) {
        this.#host.onLeft("aborted");
        reject(signal.reason);
        return;
      }
      const { timer, deadlines } = this.#host;
      const nowMs = timer.now();
      const parked = new Parked(nowMs + delayMs, signal, (error) => {
        this.#parked.delete(parked);
        deadlines.clear(parked);
        if (error === undefined) {
          resolve();
          return;
        }
        this.#host.onLeft("aborted");
        reject(error.reason);
      });
      this.#parked.add(parked);
      deadlines.set(parked, nowMs);
    });
  }
}

/** A call that waits to be tried again, by its time, its caller or the end of the gate. */
class Parked implements Sleeper {
  readonly dueMs: number = 0;
  place: number | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #leave: (givenUp?: AbortSignal) => void;

  constructor(dueMs: number, signal: AbortSignal | undefined, leave: (by?: AbortSignal) => void) {
    this.dueMs = dueMs;
    this.#signal = signal;
    this.#leave = leave;
    if (signal !== undefined) addAbortListener(signal, this);
  }

  ring(): void {
    if (this.#signal !== undefined) removeAbortListener(this.#signal, this);
    this.#leave();
  }

  handleEvent(): void {
    this.#leave(this.#signal);
  }
}

type Settlement<T> = { readonly value: T } | { readonly error: unknown };

function settle<T>(promise: Promise<T>): Promise<Settlement<T>> {
  return promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}

/** Only of an attempt that was not judged: else it is an error that the call itself came to. */
function isRefused<T>(settled: Settlement<T>): boolean {
  return "error" in settled && settled.error instanceof ThrottledError;
}

function unwrap<T>(settled: Settlement<T>): T {
  if ("value" in settled) return settled.value;
  throw settled.error;
}
