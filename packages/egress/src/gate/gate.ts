import { ConfigError } from "@sluice/core";
import type { Timer } from "@sluice/core";
import { requireDuration } from "@sluice/core/internal";
import { Retrier } from "../retry/retry.ts";
import { Attempts } from "./call/attempts.ts";
import { NO_OPTIONS, plainCall, readCall } from "./options/call-options.ts";
import type { Call, CallDefaults, CallOptions } from "./options/call-options.ts";
import type { RunHooks } from "./call/watched-call.ts";
import { requireWork } from "./call/work.ts";
import type { Work } from "./call/work.ts";
import { ClosedError } from "./error/throttled-error.ts";
import type { ThrottledError } from "./error/throttled-error.ts";
import { GateEvents } from "./event/gate-events.ts";
import { readGateOptions } from "./options/gate-options.ts";
import type { GateOptions } from "./options/gate-options.ts";
import { AdmissionQueue } from "./queue/admission-queue.ts";
import type { Hold } from "./queue/holds.ts";
import { GateAdmission } from "./queue/gate-admission.ts";
import { refusedResult } from "./result.ts";
import type { Admission, RunResult } from "./result.ts";

/** Why calls wait. */
export interface WhyWaiting extends Hold {
  /** How long the first waiter has waited; undefined if there is none. */
  readonly waitedMs: number | undefined;
}

const NO_HOOKS: RunHooks<never> = {};

/** Builds a gate for the calls to one peer. */
export function createGate(options: GateOptions = {}): Gate {
  return new Gate(options);
}

/**
 * One gate for the calls to one peer: a queue before a pause, rates, a busy throttle and a concurrency
 * limit. A pause that the peer asks for holds all callers.
 *
 * A caller is answered by its deadline at the latest, whatever the peer does: while the call waits with
 * a `ThrottledError`, while it runs with a `DeadlineError`. A function that goes on after that keeps
 * its permit until it settles; so functions that never settle, and heed no signal, can hold all
 * permits of a limit, but no more, and from then on all other callers are refused by their deadlines.
 */
export class Gate {
  readonly name: string;
  readonly #timer: Timer;
  readonly #queue: AdmissionQueue;
  readonly #admission: GateAdmission;
  readonly #attempts: Attempts;
  readonly #retrier: Retrier | undefined;
  /** Undefined if there are no observers: then no event is made. */
  readonly #events: GateEvents | undefined;
  readonly #defaults: CallDefaults;
  readonly #plainCall: Call;
  readonly #isLimited: boolean = true;
  readonly #unsubscribe: (() => void) | undefined;
  #isClosed = false;
  #usedAtMs = 0;

