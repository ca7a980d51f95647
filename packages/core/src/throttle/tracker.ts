import type { Reason } from "../reason.ts";

/**
 * What one change did:
 * - `paused`, `resumed`: the first reason of any kind came, the last one went;
 * - `added`, `lifted`: the first of its kind came, the last of its kind went, others hold;
 * - `counted`: the kind held before and holds after;
 * - `ignored`: a release without a throttle, which changes nothing.
 */
export type TrackerChange = "paused" | "resumed" | "added" | "lifted" | "counted" | "ignored";

/**
 * Counts the reasons that now throttle one connection. Reading stops on the first reason of any
 * kind and goes on only when the last has ended, so callers need not know who else throttles.
 * Every reason may be held several times, and is then ended as often.
 */
export class ThrottleTracker {
  readonly #counts = new Map<Reason, number>();

  get isThrottled(): boolean {
    return this.#counts.size > 0;
  }

  /** The reasons that hold, oldest first. */
  reasons(): Reason[] {
    return [...this.#counts.keys()];
  }

  throttle(reason: Reason): TrackerChange {
    const held = this.#counts.get(reason) ?? 0;
    this.#counts.set(reason, held + 1);
    if (held > 0) return "counted";
    return this.#counts.size === 1 ? "paused" : "added";
  }

  release(reason: Reason): TrackerChange {
    const held = this.#counts.get(reason);
    if (held === undefined) return "ignored";
    if (held > 1) {
      this.#counts.set(reason, held - 1);
      return "counted";
    }
    this.#counts.delete(reason);
    return this.isThrottled ? "lifted" : "resumed";
  }
}
