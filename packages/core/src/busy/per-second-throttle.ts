import type { Reason } from "../reason.ts";
import type { Clock } from "../time.ts";
import { LIMIT_MAX } from "./busy-rule.ts";
import type { BusyMove, BusyRule, BusySecond } from "./busy-rule.ts";
import type { BusyState, BusyThrottle } from "./busy-throttle.ts";

const SECOND_MS = 1000;

/** Quiet seconds that are accounted for at once: more than a day, and still no time to do. */
const QUIET_SECONDS_MAX = 100_000;

/**
 * A throttle by a rule that looks at whole seconds. Those that have passed are accounted for on
 * the next call, the quiet ones between as well, so a process that was frozen finds its limit
 * recovered.
 */
export class PerSecondBusyThrottle implements BusyThrottle {
  readonly #clock: Clock;
  readonly #rule: BusyRule;
  readonly #startedAtMs: number = 0;
  #limit: number = LIMIT_MAX;
  #move: BusyMove = "open";
  #second = 0;
  #sent = 0;
  #sentBefore = 0;
  #busy = 0;

  constructor(clock: Clock, rule: BusyRule) {
    this.#clock = clock;
    this.#rule = rule;
    this.#startedAtMs = clock.now();
  }

  /** The limit is that of this second. */
  state(nowMs: number = this.#clock.now()): BusyState {
    this.#catchUp(nowMs);
    return { limit: this.#limit, move: this.#move };
  }

  /** To the end of this second, if it has no room; the next may still have none. */
  pauseMs(nowMs: number = this.#clock.now()): number {
    this.#catchUp(nowMs);
    if (this.#sent + 1 <= this.#limit) return 0;
    return this.#startedAtMs + (this.#second + 1) * SECOND_MS - nowMs;
  }

  trySend(nowMs: number = this.#clock.now()): Reason | undefined {
    this.#catchUp(nowMs);
    if (this.#sent + 1 > this.#limit) return "peer-busy";
    this.#sent++;
    return undefined;
  }

  /** A busy answer counts in the second in which it comes, if that or the last had a request. */
  onAnswer(_sentAtMs: number, isBusy: boolean, nowMs: number = this.#clock.now()): void {
    this.#catchUp(nowMs);
    if (isBusy) this.#busy++;
  }

  #catchUp(nowMs: number): void {
    const second = Math.floor((nowMs - this.#startedAtMs) / SECOND_MS);
    if (second <= this.#second) return;
    // More answers than requests: they are late, and speak of the second before.
    const sent = this.#busy > this.#sent ? Math.max(this.#sent, this.#sentBefore) : this.#sent;
    this.#apply({ sent, busy: Math.min(this.#busy, sent) });
    this.#sentBefore = second === this.#second + 1 ? this.#sent : 0;
    this.#sent = 0;
    this.#busy = 0;
    const quietSeconds = Math.min(second - this.#second - 1, QUIET_SECONDS_MAX);
    for (let i = 0; i < quietSeconds; i++) {
      const before = this.#limit;
      this.#apply({ sent: 0, busy: 0 });
      // What one quiet second leaves as it was, no number of them changes.
      if (this.#limit === before) break;
    }
    this.#second = second;
  }

  #apply(second: BusySecond): void {
    const { limit, move } = this.#rule(this.#limit, second);
    this.#limit = limit;
    this.#move = move;
  }
}
