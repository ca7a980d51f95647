import { ConcurrencyLimiter } from "@sluice/core";
import type { LimitDecision, Permit, Random, Timer } from "@sluice/core";
import { Alarms } from "@sluice/core/internal";
import type { Call } from "../options/call-options.ts";
import type { GateParts } from "../options/gate-options.ts";
import type { LeftBecause, Refusal, RefusedAt } from "../error/refusal.ts";
import { NO_COSTS } from "../rate/rates.ts";
import type { Costs } from "../rate/rates.ts";
import { Conditions } from "./conditions.ts";
import { GateWaiter } from "./gate-waiter.ts";
import type { WaiterOwner } from "./gate-waiter.ts";
import { Holds } from "./holds.ts";
import type { Asking, Hold } from "./holds.ts";
import { QueueWakeUp } from "./queue-wake-up.ts";
import { WaitingTotals } from "./waiting-totals.ts";
import type { WaitHandler } from "../permit/wait-handler.ts";
import { LoosePermits } from "../permit/loose-permits.ts";
import type { LoosePermit } from "../permit/loose-permits.ts";

export interface AdmissionQueueOptions extends Pick<
  GateParts,
  "algorithm" | "isLimited" | "rates" | "busy" | "maxWaiting" | "maxPauseMs"
> {
  readonly onDecision: (decision: LimitDecision) => void;
}

/**
 * One queue before a pause, the rates, a busy throttle and the permits. A call passes all of them in one
 * step or takes nothing from any.
 *
 * One wake-up serves the queue, for all conditions; a call that waits for another call's permit needs
 * none. The wake-up and all deadlines share one sleep of the timer.
 */
export class AdmissionQueue implements WaiterOwner {
  readonly deadlines: Alarms;
  readonly holds: Holds;
  readonly #timer: Timer;
  readonly #maxPauseMs: number = 0;
  readonly #conditions: Conditions;
  readonly #limiter: ConcurrencyLimiter<GateWaiter>;
  readonly #loose = new LoosePermits();
  readonly #wakeUp: QueueWakeUp;
  readonly #totals: WaitingTotals;
  /** The costs of the newcomer that is being asked for; undefined while waiters are. */
  #newcomer: Costs | undefined;
  /** What held the first waiter when the queue was last looked at. */
  #heldBy: Hold | undefined;
  #isClosed = false;

  constructor(timer: Timer, random: Random, options: AdmissionQueueOptions) {
    const { algorithm, rates, busy, maxWaiting, onDecision } = options;
    const conditions = new Conditions({ rates, busy, random }, timer.now());
    const limiter = new ConcurrencyLimiter<GateWaiter>(algorithm, {
      clock: timer,
      maxWaiting,
      admit: (_weight, nowMs) => this.#admit(nowMs),
      onDecision,
    });
    const waiting = new WaitingTotals(rates?.names.length ?? 0);
    this.#maxPauseMs = options.maxPauseMs;
    this.#timer = timer;
    this.#conditions = conditions;
    this.#limiter = limiter;
    this.#totals = waiting;
    this.deadlines = new Alarms(timer);
    this.#wakeUp = new QueueWakeUp(this.deadlines, (nowMs) => this.handOver(nowMs));
    this.holds = new Holds({ ...options, conditions, limiter, waiting });
  }

  get limit(): number {
    return this.#limiter.limit;
  }

  get inFlight(): number {
    return this.#limiter.inFlight;
  }

  get waiting(): number {
    return this.#limiter.waiting;
  }

  /** Calls a second that the busy throttle allows; undefined while it allows all. */
  busyLimit(nowMs: number): number | undefined {
    return this.#conditions.busyLimit(nowMs);
  }

  /** How long no call starts because the peer asked for a pause, in ms. */
  pausedForMs(nowMs: number): number {
    return this.#conditions.pausedForMs(nowMs);
  }

  /** How long the first waiter has waited; undefined if there is none. */
  waitedMs(nowMs: number): number | undefined {
    const first = this.#limiter.first;
    return first === undefined ? undefined : nowMs - first.sinceMs;
  }

