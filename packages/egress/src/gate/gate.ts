import type { BusyThrottle, Clock, Permit, Reason, Timer } from "@sluice/core";
import type { Verdict } from "../outcome/verdict.ts";
import { Retrier } from "../retry/retry.ts";
import { NO_OPTIONS, readCall } from "./call-options.ts";
import type { Call, CallOptions } from "./call-options.ts";
import { IGNORED, verdictOfError, verdictOfValue } from "./default-verdict.ts";
import { Entrance } from "./entrance.ts";
import type { Hold } from "./entrance.ts";
import type { Arrival } from "./place.ts";
import type { RefusedAt } from "./event.ts";
import { GatePermit } from "./gate-permit.ts";
import { News } from "./news.ts";
import { Run, signalFor } from "./run.ts";
import type { RunHooks, RunHost, Work } from "./run.ts";
import { readGateOptions } from "./options.ts";
import type { Classify, GateOptions, Settled } from "./options.ts";
import { ClosedError } from "./throttled-error.ts";
import type { Refusal, ThrottledError } from "./throttled-error.ts";

/** A permit, or why there is none. */
export type Admission =
  | { readonly permit: GatePermit; readonly refused?: undefined }
  | {
      readonly permit?: undefined;
      readonly refused: Reason;
      readonly retryAfterMs: number | undefined;
    };

/** The value of a call, or why it was not made. */
export type RunResult<T> =
  | { readonly value: T; readonly refused?: undefined }
  | { readonly refused: Reason; readonly retryAfterMs: number | undefined };

/** Why calls wait. */
export interface WhyWaiting extends Hold {
  /** How long the first in line has waited; undefined if nobody does. */
  readonly waitedMs: number | undefined;
}

const PLAIN_CALL: Call = {
  weight: 1,
  priority: 0,
  deadlineAtMs: undefined,
  signal: undefined,
  wait: true,
};
const NO_HOOKS: RunHooks<never> = {};

/** Builds a gate for the calls to one peer. */
export function createGate(options: GateOptions = {}): Gate {
  return new Gate(options);
}

/**
 * One gate for the calls to one peer: a rate, then a busy throttle, then a concurrency limit, with
 * one line before all of them. What the peer says of a pause holds for everybody.
 *
 * A caller is answered by its deadline at the latest, whatever the peer does: while it waits with
 * a `ThrottledError`, while it runs with a `DeadlineError`. A function that goes on after that keeps
 * its permit until it settles; so functions that never settle, and heed no signal, can hold all
 * permits of a limit, but no more, and from then on everybody else is refused by their deadline.
 */
export class Gate {
  readonly name: string;
  readonly #timer: Timer;
  readonly #wallClock: Clock;
  readonly #entrance: Entrance;
  readonly #busy: BusyThrottle | undefined;
  readonly #classify: Classify | undefined;
  /** Undefined if nobody listens: then nothing is made for it. */
  readonly #news: News | undefined;
  readonly #isLimited: boolean = true;
  readonly #isShadow: boolean = false;
  readonly #hasLine: boolean = true;
  readonly #host: RunHost;
  readonly #retrier: Retrier | undefined;
  readonly #unsubscribe: (() => void) | undefined;
  #abandoned = 0;
  #isClosed = false;
  #usedAtMs = 0;

