import type { Permit } from "@sluice/core";
import type { Call } from "../options/call-options.ts";
import type { Refusal, RefusedAt } from "../error/refusal.ts";
import type { GateEvents } from "../event/gate-events.ts";
import type { AdmissionQueue } from "./admission-queue.ts";
import type { Hold } from "./holds.ts";
import type { WaitHandler } from "../permit/wait-handler.ts";

export interface GateAdmissionOptions {
  readonly queue: AdmissionQueue;
  /** Undefined if there are no observers. */
  readonly events: GateEvents | undefined;
  readonly isShadow: boolean;
  readonly maxWaiting: number;
}

/**
 * Admits, queues or refuses the calls of a gate, with an event for each decision. In shadow mode every call
 * is admitted, and the events tell what would have become of it.
 */
export class GateAdmission {
  readonly #queue: AdmissionQueue;
  readonly #events: GateEvents | undefined;
  readonly #isShadow: boolean;
  readonly #hasQueue: boolean;
  /** Permits of shadow mode whose calls were not charged. */
  readonly #forced = new WeakSet<Permit>();

  constructor({ queue, events, isShadow, maxWaiting }: GateAdmissionOptions) {
    this.#queue = queue;
    this.#events = events;
    this.#isShadow = isShadow;
    this.#hasQueue = maxWaiting > 0;
  }

  /** Whether the deadline has passed before the call came, as after a retry that woke too late. */
  isTooLate({ deadlineAtMs }: Call, nowMs: number): boolean {
    return !this.#isShadow && deadlineAtMs !== undefined && deadlineAtMs <= nowMs;
  }

  /** Whether the rates were charged for this permit. */
  isCharged(permit: Permit): boolean {
    return !(this.#isShadow && this.#forced.has(permit));
  }

  /** A permit at once, if there is one. */
  enter(call: Call, nowMs: number): Permit | undefined {
    const permit = this.#queue.tryEnter(call, nowMs);
    if (permit !== undefined) {
      this.#events?.admitted(permit, 0);
      return permit;
    }
    if (!this.#isShadow) return undefined;
    this.#reportShadow(call, nowMs);
    const forced = this.#queue.forceEnter(call, nowMs);
    this.#forced.add(forced);
    this.#events?.admitted(forced, 0);
    return forced;
  }

  /** Waits in the queue, unless the call would wait in vain or its caller would not wait. */
  waitFor(call: Call, nowMs: number, handler: WaitHandler): void {
    const refusedAt = this.#refusedAt(call, nowMs);
    if (refusedAt !== undefined) {
      handler.onRefused(this.refuse(call, nowMs, refusedAt));
      return;
    }
    const events = this.#events;
    if (events === undefined) {
      this.#queue.wait(call, nowMs, handler);
      return;
    }
    const hold = this.#queue.holds.ofNewcomer(call, nowMs);
    if (this.#queue.wait(call, nowMs, events.about(handler))) events.held(hold, nowMs);
  }

  refuse(call: Call, nowMs: number, refusedAt: RefusedAt): Refusal {
    // A shadow gate lets the call start all the same, so it does not count as refused by a rate.
    const refusal = this.#isShadow
      ? this.#queue.holds.refusalOf(call, nowMs, refusedAt)
      : this.#queue.refusalFor(call, nowMs, refusedAt);
    this.#events?.refused(refusal);
    return refusal;
  }

  /** Why a call that finds no permit is refused without waiting; undefined if it may wait. */
  #refusedAt(call: Call, nowMs: number): RefusedAt | undefined {
    if (!call.wait) return "door";
    if (this.#queue.isPausedTooLong(call, nowMs)) return "max-pause";
    if (call.deadlineAtMs === undefined) return undefined;
    const hold = this.#queue.holds.ofNewcomer(call, nowMs);
    return isInVain(call, hold, nowMs) && !isEstimate(call, hold) ? "in-vain" : undefined;
  }

  /**
   * Reports what would have become of a call. The queue is not simulated, since all calls have gone
   * ahead: only a queue without any room is found full.
   */
  #reportShadow(call: Call, nowMs: number): void {
    const events = this.#events;
    if (events === undefined) return;
    const refusedAt = this.#refusedAt(call, nowMs) ?? (this.#hasQueue ? undefined : "full");
    if (refusedAt === undefined) events.held(this.#queue.holds.ofNewcomer(call, nowMs), nowMs);
    else this.refuse(call, nowMs, refusedAt);
  }
}

function isInVain({ deadlineAtMs }: Call, { leftMs }: Hold, nowMs: number): boolean {
  return deadlineAtMs !== undefined && leftMs !== undefined && nowMs + leftMs > deadlineAtMs;
}

/**
 * Whether the calls before this one may turn out to cost less, so that its turn may come sooner than the hold
 * says. An estimate of an LLM call is often the most that it may cost: judged by that, most calls with a
 * deadline would be refused at a rate that serves all of them.
 */
function isEstimate({ cost, costOf }: Call, { reason, rate }: Hold): boolean {
  if (costOf === undefined || rate === undefined || reason === "retry-after") return false;
  return cost?.[rate] !== undefined;
}
