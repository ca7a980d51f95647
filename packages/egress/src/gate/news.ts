import type { BusyThrottle, Clock, LimitDecision, Permit, Reason } from "@sluice/core";
import type { Verdict } from "../outcome/verdict.ts";
import type { GateEvent, GateObserver, RefusedAt } from "./event.ts";
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
      onGivenUp: (why) => arrival.onGivenUp(why),
    };
  }

  admitted(permit: Permit, waitedMs: number): void {
    const { weight, startedAtMs: atMs } = permit;
    const { inFlight, limit, name: gate } = this.#gate;
    this.#tell({ type: "admitted", gate, atMs, weight, waitedMs, inFlight, limit });
  }

  held(reason: Reason, atMs: number): void {
    const { name: gate, waiting } = this.#gate;
    this.#tell({ type: "held", gate, atMs, reason, waiting });
  }

  refused({ reason, retryAfterMs }: Refusal, refusedAt: RefusedAt): void {
    const atMs = this.#clock.now();
    const isShadow = this.#isShadow;
    const gate = this.#gate.name;
    this.#tell({ type: "refused", gate, atMs, reason, refusedAt, retryAfterMs, isShadow });
  }

  /** Told before the permit comes back, so that it is not told after what that sets off. */
  ended(permit: Permit, { outcome }: Verdict, atMs: number): void {
    const { name: gate } = this.#gate;
    const inFlight = this.#gate.inFlight - permit.weight;
    this.#tell({ type: "ended", gate, atMs, outcome, rttMs: atMs - permit.startedAtMs, inFlight });
  }

  decided(decision: LimitDecision): void {
    this.#tell({ type: "limit", gate: this.#gate.name, atMs: this.#clock.now(), decision });
  }

  paused(pauseMs: number, atMs: number): void {
    this.#tell({ type: "paused", gate: this.#gate.name, atMs, reason: "retry-after", pauseMs });
  }

  retried(attempt: number, delayMs: number): void {
    this.#tell({ type: "retry", gate: this.#gate.name, atMs: this.#clock.now(), attempt, delayMs });
  }

  /** Tells of a cut, if the last answer was the reason for one. */
  busyLimit(busy: BusyThrottle, atMs: number): void {
    const { limit, move } = busy.state(atMs);
    const limitBefore = this.#busyLimit ?? limit;
    this.#busyLimit = limit;
    if (move !== "cut" || limit >= limitBefore) return;
    const gate = this.#gate.name;
    this.#tell({ type: "cut", gate, atMs, reason: "peer-busy", limit, limitBefore });
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