  constructor(options: GateOptions = {}) {
    const parts = readGateOptions(options);
    const { name, timer, random, rate, busy, observers } = parts;
    this.name = name;
    this.#timer = timer;
    this.#wallClock = parts.wallClock;
    this.#busy = busy;
    this.#classify = options.classify;
    if (observers.length > 0) this.#news = new News(this, timer, parts);
    this.#isLimited = parts.isLimited;
    this.#isShadow = parts.isShadow;
    this.#hasLine = parts.maxWaiting > 0;
    this.#usedAtMs = timer.now();
    this.#entrance = new Entrance(timer, random, {
      algorithm: parts.algorithm,
      rate,
      busy,
      maxWaiting: parts.maxWaiting,
      onDecision: (decision) => this.#news?.decided(decision),
    });
    this.#host = {
      name,
      alarms: this.#entrance.alarms,
      judge: (settled) => this.#judge(settled),
      measure: (permit, verdict) => this.#measure(permit, verdict),
      end: (permit, verdict) => this.#end(permit, verdict),
      loosen: (permit, afterMs) => {
        const nowMs = this.#timer.now();
        permit.dueMs = nowMs + afterMs;
        this.#entrance.loosen(permit, nowMs);
      },
      tighten: (permit) => this.#entrance.tighten(permit),
      onAbandoned: (change) => {
        this.#abandoned += change;
      },
    };
    if (options.retry !== undefined) {
      this.#retrier = new Retrier(options.retry, {
        timer,
        random,
        alarms: this.#entrance.alarms,
        pausedForMs: () => this.pausedForMs,
        onRetry: (attempt, delayMs) => this.#news?.retried(attempt, delayMs),
        onDenied: (attempt, deniedBy) => this.#news?.retryDenied(attempt, deniedBy),
        onLeft: (leftBecause) => this.#news?.left(leftBecause),
      });
    }
    this.#unsubscribe = rate?.subscribe?.({
      wake: () => this.#entrance.handOver(this.#timer.now()),
      isWaiting: () => this.#entrance.isWaitingForRate(this.#timer.now()),
    });
  }

  /** Calls that may be in flight at once; undefined if their number is not limited. */
  get limit(): number | undefined {
    return this.#isLimited ? this.#entrance.limit : undefined;
  }

  /** Permits that are out, by weight. */
  get inFlight(): number {
    return this.#entrance.inFlight;
  }

  /** Calls in line. */
  get waiting(): number {
    return this.#entrance.waiting;
  }

  /** Calls in flight whose callers have left, by deadline or by signal. */
  get abandoned(): number {
    return this.#abandoned;
  }

  /** Calls that wait to be tried again. */
  get parked(): number {
    return this.#retrier?.parked ?? 0;
  }

  /** The retries of this gate, for what is built on it. */
  get retrier(): Retrier | undefined {
    return this.#retrier;
  }

  /** How long nothing starts because the peer said so; 0 if it did not. */
  get pausedForMs(): number {
    return this.#entrance.pausedForMs(this.#timer.now());
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** What holds the first in line, or whoever came now; undefined if nothing does. */
  why(): WhyWaiting | undefined {
    const nowMs = this.#timer.now();
    const hold = this.#entrance.holdNow(nowMs);
    return hold && { ...hold, waitedMs: this.#entrance.waitedMs(nowMs) };
  }

  /**
   * Calls `work` when it may, and settles as it does. Rejects with a `ThrottledError` if it is
   * refused or its deadline passes in line, with a `DeadlineError` if that passes while it runs, with
   * the signal's reason if its caller gives up, and with a `ClosedError` after `close`.
   */
  run<T>(work: Work<T>, options: CallOptions = NO_OPTIONS): Promise<T> {
    if (this.#retrier === undefined) return this.runHooked(work, options, NO_HOOKS);
    return this.#retrier.run((attempt, hooks) => this.runHooked(work, attempt, hooks), options);
  }

  /** As `run`, but being refused is a result. Everything else rejects as it does there. */
  tryRun<T>(work: Work<T>, options: CallOptions = NO_OPTIONS): Promise<RunResult<T>> {
    let refusal: ThrottledError | undefined;
    const onRefused = (refused: ThrottledError): void => {
      refusal = refused;
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
        return { refused: refusal.reason, retryAfterMs: refusal.retryAfterMs };
      },
    );
  }

  /** One attempt, for what is built on a gate; `run` for everybody else. */
  runHooked<T>(work: Work<T>, options: CallOptions, hooks: RunHooks<T>): Promise<T> {
    const nowMs = this.#timer.now();
    let call = PLAIN_CALL;
    try {
      if (options !== NO_OPTIONS) call = readCall(options, nowMs);
      this.#requireOpen(call);
    } catch (error) {
      return Promise.reject(error);
    }
    // Else nobody is there for the answer, as after a retry that woke too late.
    const hasTime =
      this.#isShadow || !(call.deadlineAtMs !== undefined && call.deadlineAtMs <= nowMs);
    const permit = hasTime ? this.#enter(call, nowMs) : undefined;
    if (permit !== undefined && call.deadlineAtMs === undefined && call.signal === undefined)
      return this.#begin(permit, work, hooks);
    return new Promise((resolve, reject) => {
      const run = new Run(this.#host, { work, call, hooks }, { resolve, reject });
      if (permit !== undefined) run.onPermit(permit);
      else if (hasTime) this.#waitFor(call, nowMs, run);
      else run.onRefused(this.#refuse(call, nowMs, "deadline"));
    });
  }

  /**
   * A permit for work that does not fit a function; its holder must end it. The deadline covers the
   * wait only. Rejects when the caller gives up or the gate is closed.
   */
  acquire(options: CallOptions = NO_OPTIONS): Promise<Admission> {
    return new Promise((resolve, reject) => {
      const nowMs = this.#timer.now();
      const call = readCall(options, nowMs);
      this.#requireOpen(call);
      const permit = this.#enter(call, nowMs);
      if (permit !== undefined) {
        resolve({ permit: new GatePermit(this.#host, permit) });
        return;
      }
      this.#waitFor(call, nowMs, {
        onPermit: (late) => resolve({ permit: new GatePermit(this.#host, late) }),
        onRefused: ({ reason, retryAfterMs }) => resolve({ refused: reason, retryAfterMs }),
        onGivenUp: reject,
      });
    });
  }

  /** As `acquire` with `wait: false`, and at once. */
  tryAcquire(options: CallOptions = NO_OPTIONS): Admission {
    const nowMs = this.#timer.now();
    const call = { ...readCall(options, nowMs), wait: false };
    this.#requireOpen(call);
    const permit = this.#enter(call, nowMs);
    if (permit !== undefined) return { permit: new GatePermit(this.#host, permit) };
    const { reason, retryAfterMs } = this.#refuse(call, nowMs, "door");
    return { refused: reason, retryAfterMs };
  }

  /** Lets nothing start for `pauseMs`, or up to a tenth longer: for words that only you can read. */
  pause(pauseMs: number): void {
    this.#pause(pauseMs, this.#timer.now());
  }

  /** Ends a pause before its time. */
  resume(): void {
    const nowMs = this.#timer.now();
    if (this.#entrance.endPause(nowMs)) this.#news?.resumed(nowMs);
    this.#entrance.handOver(nowMs);
  }

  /**
   * Nothing starts any more: who waits is answered with a `ClosedError`, and so is who comes. What
   * runs goes on, and its deadlines with it; nothing else is left behind.
   */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#unsubscribe?.();
    this.#retrier?.close();
    this.#entrance.close(new ClosedError(this.name));
  }

  /** How long nothing has been asked of it, if forgetting it changes nothing; else undefined. */
  idleMs(nowMs: number = this.#timer.now()): number | undefined {
    if (this.parked > 0 || !this.#entrance.isIdle(nowMs)) return undefined;
    return nowMs - this.#usedAtMs;
  }

  #requireOpen({ signal }: Call): void {
    if (this.#isClosed) throw new ClosedError(this.name);
    signal?.throwIfAborted();
  }

  #enter(call: Call, nowMs: number): Permit | undefined {
    this.#usedAtMs = nowMs;
    const permit = this.#entrance.tryEnter(call, nowMs);
    if (permit !== undefined) {
      this.#news?.admitted(permit, 0);
      return permit;
    }
    if (!this.#isShadow) return undefined;
    this.#tellShadow(call, nowMs);
    const forced = this.#entrance.forceEnter(call, nowMs);
    this.#news?.admitted(forced, 0);
    return forced;
  }

  /**
   * Tells what would have become of a call. How long the line would have been is not known, since
   * everybody has gone ahead: only one with no places at all is found full.
   */
  #tellShadow(call: Call, nowMs: number): void {
    const news = this.#news;
    if (news === undefined) return;
    const hold = this.#entrance.holdOf(call, nowMs);
    if (!call.wait) this.#refuse(call, nowMs, "door");
    else if (isInVain(call, hold, nowMs)) this.#refuse(call, nowMs, "in-vain");
    else if (!this.#hasLine) this.#refuse(call, nowMs, "full");
    else news.held(hold.reason, nowMs);
  }

  #waitFor(call: Call, nowMs: number, arrival: Arrival): void {
    if (!call.wait) {
      arrival.onRefused(this.#refuse(call, nowMs, "door"), "door");
      return;
    }
    const news = this.#news;
    if (call.deadlineAtMs === undefined && news === undefined) {
      this.#entrance.wait(call, nowMs, arrival);
      return;
    }
    const hold = this.#entrance.holdOf(call, nowMs);
    if (isInVain(call, hold, nowMs)) {
      arrival.onRefused(this.#refuse(call, nowMs, "in-vain"), "in-vain");
      return;
    }
    const hasPlace = this.#entrance.wait(call, nowMs, news?.about(arrival) ?? arrival);
    if (hasPlace) news?.held(hold.reason, nowMs);
  }

  #refuse(call: Call, nowMs: number, refusedAt: RefusedAt): Refusal {
    // A shadow gate lets the call start all the same.
    const refusal = this.#isShadow
      ? this.#entrance.refusalOf(call, nowMs)
      : this.#entrance.refusalFor(call, nowMs);
    this.#news?.refused(refusal, refusedAt);
    return refusal;
  }

  /** The short way, for most calls: nothing to watch over, so nothing is made for it. */
  #begin<T>(permit: Permit, work: Work<T>, hooks: RunHooks<T>): Promise<T> {
    let result: T | PromiseLike<T>;
    try {
      result = work(signalFor(work));
    } catch (error) {
      return Promise.reject(this.#onError(permit, error, hooks));
    }
    return Promise.resolve(result).then(
      (value) => {
        this.#onValue(permit, value, hooks);
        return value;
      },
      (error: unknown) => {
        throw this.#onError(permit, error, hooks);
      },
    );
  }

  #onValue<T>(permit: Permit, value: T, hooks: RunHooks<T>): void {
    let verdict = IGNORED;
    try {
      verdict = this.#judgeValue(value);
      hooks.onVerdict?.(verdict);
      if (hooks.keep !== undefined) {
        const kept = new GatePermit(this.#host, permit);
        if (hooks.keep(value, kept)) {
          kept.measure(verdict);
          return;
        }
      }
    } catch (mistake) {
      this.#end(permit, IGNORED);
      throw mistake;
    }
    this.#end(permit, verdict);
  }

  /** Answers what the caller is to be told: the error, or the one that judging it threw. */
  #onError<T>(permit: Permit, error: unknown, hooks: RunHooks<T>): unknown {
    try {
      const verdict = this.#judge({ error });
      hooks.onVerdict?.(verdict);
      this.#end(permit, verdict);
      return error;
    } catch (mistake) {
      this.#end(permit, IGNORED);
      return mistake;
    }
  }

  #judge(settled: Settled): Verdict {
    if ("value" in settled) return this.#judgeValue(settled.value);
    return this.#classify?.(settled) ?? verdictOfError(settled.error, this.#wallClock);
  }

  #judgeValue(value: unknown): Verdict {
    return this.#classify?.({ value }) ?? verdictOfValue(value, this.#wallClock);
  }

  #measure(permit: Permit, verdict: Verdict): void {
    const nowMs = this.#timer.now();
    this.#note(permit, verdict, nowMs);
    this.#news?.measured(permit, verdict, nowMs);
    permit.measure(verdict.outcome, nowMs);
    this.#entrance.onPermitBack(nowMs);
  }

  #end(permit: Permit, verdict: Verdict): void {
    const nowMs = this.#timer.now();
    if (permit.isMeasured) this.#news?.returned(permit, nowMs);
    else {
      this.#note(permit, verdict, nowMs);
      this.#news?.ended(permit, verdict, nowMs);
    }
    permit.end(verdict.outcome, nowMs);
    this.#entrance.onPermitBack(nowMs);
  }

  /** Before the permit is handed on: what the answer asks for holds for the next one already. */
  #note(permit: Permit, verdict: Verdict, nowMs: number): void {
    if (verdict.pauseMs !== undefined) {
      const isNew = this.#pause(verdict.pauseMs, nowMs);
      if (isNew && verdict.outcome === "busy") this.#entrance.onTold(nowMs, permit.startedAtMs);
    }
    if (verdict.outcome === "ok") this.#entrance.onServed(nowMs, nowMs - permit.startedAtMs);
    if (this.#busy === undefined || verdict.outcome === "ignored") return;
    this.#busy.onAnswer(permit.startedAtMs, verdict.outcome === "busy", nowMs);
    this.#news?.busyLimit(this.#busy, nowMs);
  }

  /** Answers whether the pause is on because of this, and not because of an earlier one. */
  #pause(pauseMs: number, nowMs: number): boolean {
    if (!(pauseMs > 0) || !this.#entrance.pause(pauseMs, nowMs)) return false;
    this.#news?.paused(this.#entrance.pausedForMs(nowMs), nowMs);
    return true;
  }
}

function isInVain({ deadlineAtMs }: Call, { leftMs }: Hold, nowMs: number): boolean {
  return deadlineAtMs !== undefined && leftMs !== undefined && nowMs + leftMs > deadlineAtMs;
}
