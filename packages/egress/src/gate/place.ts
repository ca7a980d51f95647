import type { Permit, PermitWaiter } from "@sluice/core";
import { addAbortListener, removeAbortListener } from "@sluice/core/internal";
import type { Waiter } from "@sluice/core/internal";
import type { Alarms, Sleeper } from "@sluice/core/internal";
import type { Call } from "./call-options.ts";
import type { LeftBecause, RefusedAt } from "./event.ts";
import type { Refusal } from "./throttled-error.ts";

/** What becomes of a call that waits: one of these, once. None may throw. */
export interface Arrival {
  onPermit(permit: Permit, waitedMs: number): void;
  onRefused(refusal: Refusal, refusedAt: RefusedAt): void;
  /** Its caller gave it up, or the gate was closed: what the caller is told. */
  onGivenUp(why: unknown, leftBecause: LeftBecause): void;
}

/** Who keeps the line that places are in. */
export interface PlaceKeeper {
  readonly alarms: Alarms;
  /** A place got its permit. */
  onGone(place: Place): void;
  /** Its caller does not want it any more. */
  giveUp(place: Place, why: unknown, leftBecause: LeftBecause): void;
  refuse(place: Place, nowMs: number, refusedAt: RefusedAt): void;
  /** It is out of the line already, with nothing. */
  turnAway(place: Place, nowMs: number, refusedAt: RefusedAt): void;
}

/** A call in line. It rings at its deadline and listens to its caller's signal. */
export class Place implements PermitWaiter, Sleeper {
  readonly weight: number = 0;
  readonly priority: number = 0;
  /** When it joined the line. */
  sinceMs = 0;
  readonly arrival: Arrival;
  readonly #keeper: PlaceKeeper;
  readonly #deadlineAtMs: number | undefined;
  readonly #signal: AbortSignal | undefined;
  isAttached = false;
  link: Waiter["link"];
  place: number | undefined;

  constructor(keeper: PlaceKeeper, call: Call, arrival: Arrival) {
    this.#keeper = keeper;
    this.weight = call.weight;
    this.priority = call.priority;
    this.arrival = arrival;
    this.#deadlineAtMs = call.deadlineAtMs;
    this.#signal = call.signal;
  }

  get dueMs(): number {
    return this.#deadlineAtMs ?? 0;
  }

  isInVain(atMs: number): boolean {
    return this.#deadlineAtMs !== undefined && this.#deadlineAtMs < atMs;
  }

  attach(nowMs: number): void {
    this.sinceMs = nowMs;
    this.isAttached = true;
    if (this.#deadlineAtMs !== undefined) this.#keeper.alarms.set(this, nowMs);
    if (this.#signal !== undefined) addAbortListener(this.#signal, this);
  }

  detach(): void {
    this.isAttached = false;
    if (this.#deadlineAtMs !== undefined) this.#keeper.alarms.clear(this);
    if (this.#signal !== undefined) removeAbortListener(this.#signal, this);
  }

  onPermit(permit: Permit): void {
    if (this.isAttached) {
      this.detach();
      this.#keeper.onGone(this);
    }
    this.arrival.onPermit(permit, permit.startedAtMs - this.sinceMs);
  }

  /** The deadline has passed, though nobody has rung yet: so nothing starts that is not wanted. */
  isLate(nowMs: number): boolean {
    return this.isInVain(nowMs);
  }

  onLate(nowMs: number): void {
    this.#keeper.turnAway(this, nowMs, "deadline");
  }

  ring(nowMs: number): void {
    this.#keeper.refuse(this, nowMs, "deadline");
  }

  handleEvent(): void {
    this.#keeper.giveUp(this, this.#signal?.reason, "aborted");
  }
}
