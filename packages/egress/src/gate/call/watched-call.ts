import type { Permit } from "@sluice/core";
import { addAbortListener, removeAbortListener } from "@sluice/core/internal";
import type { Alarms, Sleeper } from "@sluice/core/internal";
import { IGNORED, LATE } from "../../outcome/default-verdict.ts";
import type { Settled } from "../../outcome/classify.ts";
import type { Verdict } from "../../outcome/verdict.ts";
import type { Refusal } from "../error/refusal.ts";
import { DeadlineError, ThrottledError } from "../error/throttled-error.ts";
import type { GatePermit } from "../permit/gate-permit.ts";
import type { WaitHandler } from "../permit/wait-handler.ts";
import type { Charge } from "../rate/charge.ts";
import type { Call } from "../options/call-options.ts";
import { signalFor } from "./work.ts";
import type { Work } from "./work.ts";

/** For what is built on a gate: how to follow a call more closely than its promise tells. */
export interface RunHooks<T> {
  /** The call is refused: its promise rejects with this. */
  onRefused?(error: ThrottledError): void;
  /** What the attempt was judged to be, before its promise settles. */
  onVerdict?(verdict: Verdict): void;
  /**
   * The value is there. True: the permit stays out, and the hook ends it. The deadline and the signal of
   * the call go on until then; the timeout of the attempt does not.
   */
  keep?(value: T, permit: GatePermit): boolean;
}

/** The function to call, the call that it is for, and the hooks that follow it. */
export interface Order<T> {
  readonly work: Work<T>;
  readonly call: Call;
  readonly hooks: RunHooks<T>;
}

/** What a watched call needs of its gate. */
export interface WatchedCallHost {
  readonly name: string;
  readonly deadlines: Alarms;
  judge(settled: Settled): Verdict;
  measure(permit: Permit, verdict: Verdict): void;
  end(permit: Permit, verdict: Verdict): void;
  now(): number;
  /** What the attempt was charged; undefined if it was charged nothing. */
  chargeOf(permit: Permit, call: Call): Charge | undefined;
  permitOf(permit: Permit, charge: Charge | undefined, onEnd: () => void): GatePermit;
  /** Corrects the cost of the attempt by its result. */
  settleBy(result: unknown, charge: Charge | undefined, call: Call): void;
  /** The number of runs that go on without their callers changes by this. */
  onAbandoned(change: 1 | -1): void;
}

/** `kept`: the caller has its value, and a part of it is still under way. */
type Phase = "running" | "kept" | "abandoned" | "over";

/**
 * A call that has to wait, or has a deadline, a timeout or a signal: its caller is answered in time
 * whatever the function does. The permit of a function that goes on after that stays out until it
 * settles, because the peer may be at work on it all the same.
 */
export class WatchedCall<T> implements WaitHandler, Sleeper {
  readonly #host: WatchedCallHost;
  readonly #order: Order<T>;
  #answer: Answer<T> | undefined;
  #permit: Permit | undefined;
  #controller: AbortController | undefined;
  #kept: GatePermit | undefined;
  #phase: Phase = "running";
  dueMs: number = Infinity;
  place: number | undefined;

  constructor(host: WatchedCallHost, order: Order<T>, answer: Answer<T>) {
    this.#host = host;
    this.#order = order;
    this.#answer = answer;
  }

  onPermit(permit: Permit): void {
    this.#permit = permit;
    const { work, call } = this.#order;
    const { deadlineAtMs = Infinity, attemptTimeoutMs = Infinity } = call;
    this.#setDue(Math.min(deadlineAtMs, permit.startedAtMs + attemptTimeoutMs), permit.startedAtMs);
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
    const { hooks } = this.#order;
    this.#answered()?.reject(mistakeOf(() => hooks.onRefused?.(error)) ?? error);
  }

  onGivenUp(why: unknown): void {
    this.#answered()?.reject(why);
  }

  /** The deadline, or the timeout of the attempt, has passed. */
  ring(): void {
    this.#leave(LATE, new DeadlineError(this.#host.name, this.#passed()));
  }

