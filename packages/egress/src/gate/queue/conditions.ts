import type { BusyThrottle, Random, Reason } from "@sluice/core";
import { QuotaPace } from "@sluice/core/internal";
import { Pause } from "../pause/pause.ts";
import type { Costs, Rates } from "../rate/rates.ts";

/** A condition that holds a call back, and the least time that it lasts, in ms; 0 if none does. */
export interface TimedHold {
  readonly reason: Reason;
  readonly leftMs: number;
  /** The rate that holds the call, or whose pause does, by its name. */
  readonly rate?: string;
}

export interface ConditionsOptions {
  readonly rates: Rates | undefined;
  readonly busy: BusyThrottle | undefined;
  readonly random: Random;
}

/**
 * Everything but the permits that a call must pass: the peer's pause, the pace after it, the busy throttle
 * and the rates. A call passes all of them at one instant, or is charged by none.
 */
export class Conditions {
  readonly #rates: Rates | undefined;
  readonly #busy: BusyThrottle | undefined;
  readonly #random: Random;
  readonly #pause = new Pause();
  #quotaPace: QuotaPace;

  constructor({ rates, busy, random }: ConditionsOptions, nowMs: number) {
    this.#rates = rates;
    this.#busy = busy;
    this.#random = random;
    this.#quotaPace = new QuotaPace(nowMs);
  }

  /** Charges a call that passes all conditions. */
  admit(costs: Costs, nowMs: number): boolean {
    if (nowMs < this.#pause.untilMs || this.#quotaPace.pauseMs(nowMs) > 0) return false;
    if (this.#busy !== undefined && this.#busy.pauseMs(nowMs) > 0) return false;
    if (this.#rates?.tryTake(costs, nowMs) === false) return false;
    this.#busy?.trySend(nowMs);
    this.#quotaPace.onStart(nowMs);
    return true;
  }

  /** The condition that holds a call longest, behind calls that cost `ahead` together. */
  hold(costs: Costs, ahead: Costs, nowMs: number): TimedHold {
    const pausedMs = Math.max(this.#pause.leftMs(nowMs), this.#quotaPace.pauseMs(nowMs));
    let hold: TimedHold = { reason: "retry-after", leftMs: pausedMs };
    const rateHold = this.#rates?.hold(costs, ahead, nowMs);
    if (rateHold !== undefined && rateHold.leftMs > hold.leftMs) hold = rateHold;
    const busyMs = this.#busy?.pauseMs(nowMs) ?? 0;
    return busyMs > hold.leftMs ? { reason: "peer-busy", leftMs: busyMs } : hold;
  }

  /** Calls a second that the busy throttle allows; undefined while it allows all. */
  busyLimit(nowMs: number): number | undefined {
    return this.#busy?.state(nowMs).limit;
  }

  /** How long no call starts because the peer asked for a pause, in ms. */
  pausedForMs(nowMs: number): number {
    return this.#pause.leftMs(nowMs);
  }

  /** The same for a call, with the pauses of the rates at which it costs something. */
  pausedForCallMs(costs: Costs, nowMs: number): number {
    return Math.max(this.#pause.leftMs(nowMs), this.#rates?.pausedForMs(costs, nowMs) ?? 0);
  }

  /** Pauses all calls, or those that cost something at `rate`; false if they are paused as long already. */
  pause(pauseMs: number, nowMs: number, rate: string | undefined): boolean {
    if (rate === undefined) return this.#pause.extend(pauseMs, nowMs, this.#random);
    return this.#rates?.pause(rate, pauseMs, nowMs, this.#random) === true;
  }

  /** Ends all pauses, or that of one rate. Answers whether one was on. */
  endPause(nowMs: number, rate: string | undefined): boolean {
    const wasRatePaused = this.#rates?.endPause(rate, nowMs) === true;
    const wasPaused = rate === undefined && this.#pause.end(nowMs);
    // A user who ends a pause knows better than the hint that the pause came from.
    if (wasPaused) this.#quotaPace = new QuotaPace(nowMs);
    return wasPaused || wasRatePaused;
  }

  onServed(nowMs: number): void {
    this.#quotaPace.onServed(nowMs);
  }

  /** The peer refused a call that started at `startedAtMs`, and asked for the pause that is on. */
  onHint(nowMs: number, startedAtMs: number): void {
    this.#quotaPace.onHint(nowMs, this.pausedForMs(nowMs), startedAtMs);
  }

  /** A call of these costs was refused because of this hold. */
  onRefused(costs: Costs, rate: string | undefined, reason: Reason): void {
    if (rate !== undefined && reason !== "retry-after") this.#rates?.onRefused(rate, costs);
  }

  /** Whether forgetting the conditions would let no caller do more. */
  isIdle(nowMs: number): boolean {
    return nowMs >= this.#pause.untilMs && this.#rates?.isIdle(nowMs) !== false;
  }

  /** The condition in words, for an error message. */
  describe(reason: Reason, rate: string | undefined): string {
    const name = rate === undefined ? undefined : this.#rates?.describe(rate);
    if (reason === "retry-after") {
      const pause = "a pause that the peer asked for";
      return name === undefined ? pause : `${pause} (${name})`;
    }
    if (reason === "peer-busy") return "the busy throttle (the peer answers busy)";
    if (name === undefined || reason === "rate") return name ?? reason;
    return `${name} (${reason})`;
  }
}
