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
import { Ewma } from "@sluice/core/internal";
import { AlarmHeap, Alarms } from "@sluice/core/internal";
import type { Alarm, Sleeper } from "@sluice/core/internal";
import type { Call } from "./call-options.ts";
import type { LeftBecause, RefusedAt } from "./event.ts";
import { Place } from "./place.ts";
import type { Arrival, PlaceKeeper } from "./place.ts";
import { QuotaPace } from "./quota-pace.ts";
import type { RateSource } from "./rate-source.ts";
import type { Refusal } from "./throttled-error.ts";

/** A permit that is taken back if it is still out at its instant and somebody wants it. */
export interface LoosePermit extends Alarm {
  takeBack(nowMs: number): void;
}

/** What holds a call back now. */
export interface Hold {
  readonly reason: Reason;
  /** For at least so long; undefined if it depends on others, as with permits. */
  readonly leftMs: number | undefined;
}

export interface EntranceOptions {
  readonly algorithm: LimitAlgorithm;
  readonly rate: RateSource | undefined;
  readonly busy: BusyThrottle | undefined;
  readonly maxWaiting: number;
  readonly onDecision: (decision: LimitDecision) => void;
}

/** What is added to a peer's word, at most: a part of it, so that not all come back at once. */
const JITTER = 0.1;

/** Weight of the newest call in the mean time that calls take. */
const SERVICE_ALPHA = 0.1;

/** The line is looked at no sooner again, so that rounding never makes it spin. */
const LOOK_AGAIN_MS = 0.01;

/**
 * The way in: one line before a pause, a rate, a busy throttle and the permits, in this order. A
 * call passes all of them in one step or takes nothing from any.
 *
 * One alarm wakes the line, whatever holds it; who waits for a permit that somebody else has needs
 * none. All deadlines and that alarm share one sleep of the timer.
 */
export class Entrance implements PlaceKeeper {
  readonly alarms: Alarms;
  readonly #timer: Timer;
  readonly #random: Random;
  readonly #rate: RateSource | undefined;
  readonly #busy: BusyThrottle | undefined;
  readonly #limiter: ConcurrencyLimiter<Place>;
  readonly #loose = new AlarmHeap<LoosePermit>();
  readonly #lineAlarm: LineAlarm;
  readonly #serviceMs = new Ewma(SERVICE_ALPHA);
  #quotaPace: QuotaPace;
  #pausedUntilMs = 0;
  #waitingWeight = 0;
  #isClosed = false;

