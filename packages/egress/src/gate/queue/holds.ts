import type { ConcurrencyLimiter, Reason } from "@sluice/core";
import { Ewma } from "@sluice/core/internal";
import type { Refusal, RefusedAt } from "../error/refusal.ts";
import type { Call } from "../options/call-options.ts";
import { NO_COSTS } from "../rate/rates.ts";
import type { Costs } from "../rate/rates.ts";
import type { Conditions } from "./conditions.ts";
import type { GateWaiter } from "./gate-waiter.ts";
import type { WaitingTotals } from "./waiting-totals.ts";

/** What holds a call back now. */
export interface Hold {
  readonly reason: Reason;
  /** The least time that it lasts, in ms; undefined if it depends on other calls, as with permits. */
  readonly leftMs: number | undefined;
  /** The rate that holds the call, or whose pause does, by its name. */
  readonly rate?: string;
}

/** What must be known of a call to say what holds it. */
export type Asking = Pick<Call, "weight" | "priority" | "costs" | "deadlineMs">;

export interface HoldsOptions {
  readonly conditions: Conditions;
  readonly limiter: ConcurrencyLimiter<GateWaiter>;
  readonly waiting: WaitingTotals;
  /** Whether the number of permits is limited. */
  readonly isLimited: boolean;
  readonly maxPauseMs: number;
}

/** Weight of the newest call in the mean time that calls take. Raised, `retryAfterMs` follows single calls. */
const SERVICE_ALPHA = 0.1;

/** Tells what holds the calls of a queue, and for how long. Changes nothing. */
export class Holds {
  readonly #options: HoldsOptions;
  readonly #serviceMs = new Ewma(SERVICE_ALPHA);

  constructor(options: HoldsOptions) {
    this.#options = options;
  }

  /**
   * What holds back a call that came now and went to the end of the queue. The costs of all waiters
   * count as taken before it, unless the call would overtake some of them.
   */
  ofNewcomer({ weight, priority, costs }: Asking, nowMs: number): Hold {
    const { limiter, waiting } = this.#options;
    const { last } = limiter;
    const isFirst = last === undefined || last.priority < priority;
    return this.#hold(weight, costs, isFirst ? NO_COSTS : waiting.costs, nowMs, isFirst);
  }

  /** What holds back the first waiter; `leftMs` is 0 if nothing does. Undefined if there is no waiter. */
  ofFirst(nowMs: number): Hold | undefined {
    const { first } = this.#options.limiter;
    return first && this.#hold(first.weight, first.call.costs, NO_COSTS, nowMs, true);
  }

  /** What holds back the first waiter, or a plain call that came now; undefined if nothing does. */
  now({ weight, costs }: Asking, nowMs: number): Hold | undefined {
    const hold = this.ofFirst(nowMs) ?? this.#hold(weight, costs, NO_COSTS, nowMs, true);
    return hold.leftMs === 0 ? undefined : hold;
  }

  /** Whether the first waiter waits for the tokens of this rate. */
  isFirstWaitingFor(rate: string, nowMs: number): boolean {
    const hold = this.ofFirst(nowMs);
    return hold?.rate === rate && hold.reason !== "retry-after";
  }

  /** The refusal of a call, if it were refused now. */
  refusalOf(call: Asking, nowMs: number, refusedAt: RefusedAt): Refusal {
    const { reason, leftMs, rate } = this.ofNewcomer(call, nowMs);
    const retryAfterMs = leftMs ?? this.#turnInMs(call.weight);
    const detail = {
      waitingFor: this.#describe(reason, rate),
      waiting: this.#options.limiter.waiting,
      deadlineMs: call.deadlineMs,
      maxPauseMs: this.#options.maxPauseMs,
    };
    return { reason, retryAfterMs, rate, refusedAt, detail };
  }

  /** A call was served in this time. */
  onServed(rttMs: number): void {
    this.#serviceMs.update(rttMs);
  }

  #hold(weight: number, costs: Costs, ahead: Costs, nowMs: number, isFirst: boolean): Hold {
    const { conditions, limiter } = this.#options;
    let hold = conditions.hold(costs, ahead, nowMs);
    const paceMs = limiter.pauseMs(weight, nowMs) ?? 0;
    if (paceMs > hold.leftMs) hold = { reason: "concurrency", leftMs: paceMs };
    if (hold.leftMs > 0) return hold;
    const hasRoom = limiter.hasRoom(weight) && (isFirst || limiter.waiting === 0);
    return { reason: "concurrency", leftMs: hasRoom ? 0 : undefined };
  }

  #describe(reason: Reason, rate: string | undefined): string {
    const { conditions, limiter, isLimited } = this.#options;
    if (reason !== "concurrency" || !isLimited) return conditions.describe(reason, rate);
    return `a permit (concurrency limit ${limiter.limit})`;
  }

  /** When the last waiter gets its permits, judged by how long calls have taken. */
  #turnInMs(weight: number): number | undefined {
    const meanMs = this.#serviceMs.mean;
    if (meanMs === undefined) return undefined;
    const { limiter, waiting } = this.#options;
    return Math.ceil((meanMs * (waiting.weight + weight)) / limiter.limit);
  }
}
