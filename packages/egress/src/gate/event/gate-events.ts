import type { BusyThrottle, Clock, LimitDecision, Permit, Reason } from "@sluice/core";
import type { Verdict } from "../../outcome/verdict.ts";
import { tellObservers } from "../../observers.ts";
import type { DeniedBy, GateEvent, GateObserver } from "./event.ts";
import type { WaitHandler } from "../permit/wait-handler.ts";
import type { LeftBecause, Refusal } from "../error/refusal.ts";

/** What holds a call. */
interface HeldBy {
  readonly reason: Reason;
  readonly rate?: string | undefined;
}

/** The state of a gate that its events carry. */
export interface GateState {
  readonly name: string;
  readonly limit: number | undefined;
  readonly inFlight: number;
  readonly waiting: number;
}

export interface GateEventsOptions {
  readonly observers: readonly GateObserver[];
  readonly isShadow: boolean;
}

/** Makes events of what a gate decides, and passes them to its observers. */
export class GateEvents {
  readonly #gate: GateState;
  readonly #clock: Clock;
  readonly #observers: readonly GateObserver[];
  readonly #isShadow: boolean = false;
  #busyLimit: number | undefined;

  constructor(gate: GateState, clock: Clock, { observers, isShadow }: GateEventsOptions) {
    this.#gate = gate;
    this.#clock = clock;
    this.#observers = observers;
    this.#isShadow = isShadow;
  }

  /** The same handler, with an event for each of its calls. */
  about(handler: WaitHandler): WaitHandler {
    return {
      onPermit: (permit, waitedMs) => {
        this.admitted(permit, waitedMs);
        handler.onPermit(permit, waitedMs);
      },
      onRefused: (refusal) => {
        this.refused(refusal);
        handler.onRefused(refusal);
      },
      onGivenUp: (why, leftBecause) => {
        this.left(leftBecause);
        handler.onGivenUp(why, leftBecause);
      },
    };
  }

  admitted(permit: Permit, waitedMs: number): void {
    const { weight, startedAtMs: atMs } = permit;
    const { inFlight, limit, name: gate } = this.#gate;
    this.#tell({ type: "admitted", gate, atMs, weight, waitedMs, inFlight, limit });
  }

  held({ reason, rate }: HeldBy, atMs: number): void {
    const { name: gate, waiting, limit } = this.#gate;
    const isShadow = this.#isShadow;
    this.#tell({ type: "held", gate, atMs, reason, rate, waiting, limit, isShadow });
  }

  left(leftBecause: LeftBecause): void {
    this.#tell({ type: "left", gate: this.#gate.name, atMs: this.#clock.now(), leftBecause });
  }

  refused({ reason, rate, retryAfterMs, refusedAt = "door" }: Refusal): void {
    const atMs = this.#clock.now();
    const { name: gate, waiting, limit } = this.#gate;
    const state = { waiting, limit, isShadow: this.#isShadow };
    this.#tell({ type: "refused", gate, atMs, reason, rate, refusedAt, retryAfterMs, ...state });
  }

  /** What became of an attempt is known; its permit stays out. */
  measured(permit: Permit, verdict: Verdict, atMs: number): void {
    this.#ended(permit, verdict, { atMs, inFlight: this.#gate.inFlight });
  }

  /** Told before the permit comes back, so that it comes before the events that its return causes. */
  ended(permit: Permit, verdict: Verdict, atMs: number): void {
    this.#ended(permit, verdict, { atMs, inFlight: this.#gate.inFlight - permit.weight });
  }

  /** The permit of an attempt that was measured comes back; told as early as `ended` is. */
  returned({ weight, startedAtMs }: Permit, atMs: number): void {
    const { name: gate } = this.#gate;
    const inFlight = this.#gate.inFlight - weight;
    this.#tell({ type: "returned", gate, atMs, heldMs: atMs - startedAtMs, inFlight });
  }

  decided(decision: LimitDecision): void {
    this.#tell({ type: "limit", gate: this.#gate.name, atMs: this.#clock.now(), decision });
  }

  paused(pauseMs: number, atMs: number, rate: string | undefined): void {
    const gate = this.#gate.name;
    this.#tell({ type: "paused", gate, atMs, reason: "retry-after", rate, pauseMs });
  }

  resumed(atMs: number): void {
    this.#tell({ type: "resumed", gate: this.#gate.name, atMs });
  }

  retried(attempt: number, delayMs: number): void {
    this.#tell({ type: "retry", gate: this.#gate.name, atMs: this.#clock.now(), attempt, delayMs });
  }

  retryDenied(attempt: number, deniedBy: DeniedBy): void {
    const gate = this.#gate.name;
    this.#tell({ type: "retry-denied", gate, atMs: this.#clock.now(), attempt, deniedBy });
  }

  /** Tells of a cut, if the last answer was the reason for one. */
  busyLimit(busy: BusyThrottle, atMs: number): void {
    const { limit, move } = busy.state(atMs);
    const limitBefore = this.#busyLimit;
    this.#busyLimit = limit;
    if (move !== "cut" || limit >= (limitBefore ?? Infinity)) return;
    const gate = this.#gate.name;
    this.#tell({ type: "cut", gate, atMs, reason: "peer-busy", limit, limitBefore });
  }

  #ended(
    { startedAtMs }: Permit,
    { outcome, scope }: Verdict,
    { atMs, inFlight }: { readonly atMs: number; readonly inFlight: number },
  ): void {
    const rttMs = atMs - startedAtMs;
    this.#tell({ type: "ended", gate: this.#gate.name, atMs, outcome, scope, rttMs, inFlight });
  }

  #tell(event: GateEvent): void {
    tellObservers(this.#observers, event);
  }
}
