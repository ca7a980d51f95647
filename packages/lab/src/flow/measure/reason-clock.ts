import type { ProducerThrottlingReason } from "@sluice/pulsar";
import type { Reason } from "@sluice/core";

/** Ours, or one of a newer broker. */
export type ThrottledReason = Reason | ProducerThrottlingReason;

/** Adds up for how long something was throttled, by reason. */
export class ReasonClock {
  readonly #totalsMs = new Map<ThrottledReason, number>();
  #reason: ThrottledReason | undefined;
  #sinceMs = 0;

  /** From now on the reason is this; undefined for none. */
  set(reason: ThrottledReason | undefined, nowMs: number): void {
    if (reason === this.#reason) return;
    this.#add(nowMs);
    this.#reason = reason;
    this.#sinceMs = nowMs;
  }

  /** Milliseconds by reason, up to the last change. */
  get totalsMs(): ReadonlyMap<ThrottledReason, number> {
    return this.#totalsMs;
  }

  stop(nowMs: number): void {
    this.set(undefined, nowMs);
  }

  #add(nowMs: number): void {
    const reason = this.#reason;
    if (reason === undefined || nowMs === this.#sinceMs) return;
    this.#totalsMs.set(reason, (this.#totalsMs.get(reason) ?? 0) + nowMs - this.#sinceMs);
  }
}
