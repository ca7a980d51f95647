import type { Reason } from "../reason.ts";

/**
 * What one call changed:
 * - `paused`, `resumed`: the first hold of all began, the last one ended;
 * - `added`, `lifted`: the first hold for this reason began, or its last ended, while others last;
 * - `counted`: the reason held before and holds after;
 * - `ignored`: a release without a throttle, which changes nothing.
 */
export type TrackerChange = "paused" | "resumed" | "added" | "lifted" | "counted" | "ignored";

/**
 * Counts the reasons that throttle one connection. Reading stops with the first reason and resumes
 * only when the last has ended, so that independent limits can throttle the same connection.
 * A reason that was throttled several times must be released as often.
 *
 * @example
 * const tracker = new ThrottleTracker();
 * if (tracker.throttle("topic-rate") === "paused") socket.pause();
 * if (tracker.release("topic-rate") === "resumed") socket.resume();
 */
export class ThrottleTracker {
  readonly #counts = new Map<Reason, number>();

  get isThrottled(): boolean {
    return this.#counts.size > 0;
  }

  /** The reasons that hold now, oldest first. */
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