  /**
   * What holds the first waiter, or a plain call that came now; undefined if nothing does. A waiter whose wake-up is due
   * and has not come yet still waits for what it was armed for.
   */
  why(call: Asking, nowMs: number): Hold | undefined {
    const hold = this.holds.now(call, nowMs);
    if (hold !== undefined || this.waiting === 0) return hold;
    return this.#heldBy && { ...this.#heldBy, leftMs: 1 };
  }

  /** A permit at once, if nothing holds the call and no waiter is before it. */
  tryEnter(call: Asking, nowMs: number): Permit | undefined {
    const permit = this.#tryAcquire(call, nowMs);
    if (permit !== undefined || this.#loose.firstDueMs === undefined) return permit;
    return this.#loose.takeBack(nowMs) ? this.#tryAcquire(call, nowMs) : undefined;
  }

  /** A permit whatever holds the call; the rates are not charged. */
  forceEnter(call: Asking, nowMs: number): Permit {
    return this.#limiter.forceAcquire(call.weight, nowMs);
  }

  /** Refuses a call: answers its refusal, and tells the rate if a rate held it. */
  refusalFor(call: Asking, nowMs: number, refusedAt: RefusedAt): Refusal {
    const refusal = this.holds.refusalOf(call, nowMs, refusedAt);
    this.#conditions.onRefused(call.costs, refusal.rate, refusal.reason);
    return refusal;
  }

  /** Whether a pause holds the call that lasts longer than `maxPauseMs`. */
  isPausedTooLong({ costs }: Pick<Asking, "costs">, nowMs: number): boolean {
    return this.#conditions.pausedForCallMs(costs, nowMs) > this.#maxPauseMs;
  }

  /**
   * Joins the queue. If it is full, this call or one of a lower priority is refused. Answers whether
   * this call was not.
   */
  wait(call: Call, nowMs: number, handler: WaitHandler): boolean {
    const waiter = new GateWaiter(this, call, handler);
    waiter.sinceMs = nowMs;
    this.#newcomer = call.costs;
    const turnedAway = this.#limiter.wait(waiter, nowMs);
    this.#newcomer = undefined;
    // The call may have been admitted at once.
    if (waiter.link !== undefined) {
      this.#totals.add(call);
      waiter.attach(nowMs);
    }
    if (turnedAway !== undefined) this.turnAway(turnedAway, nowMs, "full");
    if (waiter === this.#limiter.first) this.#armWakeUp(nowMs);
    return turnedAway !== waiter;
  }

  /** No call starts for `pauseMs` and jitter, or none that costs something at `rate`. */
  pause(pauseMs: number, nowMs: number, rate?: string): boolean {
    const isNew = this.#conditions.pause(pauseMs, nowMs, rate);
    if (isNew) this.#refuseInVain(nowMs);
    return isNew;
  }

  /** Ends all pauses, or that of one rate; `handOver` is to follow. Answers whether one was on. */
  endPause(nowMs: number, rate?: string): boolean {
    return this.#conditions.endPause(nowMs, rate);
  }

  /** Admits all waiters that can be admitted. To be called when anything has changed for the better. */
  handOver(nowMs: number): void {
    if (this.#isClosed || this.#limiter.waiting === 0) return;
    this.#loose.takeBack(nowMs);
    this.#limiter.handOver(nowMs);
    this.#armWakeUp(nowMs);
  }

  /** A call was served in this time. */
  onServed(nowMs: number, rttMs: number): void {
    this.holds.onServed(rttMs);
    this.#conditions.onServed(nowMs);
  }

  /** The peer refused a call that started at `startedAtMs`, and asked for the pause that is on. */
  onHint(nowMs: number, startedAtMs: number): void {
    this.#conditions.onHint(nowMs, startedAtMs);
  }

  /** A permit has come back and has been handed over if it could be. */
  onPermitBack(nowMs: number): void {
    if (this.#limiter.waiting > 0) this.#armWakeUp(nowMs);
  }

  /** From its instant on the permit goes to the first call that needs it. */
  loosen(permit: LoosePermit, nowMs: number): void {
    this.#loose.add(permit, nowMs);
    // Waiters have to be woken for it.
    if (this.#limiter.waiting > 0) this.#armWakeUp(nowMs);
  }

  tighten(permit: LoosePermit): void {
    this.#loose.remove(permit);
  }

  /** Whether forgetting the queue would change nothing for any caller. */
  isIdle(nowMs: number): boolean {
    this.#loose.takeBack(nowMs);
    return this.inFlight === 0 && this.waiting === 0 && this.#conditions.isIdle(nowMs);
  }

  close(why: unknown): void {
    this.#isClosed = true;
    this.#wakeUp.disarm();
    for (const waiter of this.#limiter.waiters()) this.giveUp(waiter, why, "closed");
  }

  onGone(waiter: GateWaiter): void {
    this.#totals.remove(waiter.call);
    if (this.#limiter.waiting === 0) this.#wakeUp.disarm();
  }

  /** Takes a waiter out of the queue and tells its caller why. */
  giveUp(waiter: GateWaiter, why: unknown, leftBecause: LeftBecause): void {
    const nowMs = this.#timer.now();
    if (!this.#limiter.cancel(waiter, nowMs)) return;
    waiter.detach();
    this.onGone(waiter);
    // The next waiter may want less, so its turn may come sooner.
    this.#armWakeUp(nowMs);
    waiter.handler.onGivenUp(why, leftBecause);
  }

  /** Takes a waiter out of the queue and tells its caller what held the call. */
  refuse(waiter: GateWaiter, nowMs: number, refusedAt: RefusedAt): void {
    if (!this.#limiter.cancel(waiter, nowMs)) return;
    this.turnAway(waiter, nowMs, refusedAt);
    this.#armWakeUp(nowMs);
  }

  turnAway(waiter: GateWaiter, nowMs: number, refusedAt: RefusedAt): void {
    if (waiter.isAttached) {
      waiter.detach();
      this.onGone(waiter);
    }
    waiter.handler.onRefused(this.refusalFor(waiter.call, nowMs, refusedAt));
  }

  #tryAcquire({ weight, priority, costs }: Asking, nowMs: number): Permit | undefined {
    this.#newcomer = costs;
    const permit = this.#limiter.tryAcquire(weight, priority, nowMs);
    this.#newcomer = undefined;
    return permit;
  }

  /** Charges the newcomer, or else the first waiter, if nothing holds it. */
  #admit(nowMs: number): boolean {
    const costs = this.#newcomer ?? this.#limiter.first?.call.costs ?? NO_COSTS;
    // A call that starts may make others; they are newcomers or waiters of their own.
    this.#newcomer = undefined;
    return !this.#isClosed && this.#conditions.admit(costs, nowMs);
  }

  /** Refuses the waiters for which the pauses last too long. */
  #refuseInVain(nowMs: number): void {
    for (const waiter of this.#limiter.waiters()) {
      const pausedMs = this.#conditions.pausedForCallMs(waiter.call.costs, nowMs);
      if (waiter.isInVain(nowMs + pausedMs)) this.refuse(waiter, nowMs, "in-vain");
      else if (pausedMs > this.#maxPauseMs) this.refuse(waiter, nowMs, "max-pause");
    }
  }

  /** When a permit may be free that no call gives back: a loose one, or that of a probe. */
  #permitDueMs(nowMs: number): number | undefined {
    const stallMs = this.#limiter.stallMs(nowMs);
    const { firstDueMs } = this.#loose;
    if (stallMs === undefined) return firstDueMs;
    return Math.min(firstDueMs ?? Infinity, nowMs + stallMs);
  }

  #armWakeUp(nowMs: number): void {
    const hold = this.#isClosed ? undefined : this.holds.ofFirst(nowMs);
    if (hold === undefined) return;
    if (hold.leftMs !== 0) this.#heldBy = hold;
    const dueMs = hold.leftMs === undefined ? this.#permitDueMs(nowMs) : nowMs + hold.leftMs;
    if (dueMs !== undefined) this.#wakeUp.arm(dueMs, nowMs);
  }
}