  /** The caller gives up. */
  handleEvent(): void {
    this.#leave(IGNORED, this.#order.call.signal?.reason);
  }

  #setDue(dueMs: number, nowMs: number): void {
    this.dueMs = dueMs;
    if (dueMs !== Infinity) this.#host.deadlines.set(this, nowMs);
  }

  #passed(): string {
    const { deadlineAtMs = Infinity, deadlineMs, attemptTimeoutMs } = this.#order.call;
    return this.dueMs < deadlineAtMs
      ? `the attempt's timeout of ${attemptTimeoutMs} ms (attemptTimeoutMs)`
      : `the deadline of ${deadlineMs} ms`;
  }

  /** The answer lets go of its value once it is given: a permit may outlive the value it is for. */
  #answered(): Answer<T> | undefined {
    const answer = this.#answer;
    this.#answer = undefined;
    return answer;
  }

  #signal(): AbortSignal {
    const { work, call } = this.#order;
    if (this.dueMs === Infinity) return call.signal ?? signalFor(work);
    // Also for a function that seems to take none: a rest parameter, say, does not count.
    this.#controller = new AbortController();
    return this.#controller.signal;
  }

  #leave(verdict: Verdict, why: unknown): void {
    this.#detach();
    if (this.#phase === "running" && this.#permit !== undefined) {
      this.#phase = "abandoned";
      this.#host.onAbandoned(1);
      const { hooks } = this.#order;
      const mistake = mistakeOf(() => hooks.onVerdict?.(verdict));
      this.#host.measure(this.#permit, verdict);
      this.#answered()?.reject(mistake ?? why);
    }
    this.#controller?.abort(why);
    // The rest of the answer has been cut off.
    if (this.#phase === "kept") this.#kept?.end(verdict);
  }

  #onValue(permit: Permit, value: T): void {
    const { call, hooks } = this.#order;
    const charge = this.#host.chargeOf(permit, call);
    if (this.#phase === "abandoned") {
      this.#host.settleBy(value, charge, call);
      this.#endAbandoned(permit);
      return;
    }
    try {
      const verdict = this.#host.judge({ value });
      hooks.onVerdict?.(verdict);
      const isKept = this.#keeps(value, verdict, this.#permitOf(permit, charge));
      if (!isKept) this.#settle(permit, verdict);
      // After the answer's hints were heeded: a refused call gets its tokens back for its next attempt.
      this.#host.settleBy(value, charge, call);
      this.#answered()?.resolve(value);
    } catch (mistake) {
      this.#settle(permit, IGNORED);
      this.#answered()?.reject(mistake);
    }
  }

  #permitOf(permit: Permit, charge: Charge | undefined): GatePermit {
    return this.#host.permitOf(permit, charge, () => {
      this.#phase = "over";
      this.#detach();
    });
  }

  #keeps(value: T, verdict: Verdict, permit: GatePermit): boolean {
    if (this.#order.hooks.keep?.(value, permit) !== true) return false;
    permit.measure(verdict);
    if (permit.hasEnded) return true;
    this.#kept = permit;
    this.#phase = "kept";
    this.#endTimeout();
    return true;
  }

  /** The timeout of an attempt ends with its answer; the deadline lasts until the permit is back. */
  #endTimeout(): void {
    const { deadlineAtMs = Infinity } = this.#order.call;
    if (this.place === undefined || this.dueMs === deadlineAtMs) return;
    this.#host.deadlines.clear(this);
    this.#setDue(deadlineAtMs, this.#host.now());
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
    if (this.place !== undefined) this.#host.deadlines.clear(this);
    const { signal } = this.#order.call;
    if (signal !== undefined) removeAbortListener(signal, this);
  }
}

/** How the caller's promise is settled. */
export interface Answer<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** What a hook throws: it goes to the hook's own caller, never to the queue that calls the hook. */
function mistakeOf(hook: () => void): unknown {
  try {
    hook();
    return undefined;
  } catch (mistake) {
    return mistake;
  }
}
