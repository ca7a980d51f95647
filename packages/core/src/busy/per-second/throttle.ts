import { systemClock } from "../../system.ts";
import { SECOND_MS } from "../../time.ts";
import type { Clock } from "../../time.ts";
import { OPEN, requireSentAt } from "../busy-throttle.ts";
import type { BusyState, BusyThrottle } from "../busy-throttle.ts";
import type { BusyRule, BusySecond } from "./rule.ts";

/**
 * Quiet seconds that one call accounts for at most. Raised, the first call after a long freeze takes
 * longer (a second costs some nanoseconds). It is 28 hours: `{ value: 200 }` recovers fully in 14.
 */
const QUIET_SECONDS_MAX = 100_000;

const QUIET: BusySecond = { sent: 0, busy: 0 };

export interface PerSecondBusyThrottleOptions {
  readonly rule: BusyRule;
  /**
   * Where instants come from.
   *
   * @default the monotonic clock of the system
   */
  readonly clock?: Clock;
}

/**
 * A throttle by a rule that looks at whole seconds. Seconds that have passed are accounted for on the
 * next call, and so are the quiet ones between, so that a process that was frozen finds its limit
 * recovered.
 *
 * @example
 * const throttle = new PerSecondBusyThrottle({ rule: tableRule({ factor: 4 }) });
 * if (!throttle.trySend()) throw new Error(`busy; try again in ${throttle.pauseMs()} ms`);
 */
export class PerSecondBusyThrottle implements BusyThrottle {
  readonly #clock: Clock;
  readonly #rule: BusyRule;
  readonly #startedAtMs: number = 0;
  #state: BusyState = OPEN;
  /** The second that is being counted, from the start. */
  #second = 0;
  #sent = 0;
  #busy = 0;
  #sentBefore = 0;

  constructor({ rule, clock = systemClock }: PerSecondBusyThrottleOptions) {
    this.#clock = clock;
    this.#rule = rule;
    this.#startedAtMs = clock.now();
  }

  /** The limit is that of this second. */
  state(nowMs: number = this.#clock.now()): BusyState {
    this.#catchUp(nowMs);
    return this.#state;
  }

  /** To the start of the first second whose limit is at least 1, if nothing more is answered busy. */
  pauseMs(nowMs: number = this.#clock.now()): number {
    this.#catchUp(nowMs);
    if (this.#hasRoom()) return 0;
    let { limit } = this.#stateAfter();
    let second = this.#second + 1;
    while (limit !== undefined && limit < 1 && second - this.#second < QUIET_SECONDS_MAX) {
      limit = this.#rule(limit, QUIET).limit;
      second++;
    }
    return this.#startedAtMs + second * SECOND_MS - nowMs;
  }

  trySend(nowMs: number = this.#clock.now()): boolean {
    this.#catchUp(nowMs);
    if (!this.#hasRoom()) return false;
    this.#sent++;
    return true;
  }

  /** A busy answer counts in the second in which it comes, if that or the last had a request. */
  onAnswer(sentAtMs: number, isBusy: boolean, nowMs: number = this.#clock.now()): void {
    requireSentAt(sentAtMs);
    this.#catchUp(nowMs);
    if (isBusy) this.#busy++;
  }

  #hasRoom(): boolean {
    const { limit } = this.#state;
    return limit === undefined || this.#sent + 1 <= limit;
  }

  /** The state after the second that is being counted, as far as it has been counted. */
  #stateAfter(): BusyState {
    // More busy answers than requests: they are late, and speak of the second before.
    const sent = this.#busy > this.#sent ? Math.max(this.#sent, this.#sentBefore) : this.#sent;
    return this.#rule(this.#state.limit, { sent, busy: Math.min(this.#busy, sent) });
  }

  /** Asking may call this too: the state of an instant is the same, however late it is computed. */
  #catchUp(nowMs: number): void {
    const second = Math.floor((nowMs - this.#startedAtMs) / SECOND_MS);
    if (second <= this.#second) return;
    this.#state = this.#stateAfter();
    this.#sentBefore = second === this.#second + 1 ? this.#sent : 0;
    this.#sent = 0;
    this.#busy = 0;
    const quietSeconds = Math.min(second - this.#second - 1, QUIET_SECONDS_MAX);
    for (let i = 0; i < quietSeconds; i++) {
      const { limit } = this.#state;
      this.#state = this.#rule(limit, QUIET);
      // If one quiet second changes nothing, no number of them does.
      if (this.#state.limit === limit) break;
    }
    this.#second = second;
  }
}
