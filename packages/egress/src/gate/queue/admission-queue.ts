import { ConcurrencyLimiter } from "@sluice/core";
import type {
  BusyThrottle,
  LimitAlgorithm,
  LimitDecision,
  Permit,
  Random,
  Reason,
  Timer,
} from "@sluice/core";
import { Alarms, Ewma } from "@sluice/core/internal";
import type { Sleeper } from "@sluice/core/internal";
import type { Call } from "../options/call-options.ts";
import type { LeftBecause, Refusal, RefusedAt } from "../error/refusal.ts";
import { NO_COSTS } from "../rate/rates.ts";
import type { Costs, Rates } from "../rate/rates.ts";
import { Conditions } from "./conditions.ts";
import { GateWaiter } from "./gate-waiter.ts";
import type { WaiterOwner } from "./gate-waiter.ts";
import type { WaitHandler } from "../permit/wait-handler.ts";
import { LoosePermits } from "../permit/loose-permits.ts";
import type { LoosePermit } from "../permit/loose-permits.ts";

/** What holds a call back now. */
export interface Hold {
  readonly reason: Reason;
  /** The least time that it lasts, in ms; undefined if it depends on other calls, as with permits. */
  readonly leftMs: number | undefined;
  /** The rate that holds the call, or whose pause does, by its name. */
  readonly rate?: string;
}

export interface AdmissionQueueOptions {
  readonly algorithm: LimitAlgorithm;
  readonly isLimited: boolean;
  readonly rates: Rates | undefined;
  readonly busy: BusyThrottle | undefined;
  readonly maxWaiting: number;
  readonly maxPauseMs: number;
  readonly onDecision: (decision: LimitDecision) => void;
}

/** What the queue needs to know of a call that it judges without a waiter. */
export type Asking = Pick<Call, "weight" | "priority" | "costs" | "deadlineMs">;

/** Weight of the newest call in the mean time that calls take. */
const SERVICE_ALPHA = 0.1;

/** The least time until the queue is looked at again, in ms, so that rounding never makes it spin. */
const LOOK_AGAIN_MS = 0.01;

/**
 * One queue before a pause, the rates, a busy throttle and the permits. A call passes all of them in one
 * step or takes nothing from any.
 *
 * One alarm wakes the queue, whatever holds it; a call that waits for another call's permit needs
 * none. All deadlines and that alarm share one sleep of the timer.
 */
export class AdmissionQueue implements WaiterOwner {
  readonly deadlines: Alarms;
  readonly #timer: Timer;
  readonly #options: AdmissionQueueOptions;
  readonly #conditions: Conditions;
  readonly #limiter: ConcurrencyLimiter<GateWaiter>;
  readonly #loose = new LoosePermits();
  readonly #wakeUp: QueueWakeUp;
  readonly #serviceMs = new Ewma(SERVICE_ALPHA);
  #waitingWeight = 0;
  /** The costs of all waiters, one sum for each rate. */
  readonly #waitingCosts: number[];
  /** The costs of the newcomer that is being asked for; undefined while waiters are. */
  #newcomer: Costs | undefined;
  #isClosed = false;