  constructor(options: GateOptions = {}) {
    const parts = readGateOptions(options);
    const { name, timer, random, rates, observers, retry } = parts;
    this.name = name;
    this.#timer = timer;
    this.#defaults = parts;
    this.#plainCall = plainCall(parts);
    this.#isLimited = parts.isLimited;
    this.#usedAtMs = timer.now();
    const events = observers.length > 0 ? new GateEvents(this, timer, parts) : undefined;
    const onDecision = events === undefined ? ignore : events.decided.bind(events);
    const queue = new AdmissionQueue(timer, random, { ...parts, onDecision });
    const admission = new GateAdmission({ ...parts, queue, events });
    this.#events = events;
    this.#queue = queue;
    this.#admission = admission;
    this.#attempts = new Attempts({ ...parts, queue, admission, events });
    if (retry !== undefined) {
      this.#retrier = new Retrier(retry, {
        timer,
        random,
        deadlines: queue.deadlines,
        maxWaiting: parts.maxWaiting,
        maxPauseMs: parts.maxPauseMs,
        pausedForMs: () => this.pausedForMs,
        onRetry: (attempt, delayMs) => events?.retried(attempt, delayMs),
        onDenied: (attempt, deniedBy) => events?.retryDenied(attempt, deniedBy),
        onLeft: (leftBecause) => events?.left(leftBecause),
      });
    }
    this.#unsubscribe = rates?.subscribe(
      () => queue.handOver(timer.now()),
      (rate) => queue.holds.isFirstWaitingFor(rate, timer.now()),
    );
  }

  /** Calls that may be in flight at once; undefined if their number is not limited. */
  get limit(): number | undefined {
    return this.#isLimited ? this.#queue.limit : undefined;
  }

  /** Permits that are out, by weight. */
  get inFlight(): number {
    return this.#queue.inFlight;
  }

  /** Calls in the queue. */
  get waiting(): number {
    return this.#queue.waiting;
  }

  /** Calls in flight whose callers have left, by deadline, timeout or signal. */
  get abandoned(): number {
    return this.#attempts.abandoned;
  }

  /** Calls that wait to be tried again. */
  get parked(): number {
    return this.#retrier?.parked ?? 0;
  }

  /** The retries of this gate, for what is built on it. */
  get retrier(): Retrier | undefined {
    return this.#retrier;
  }

  /** How long no call starts because the peer asked for a pause, in ms; 0 if it did not. */
  get pausedForMs(): number {
    return this.#queue.pausedForMs(this.#timer.now());
  }

  /** Calls a second that are sent to a peer that answers busy; undefined while it does not limit them. */
  get busyLimit(): number | undefined {
    return this.#queue.busyLimit(this.#timer.now());
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** What holds the first waiter, or a call that came now; undefined if nothing does. */
  why(): WhyWaiting | undefined {
    const nowMs = this.#timer.now();
    const hold = this.#queue.why(this.#plainCall, nowMs);
    return hold && { ...hold, waitedMs: this.#queue.waitedMs(nowMs) };
  }

  /**
   * Calls `work` when the gate admits it, and settles as it does. Rejects with a `ThrottledError` if the
   * call is refused or its deadline passes in the queue, with a `DeadlineError` if that passes while it
   * runs, with the signal's reason if its caller gives up, and with a `ClosedError` after `close`.
   */
  run<T>(work: Work<T>, options: CallOptions = NO_OPTIONS): Promise<T> {
    if (this.#retrier === undefined) return this.runHooked(work, options, NO_HOOKS);
    return this.#retrier.run((attempt, hooks) => this.runHooked(work, attempt, hooks), options);
  }

  /** As `run`, but being refused is a result. Everything else rejects as it does there. */
  tryRun<T>(work: Work<T>, options: CallOptions = NO_OPTIONS): Promise<RunResult<T>> {
    let refusal: ThrottledError | undefined;
    const onRefused = (error: ThrottledError): void => {
      refusal = error;
    };
    const run: Promise<T> =
      this.#retrier === undefined
        ? this.runHooked(work, options, { onRefused })
        : this.#retrier.run(
            (attempt, hooks) => this.runHooked(work, attempt, { ...hooks, onRefused }),
            options,
          );
    return run.then(
      (value) => ({ value }),
      (error: unknown) => {
        // A refused retry gives back what there was before it.
        if (refusal === undefined || error !== refusal) throw error;
        return refusedResult(refusal);
      },
    );
  }

  /**
   * The same function behind the gate: each call of it is a `run`. The call options may depend on the
   * arguments. A method is called on the object that it is called on after wrapping.
   *
   * @example
   * const complete = gate.wrap(askModel, (prompt) => ({ cost: { tokens: prompt.length } }));
   */
  wrap<This, A extends readonly unknown[], T>(
    work: (this: This, ...args: A) => T | PromiseLike<T>,
    options: CallOptions | ((...args: A) => CallOptions) = NO_OPTIONS,
  ): (this: This, ...args: A) => Promise<T> {
    if (typeof work !== "function")
      throw new ConfigError(`wrap was given ${String(work)}; give it the function to call`);
    const run = this.run.bind(this);
    return async function wrapped(this: This, ...args: A) {
      const callOptions = typeof options === "function" ? options(...args) : options;
      return run(() => work.call(this, ...args), callOptions);
    };
  }

  /** One attempt, for what is built on a gate; `run` for all other callers. */
  runHooked<T>(work: Work<T>, options: CallOptions, hooks: RunHooks<T>): Promise<T> {
    const nowMs = this.#timer.now();
    let call: Call;
    try {
      requireWork(work);
      call = this.#read(options, nowMs);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#attempts.run({ work, call, hooks }, nowMs);
  }

  /**
   * A permit for work that does not fit a function; its holder must end it. The deadline covers the
   * wait only. Rejects when the caller gives up or the gate is closed.
   */
  acquire(options: CallOptions = NO_OPTIONS): Promise<Admission> {
    return new Promise((resolve, reject) => {
      const nowMs = this.#timer.now();
      const call = this.#read(options, nowMs);
      const permit = this.#admission.enter(call, nowMs);
      if (permit !== undefined) {
        resolve({ permit: this.#attempts.gatePermit(permit, call) });
        return;
      }
      this.#admission.waitFor(call, nowMs, {
        onPermit: (late) => resolve({ permit: this.#attempts.gatePermit(late, call) }),
        onRefused: (refusal) => resolve(refusedResult(refusal)),
        onGivenUp: reject,
      });
    });
  }

  /** As `acquire` with `wait: false`, and at once. */
  tryAcquire(options: CallOptions = NO_OPTIONS): Admission {
    const nowMs = this.#timer.now();
    const call = { ...this.#read(options, nowMs), wait: false };
    const permit = this.#admission.enter(call, nowMs);
    if (permit !== undefined) return { permit: this.#attempts.gatePermit(permit, call) };
    return refusedResult(this.#admission.refuse(call, nowMs, "door"));
  }

  /**
   * No call starts for `pauseMs`, or up to a tenth longer: for hints that only you can read. With `rate`
   * only calls that cost something at that rate are paused.
   */
  pause(pauseMs: number, { rate }: { readonly rate?: string } = {}): void {
    requireDuration("pauseMs", pauseMs);
    this.#attempts.pause(pauseMs, this.#timer.now(), this.#requireRate(rate));
  }

  /** Ends all pauses before their time, or that of one rate. */
  resume({ rate }: { readonly rate?: string } = {}): void {
    const nowMs = this.#timer.now();
    if (this.#queue.endPause(nowMs, this.#requireRate(rate))) this.#events?.resumed(nowMs);
    this.#queue.handOver(nowMs);
  }

  /**
   * No call starts any more: calls that wait, and calls that come, are answered with a `ClosedError`.
   * Running calls go on, and their deadlines with them; nothing else is left behind.
   */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#unsubscribe?.();
    this.#retrier?.close();
    this.#queue.close(new ClosedError(this.name));
  }

  /** Closes the gate, and waits until all permits are back. */
  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return this.#attempts.drained();
  }

  /** How long no call has come, if forgetting the gate changes nothing; else undefined. */
  idleMs(nowMs: number = this.#timer.now()): number | undefined {
    if (this.parked > 0 || !this.#queue.isIdle(nowMs)) return undefined;
    return nowMs - this.#usedAtMs;
  }

  /** Reads a call that comes now, unless the gate is closed or its caller has given it up. */
  #read(options: CallOptions, nowMs: number): Call {
    const call =
      options === NO_OPTIONS ? this.#plainCall : readCall(options, nowMs, this.#defaults);
    if (this.#isClosed) throw new ClosedError(this.name);
    call.signal?.throwIfAborted();
    this.#usedAtMs = nowMs;
    return call;
  }

  #requireRate(rate: string | undefined): string | undefined {
    const names = this.#defaults.rates?.names ?? [];
    if (rate === undefined || names.includes(rate)) return rate;
    const known = names.length === 0 ? "none: set rates" : names.join(", ");
    throw new ConfigError(`rate is "${rate}"; the gate has ${known}`);
  }
}

function ignore(): void {
  // There are no observers to tell.
}
