import type { Permit } from "@sluice/core";
import { addAbortListener, removeAbortListener } from "@sluice/core/internal";
import type { Verdict } from "../outcome/verdict.ts";
import type { Alarms, Sleeper } from "@sluice/core/internal";
import type { Call } from "./call-options.ts";
import { IGNORED, LATE } from "./default-verdict.ts";
import type { Arrival } from "./place.ts";
import { GatePermit } from "./gate-permit.ts";
import type { GatePermitIssuer } from "./gate-permit.ts";
import type { Settled } from "./options.ts";
import { DeadlineError, ThrottledError } from "./throttled-error.ts";
import type { Refusal } from "./throttled-error.ts";

/**
 * What is called through a gate. With a deadline or a signal it gets one that is aborted when its
 * caller no longer waits. Without, one that never is, and unless it declares a parameter for it, one
 * that all such functions share.
 */
export type Work<T> = (signal: AbortSignal) => T | PromiseLike<T>;

/** For what is built on a gate: how to follow a call more closely than its promise tells. */
export interface RunHooks<T> {
  /** The call is refused: its promise rejects with this. */
  onRefused?(error: ThrottledError): void;
  /** What the attempt was judged to be, before its promise settles. */
  onVerdict?(verdict: Verdict): void;
  /**
   * The value is there. True: the permit stays out, and whoever said so ends it. The deadline and
   * the signal of the call go on until then.
   */
  keep?(value: T, permit: GatePermit): boolean;
}

/** What is to be called, for whom, and who follows it. */
export interface Order<T> {
  readonly work: Work<T>;
  readonly call: Call;
  readonly hooks: RunHooks<T>;
}

/** What a run needs of its gate. */
export interface RunHost extends GatePermitIssuer {
  readonly name: string;
  readonly alarms: Alarms;
  judge(settled: Settled): Verdict;
  /** Callers have left runs that go on: one more (1) or one less (-1). */
  onAbandoned(change: 1 | -1): void;
}

/** `kept`: the caller has its value, and something of it is still under way. */
type Phase = "running" | "kept" | "abandoned" | "over";

/**
 * A call that has to wait, or has a deadline or a signal: its caller is answered in time whatever
 * the function does. The permit of a function that goes on after that stays out until it settles,
 * because the peer may be at work on it all the same.
 */
export class Run<T> implements Arrival, Sleeper {
  readonly #host: RunHost;
  readonly #order: Order<T>;
  #answer: Answer<T> | undefined;
  #permit: Permit | undefined;
  #controller: AbortController | undefined;
  #kept: GatePermit | undefined;
  #phase: Phase = "running";
  place: number | undefined;

  constructor(host: RunHost, order: Order<T>, answer: Answer<T>) {
    this.#host = host;
    this.#order = order;
    this.#answer = answer;
  }

  get dueMs(): number {
    return this.#order.call.deadlineAtMs ?? 0;
  }

  onPermit(permit: Permit): void {
    this.#permit = permit;
    const { work, call } = this.#order;
    if (call.deadlineAtMs !== undefined) this.#host.alarms.set(this, permit.startedAtMs);
    if (call.signal !== undefined) addAbortListener(call.signal, this);
    try {
      Promise.resolve(work(this.#signal())).then(
        (value) => this.#onValue(permit, value),
        (error: unknown) => this.#onError(permit, error),
      );
    } catch (error) {
      this.#onError(permit, error);
    }
  }

  onRefused(refusal: Refusal): void {
    const error = new ThrottledError(this.#host.name, refusal);
    this.#order.hooks.onRefused?.(error);
    this.#answered()?.reject(error);
  }

  onGivenUp(why: unknown): void {
    this.#answered()?.reject(why);
  }

  /** The deadline has passed. */
  ring(): void {
    this.#leave(LATE, new DeadlineError(this.#host.name));
  }

  /** The caller gives up. */
  handleEvent(): void {
    this.#leave(IGNORED, this.#order.call.signal?.reason);
  }

  /** The answer lets go of its value once it is given: a permit may outlive the value it is for. */
  #answered(): Answer<T> | undefined {
    const answer = this.#answer;
    this.#answer = undefined;
    return answer;
  }

  #signal(): AbortSignal {
    const { work, call } = this.#order;
    if (call.deadlineAtMs === undefined) return call.signal ?? signalFor(work);
    // Also for a function that seems to take none: a rest parameter, say, does not count.
    this.#controller = new AbortController();
    return this.#controller.signal;
  }

  #leave(verdict: Verdict, why: unknown): void {
    this.#detach();
    if (this.#phase === "running" && this.#permit !== undefined) {
      this.#phase = "abandoned";
      this.#host.onAbandoned(1);
      this.#order.hooks.onVerdict?.(verdict);
      this.#host.measure(this.#permit, verdict);
      this.#answered()?.reject(why);
    }
    this.#controller?.abort(why);
    // What was still coming has been cut off.
    if (this.#phase === "kept") this.#kept?.end(verdict);
  }

  #onValue(permit: Permit, value: T): void {
    if (this.#phase === "abandoned") {
      this.#endAbandoned(permit);
      return;
    }
    try {
      const verdict = this.#host.judge({ value });
      this.#order.hooks.onVerdict?.(verdict);
      if (!this.#keeps(permit, value, verdict)) this.#settle(permit, verdict);
      this.#answered()?.resolve(value);
    } catch (mistake) {
      this.#settle(permit, IGNORED);
      this.#answered()?.reject(mistake);
    }
  }

  #keeps(permit: Permit, value: T, verdict: Verdict): boolean {
    if (this.#order.hooks.keep === undefined) return false;
    const kept = new GatePermit(this.#host, permit, () => {
      this.#phase = "over";
      this.#detach();
    });
    if (!this.#order.hooks.keep(value, kept)) return false;
    kept.measure(verdict);
    if (kept.hasEnded) return true;
    this.#kept = kept;
    this.#phase = "kept";
    return true;
  }

  #onError(permit: Permit, error: unknown): void {
    if (this.#phase === "abandoned") {
      this.#endAbandoned(permit);
      return;
    }
    try {
      const verdict = this.#host.judge({ error });
      this.#order.hooks.onVerdict?.(verdict);
      this.#settle(permit, verdict);
      this.#answered()?.reject(error);
    } catch (mistake) {
      this.#settle(permit, IGNORED);
      this.#answered()?.reject(mistake);
    }
  }

  #settle(permit: Permit, verdict: Verdict): void {
    this.#phase = "over";
    this.#detach();
    this.#host.end(permit, verdict);
  }

  #endAbandoned(permit: Permit): void {
    this.#phase = "over";
    this.#host.onAbandoned(-1);
    this.#host.end(permit, IGNORED);
  }

  #detach(): void {
    if (this.place !== undefined) this.#host.alarms.clear(this);
    const { signal } = this.#order.call;
    if (signal !== undefined) removeAbortListener(signal, this);
  }
}

/** How the caller's promise is settled. */
export interface Answer<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** A signal that is never aborted; one of its own for whoever may leave a listener on it. */
export function signalFor<T>(work: Work<T>): AbortSignal {
  return work.length === 0 ? NEVER : new AbortController().signal;
}

const NEVER = new AbortController().signal;
