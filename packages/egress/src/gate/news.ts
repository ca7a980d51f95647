import type { BusyThrottle, Clock, LimitDecision, Permit, Reason } from "@sluice/core";
import type { Verdict } from "../outcome/verdict.ts";
import type { DeniedBy, GateEvent, GateObserver, LeftBecause, RefusedAt } from "./event.ts";
import type { Arrival } from "./place.ts";
import type { Refusal } from "./throttled-error.ts";

/** What is told of a gate with every event. */
export interface GateState {
  readonly name: string;
  readonly limit: number | undefined;
  readonly inFlight: number;
  readonly waiting: number;
}

export interface NewsOptions {
  readonly observers: readonly GateObserver[];
  readonly isShadow: boolean;
}

/** Makes events of what a gate decides, and tells them to its observers. */
export class News {
  readonly #gate: GateState;
  readonly #clock: Clock;
  readonly #observers: readonly GateObserver[];
  readonly #isShadow: boolean = false;
  #busyLimit: number | undefined;

  constructor(gate: GateState, clock: Clock, { observers, isShadow }: NewsOptions) {
    this.#gate = gate;
    this.#clock = clock;
    this.#observers = observers;
    this.#isShadow = isShadow;
  }

  /** The same arrival, told of. */
  about(arrival: Arrival): Arrival {
    return {
      onPermit: (permit, waitedMs) => {
        this.admitted(permit, waitedMs);
        arrival.onPermit(permit, waitedMs);
      },
      onRefused: (refusal, refusedAt) => {
        this.refused(refusal, refusedAt);
        arrival.onRefused(refusal, refusedAt);
      },
      onGivenUp: (why, leftBecause) => {
        this.left(leftBecause);
        arrival.onGivenUp(why, leftBecause);
      },
    };
  }

  admitted(permit: Permit, waitedMs: number): void {
    const { weight, startedAtMs: atMs } = permit;
    const { inFlight, limit, name: gate } = this.#gate;
    this.#tell({ type: "admitted", gate, atMs, weight, waitedMs, inFlight, limit });
  }

  held(reason: Reason, atMs: number): void {
    const { name: gate, waiting } = this.#gate;
    this.#tell({ type: "held", gate, atMs, reason, waiting, isShadow: this.#isShadow });
  }

  left(leftBecause: LeftBecause): void {
    this.#tell({ type: "left", gate: this.#gate.name, atMs: this.#clock.now(), leftBecause });
  }

  refused({ reason, retryAfterMs }: Refusal, refusedAt: RefusedAt): void {
    const atMs = this.#clock.now();
    const isShadow = this.#isShadow;
    const gate = this.#gate.name;
    this.#tell({ type: "refused", gate, atMs, reason, refusedAt, retryAfterMs, isShadow });
  }

  /** What became of an attempt is known; its permit stays out. */
  measured(permit: Permit, verdict: Verdict, atMs: number): void {
    this.#ended(permit, verdict, { atMs, inFlight: this.#gate.inFlight });
  }

  /** Told before the permit comes back, so that it is not told after what that sets off. */
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

  paused(pauseMs: number, atMs: number): void {
    this.#tell({ type: "paused", gate: this.#gate.name, atMs, reason: "retry-after", pauseMs });
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
    tellAll(this.#observers, event);
  }
}

/** Tells everybody; what an observer throws is lost, since the gate must go on. */
function tellAll(observers: readonly GateObserver[], event: GateEvent): void {
  for (const observer of observers) {
    try {
      const told: unknown = observer(event);
      // An observer may be an async function, whatever its type says.
      if (told instanceof Promise) told.catch(() => undefined);
    } catch {
      // The next observer and the call are not to suffer for it.
    }
  }
}