  constructor(timer: Timer, random: Random, options: AdmissionQueueOptions) {
    const { algorithm, rates, busy, maxWaiting, onDecision } = options;
    this.#options = options;
    this.#timer = timer;
    this.#conditions = new Conditions({ rates, busy, random }, timer.now());
    this.#waitingCosts = (rates?.names ?? []).map(() => 0);
    this.deadlines = new Alarms(timer);
    this.#wakeUp = new QueueWakeUp((nowMs) => this.handOver(nowMs));
    this.#limiter = new ConcurrencyLimiter(algorithm, {
      clock: timer,
      maxWaiting,
      admit: (_weight, nowMs) => this.#admit(nowMs),
      onDecision,
    });
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

  /** How long no call starts because the peer asked for a pause, in ms. */
  pausedForMs(nowMs: number): number {
    return this.#conditions.pausedForMs(nowMs);
  }

  /** How long the first waiter has waited; undefined if there is none. */
  waitedMs(nowMs: number): number | undefined {
    const first = this.#limiter.first;
    return first === undefined ? undefined : nowMs - first.sinceMs;
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

  /**
   * What holds back a call that came now and went to the end of the queue. The costs of all waiters
   * count as taken before it, unless the call would overtake some of them.
   */
  holdOf({ weight, priority, costs }: Asking, nowMs: number): Hold {
    const last = this.#limiter.last;
    const isFirst = last === undefined || last.priority < priority;
    return this.#hold(weight, costs, isFirst ? NO_COSTS : this.#waitingCosts, nowMs, isFirst);
  }

  /** Refuses a call: answers what its caller is told, and tells the rate if a rate held it. */
  refusalFor(call: Asking, nowMs: number, refusedAt: RefusedAt): Refusal {
    const refusal = this.refusalOf(call, nowMs, refusedAt);
    this.#conditions.onRefused(call.costs, refusal.rate, refusal.reason);
    return refusal;
  }

  /** What a call would be told if it were refused now. */
  refusalOf(call: Asking, nowMs: number, refusedAt: RefusedAt): Refusal {
    const { reason, leftMs, rate } = this.holdOf(call, nowMs);
    const retryAfterMs = leftMs ?? this.#turnInMs(call.weight);
    const detail = {
      waitingFor: this.#describe(reason, rate),
      waiting: this.waiting,
      deadlineMs: call.deadlineMs,
      maxPauseMs: this.#options.maxPauseMs,
    };
    return { reason, retryAfterMs, rate, refusedAt, detail };
  }

  /** What holds back the first waiter, or a call that came now; undefined if nothing does. */
  holdNow(plain: Asking, nowMs: number): Hold | undefined {
    const { weight, costs } = this.#limiter.first?.call ?? plain;
    const hold = this.#hold(weight, costs, NO_COSTS, nowMs, true);
    return hold.leftMs === 0 ? undefined : hold;
  }

  /** Whether the first waiter waits for the tokens of this rate. */
  isWaitingFor(rate: string, nowMs: number): boolean {
    const first = this.#limiter.first;
    if (first === undefined) return false;
    const hold = this.#hold(first.weight, first.call.costs, NO_COSTS, nowMs, true);
    return hold.rate === rate && hold.reason !== "retry-after";
  }

  /** Whether a pause holds the call that lasts longer than `maxPauseMs`. */
  isPausedTooLong({ costs }: Pick<Asking, "costs">, nowMs: number): boolean {
    return this.#conditions.pausedForCallMs(costs, nowMs) > this.#options.maxPauseMs;
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
      this.#count(call, 1);
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
    this.#serviceMs.update(rttMs);
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
    this.deadlines.clear(this.#wakeUp);
    for (const waiter of this.#limiter.waiters()) this.giveUp(waiter, why, "closed");
  }

  onGone(waiter: GateWaiter): void {
    this.#count(waiter.call, -1);
    if (this.#limiter.waiting === 0) this.deadlines.clear(this.#wakeUp);
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

  #hold(weight: number, costs: Costs, ahead: Costs, nowMs: number, isFirst: boolean): Hold {
    let hold = this.#conditions.hold(costs, ahead, nowMs);
    const paceMs = this.#limiter.pauseMs(weight, nowMs) ?? 0;
    if (paceMs > hold.leftMs) hold = { reason: "concurrency", leftMs: paceMs };
    if (hold.leftMs > 0) return hold;
    const hasRoom = this.#limiter.hasRoom(weight) && (isFirst || this.waiting === 0);
    return { reason: "concurrency", leftMs: hasRoom ? 0 : undefined };
  }

  #describe(reason: Reason, rate: string | undefined): string {
    if (reason !== "concurrency" || !this.#options.isLimited)
      return this.#conditions.describe(reason, rate);
    return `a permit (concurrency limit ${this.limit})`;
  }

  /** When the last waiter gets its permits, judged by how long calls have taken. */
  #turnInMs(weight: number): number | undefined {
    const meanMs = this.#serviceMs.mean;
    if (meanMs === undefined) return undefined;
    return Math.ceil((meanMs * (this.#waitingWeight + weight)) / this.#limiter.limit);
  }

  /** Refuses the waiters for which the pauses last too long. */
  #refuseInVain(nowMs: number): void {
    for (const waiter of this.#limiter.waiters()) {
      const pausedMs = this.#conditions.pausedForCallMs(waiter.call.costs, nowMs);
      if (waiter.isInVain(nowMs + pausedMs)) this.refuse(waiter, nowMs, "in-vain");
      else if (pausedMs > this.#options.maxPauseMs) this.refuse(waiter, nowMs, "max-pause");
    }
  }

  #count({ weight, costs }: Call, sign: 1 | -1): void {
    this.#waitingWeight += sign * weight;
    for (let i = 0; i < this.#waitingCosts.length; i++)
      this.#waitingCosts[i] = (this.#waitingCosts[i] ?? 0) + sign * (costs[i] ?? 0);
  }

  /** When a permit may be free that no call gives back: a loose one, or that of a probe. */
  #permitDueMs(nowMs: number): number | undefined {
    const stallMs = this.#limiter.stallMs(nowMs);
    const { firstDueMs } = this.#loose;
    if (stallMs === undefined) return firstDueMs;
    return Math.min(firstDueMs ?? Infinity, nowMs + stallMs);
  }

  #armWakeUp(nowMs: number): void {
    const first = this.#limiter.first;
    if (first === undefined || this.#isClosed) return;
    const { leftMs } = this.#hold(first.weight, first.call.costs, NO_COSTS, nowMs, true);
    const dueMs = leftMs === undefined ? this.#permitDueMs(nowMs) : nowMs + leftMs;
    if (dueMs === undefined) return;
    // An alarm that is set for too early only makes the queue look once more.
    if (this.#wakeUp.place !== undefined && this.#wakeUp.dueMs <= dueMs) return;
    this.deadlines.clear(this.#wakeUp);
    this.#wakeUp.dueMs = Math.max(dueMs, nowMs + LOOK_AGAIN_MS);
    this.deadlines.set(this.#wakeUp, nowMs);
  }
}

class QueueWakeUp implements Sleeper {
  dueMs = 0;
  place: number | undefined;
  readonly ring: (nowMs: number) => void;

  constructor(ring: (nowMs: number) => void) {
    this.ring = ring;
  }
}