  constructor(timer: Timer, random: Random, options: EntranceOptions) {
    const { algorithm, rate, busy, maxWaiting, onDecision } = options;
    this.#random = random;
    this.#rate = rate;
    this.#busy = busy;
    this.#timer = timer;
    this.#quotaPace = new QuotaPace(timer.now());
    this.alarms = new Alarms(timer);
    this.#lineAlarm = new LineAlarm((nowMs) => this.handOver(nowMs));
    this.#limiter = new ConcurrencyLimiter(algorithm, {
      clock: timer,
      maxWaiting,
      admit: (weight, nowMs) => this.#admit(weight, nowMs),
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

  /** How long nothing starts because the peer said so. */
  pausedForMs(nowMs: number): number {
    return Math.max(0, this.#pausedUntilMs - nowMs);
  }

  /** How long the first in line has waited; undefined if nobody waits. */
  waitedMs(nowMs: number): number | undefined {
    const first = this.#limiter.first;
    return first === undefined ? undefined : nowMs - first.sinceMs;
  }

  /** A permit at once, if all agree and nobody is before this call. */
  tryEnter(call: Call, nowMs: number): Permit | undefined {
    const { weight, priority } = call;
    const permit = this.#limiter.tryAcquire(weight, priority, nowMs);
    if (permit !== undefined || this.#loose.size === 0) return permit;
    return this.#takeBack(nowMs) ? this.#limiter.tryAcquire(weight, priority, nowMs) : undefined;
  }

  /** A permit whatever anybody says. */
  forceEnter(call: Call, nowMs: number): Permit {
    return this.#limiter.forceAcquire(call.weight, nowMs);
  }

  /**
   * What holds back a call that came now and went to the end of the line. The tokens of all who
   * wait are counted as gone before it, unless it would overtake some of them.
   */
  holdOf({ weight, priority }: Pick<Call, "weight" | "priority">, nowMs: number): Hold {
    const last = this.#limiter.last;
    const ahead = last !== undefined && last.priority < priority ? 0 : this.#waitingWeight;
    return this.#hold(weight, ahead, nowMs);
  }

  /** Refuses a call: answers what its caller is told, and tells the rate if that is what held it. */
  refusalFor(call: Pick<Call, "weight" | "priority">, nowMs: number): Refusal {
    const refusal = this.refusalOf(call, nowMs);
    if (refusal.reason === this.#rate?.reason) this.#rate.onRefused?.(call.weight);
    return refusal;
  }

  /** What a call would be told if it were refused now. */
  refusalOf(call: Pick<Call, "weight" | "priority">, nowMs: number): Refusal {
    const { reason, leftMs } = this.holdOf(call, nowMs);
    return { reason, retryAfterMs: leftMs ?? this.#turnInMs(call.weight) };
  }

  /** What holds back the first in line, or whoever came now; undefined if nothing does. */
  holdNow(nowMs: number): Hold | undefined {
    const hold = this.#hold(this.#limiter.first?.weight ?? 1, 0, nowMs);
    return hold.leftMs === 0 ? undefined : hold;
  }

  /** Whether the first waiting call waits for the rate's tokens. */
  isWaitingForRate(nowMs: number): boolean {
    const first = this.#limiter.first;
    if (first === undefined) return false;
    return this.#hold(first.weight, 0, nowMs).reason === this.#rate?.reason;
  }

  /**
   * Joins the line. Whoever finds no place in it, this one or another, is refused. Answers whether
   * this one found a place.
   */
  wait(call: Call, nowMs: number, arrival: Arrival): boolean {
    const place = new Place(this, call, arrival);
    place.sinceMs = nowMs;
    const turnedAway = this.#limiter.wait(place, nowMs);
    // It may have been admitted at once.
    if (place.link !== undefined) {
      this.#waitingWeight += place.weight;
      place.attach(nowMs);
    }
    if (turnedAway !== undefined) this.turnAway(turnedAway, nowMs, "full");
    if (place === this.#limiter.first) this.#armLine(nowMs);
    return turnedAway !== place;
  }

  /** Nothing starts for `pauseMs` and a little. Of several pauses the one that ends last holds. */
  pause(pauseMs: number, nowMs: number): boolean {
    // The chance to end later was drawn with the pause that is on; a new draw for each of many
    // answers that say the same would only ever prolong it.
    if (nowMs + pauseMs <= this.#pausedUntilMs) return false;
    this.#pausedUntilMs = nowMs + pauseMs * (1 + JITTER * this.#random.next());
    for (const place of this.#limiter.waiters())
      if (place.isInVain(this.#pausedUntilMs)) this.refuse(place, nowMs, "in-vain");
    return true;
  }

  /** Ends the pause before its time; `handOver` is to follow. Answers whether one was on. */
  endPause(nowMs: number): boolean {
    const wasPaused = nowMs < this.#pausedUntilMs;
    this.#pausedUntilMs = 0;
    // Whoever ends a pause knows better than the word that it came from.
    if (wasPaused) this.#quotaPace = new QuotaPace(nowMs);
    return wasPaused;
  }

  /** Lets in whoever can be let in. To be called when anything has changed for the better. */
  handOver(nowMs: number): void {
    if (this.#isClosed || this.#limiter.waiting === 0) return;
    this.#takeBack(nowMs);
    this.#limiter.handOver(nowMs);
    this.#armLine(nowMs);
  }

  /** A call was served in this time. */
  onServed(nowMs: number, rttMs: number): void {
    this.#serviceMs.update(rttMs);
    this.#quotaPace.onServed(nowMs);
  }

  /** The peer turned a call away that started then, and asked for the pause that is on. */
  onTold(nowMs: number, startedAtMs: number): void {
    this.#quotaPace.onTold(nowMs, this.pausedForMs(nowMs), startedAtMs);
  }

  /** A permit has come back and has been handed on if it could be. */
  onPermitBack(nowMs: number): void {
    if (this.#limiter.waiting > 0) this.#armLine(nowMs);
  }

  /**
   * From its instant on the permit goes to whoever needs it; at the latest it is given up with the
   * next one, so that those nobody needs do not pile up.
   */
  loosen(permit: LoosePermit, nowMs: number): void {
    this.#takeBack(nowMs);
    this.#loose.add(permit);
    // Whoever waits already has to be woken for it.
    if (this.#limiter.waiting > 0) this.#armLine(nowMs);
  }

  tighten(permit: LoosePermit): void {
    this.#loose.remove(permit);
  }

  /** Whether forgetting it would change nothing for anybody. */
  isIdle(nowMs: number): boolean {
    this.#takeBack(nowMs);
    // A rate that does not say was passed in, and outlives the gate.
    const isRateFull = this.#rate?.isFull?.(nowMs) !== false;
    return this.inFlight === 0 && this.waiting === 0 && nowMs >= this.#pausedUntilMs && isRateFull;
  }

  close(why: unknown): void {
    this.#isClosed = true;
    this.alarms.clear(this.#lineAlarm);
    for (const place of this.#limiter.waiters()) this.giveUp(place, why, "closed");
  }

  /** A place is not in line any more. */
  onGone(place: Place): void {
    this.#waitingWeight -= place.weight;
    if (this.#limiter.waiting === 0) this.alarms.clear(this.#lineAlarm);
  }

  /** Takes a call out of the line and tells its caller why. */
  giveUp(place: Place, why: unknown, leftBecause: LeftBecause): void {
    const nowMs = this.#timer.now();
    if (!this.#limiter.cancel(place, nowMs)) return;
    place.detach();
    this.onGone(place);
    // The next may want less, so its turn may come sooner.
    this.#armLine(nowMs);
    place.arrival.onGivenUp(why, leftBecause);
  }

  /** Takes a call out of the line and tells its caller what held it. */
  refuse(place: Place, nowMs: number, refusedAt: RefusedAt): void {
    if (!this.#limiter.cancel(place, nowMs)) return;
    this.turnAway(place, nowMs, refusedAt);
    this.#armLine(nowMs);
  }

  /** Tells the caller of a place that is out of the line what held it. */
  turnAway(place: Place, nowMs: number, refusedAt: RefusedAt): void {
    if (place.isAttached) {
      place.detach();
      this.onGone(place);
    }
    place.arrival.onRefused(this.refusalFor(place, nowMs), refusedAt);
  }

  #admit(weight: number, nowMs: number): boolean {
    if (nowMs < this.#pausedUntilMs || this.#isClosed) return false;
    if (this.#quotaPace.pauseMs(nowMs) > 0) return false;
    if (this.#busy !== undefined && this.#busy.pauseMs(nowMs) > 0) return false;
    if (this.#rate?.tryTake(weight, nowMs) === false) return false;
    this.#busy?.trySend(nowMs);
    this.#quotaPace.onStart(nowMs);
    return true;
  }

  #hold(weight: number, ahead: number, nowMs: number): Hold {
    let reason: Reason = "retry-after";
    let leftMs = Math.max(this.pausedForMs(nowMs), this.#quotaPace.pauseMs(nowMs));
    if (this.#rate !== undefined) {
      const { reason: rateReason, countMax = weight } = this.#rate;
      const rateMs = this.#rate.pauseMs(Math.min(weight, countMax) + ahead, nowMs);
      if (rateMs > leftMs) {
        reason = rateReason;
        leftMs = rateMs;
      }
    }
    const busyMs = this.#busy?.pauseMs(nowMs) ?? 0;
    if (busyMs > leftMs) {
      reason = "peer-busy";
      leftMs = busyMs;
    }
    const paceMs = this.#limiter.pauseMs(nowMs);
    if (paceMs > leftMs) {
      reason = "concurrency";
      leftMs = paceMs;
    }
    if (leftMs > 0) return { reason, leftMs };
    const hasRoom = this.#limiter.hasRoom(weight) && ahead === 0;
    return { reason: "concurrency", leftMs: hasRoom ? 0 : undefined };
  }

  /** When the end of the line gets its permits, judged by how long calls have taken. */
  #turnInMs(weight: number): number | undefined {
    const meanMs = this.#serviceMs.mean;
    if (meanMs === undefined) return undefined;
    return Math.ceil((meanMs * (this.#waitingWeight + weight)) / this.#limiter.limit);
  }

  #takeBack(nowMs: number): boolean {
    let tookAny = false;
    for (;;) {
      const first = this.#loose.first;
      if (first === undefined || first.dueMs > nowMs) return tookAny;
      this.#loose.remove(first);
      first.takeBack(nowMs);
      tookAny = true;
    }
  }

  #armLine(nowMs: number): void {
    const first = this.#limiter.first;
    if (first === undefined || this.#isClosed) return;
    const { leftMs } = this.#hold(first.weight, 0, nowMs);
    const dueMs = leftMs === undefined ? this.#loose.first?.dueMs : nowMs + leftMs;
    if (dueMs === undefined) return;
    // One that is set for too early only makes the line look once more.
    if (this.#lineAlarm.place !== undefined && this.#lineAlarm.dueMs <= dueMs) return;
    this.alarms.clear(this.#lineAlarm);
    this.#lineAlarm.dueMs = Math.max(dueMs, nowMs + LOOK_AGAIN_MS);
    this.alarms.set(this.#lineAlarm, nowMs);
  }
}

class LineAlarm implements Sleeper {
  dueMs = 0;
  place: number | undefined;
  readonly ring: (nowMs: number) => void;

  constructor(ring: (nowMs: number) => void) {
    this.ring = ring;
  }
}
