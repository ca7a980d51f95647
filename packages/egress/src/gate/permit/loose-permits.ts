import { AlarmHeap } from "@sluice/core/internal";
import type { Alarm } from "@sluice/core/internal";

/** A permit that is taken back if it is still out at its instant and a call needs it. */
export interface LoosePermit extends Alarm {
  takeBack(nowMs: number): void;
}

/** The permits that may be taken back, the soonest first. */
export class LoosePermits {
  readonly #permits = new AlarmHeap<LoosePermit>();

  /** When the first may be taken back; undefined if there is none. */
  get firstDueMs(): number | undefined {
    return this.#permits.first?.dueMs;
  }

  /** Adds a permit, and takes back those that are due, so that permits of unread bodies do not pile up. */
  add(permit: LoosePermit, nowMs: number): void {
    this.takeBack(nowMs);
    this.#permits.add(permit);
  }

  remove(permit: LoosePermit): void {
    this.#permits.remove(permit);
  }

  /** Takes back all permits that are due; whether there was one. */
  takeBack(nowMs: number): boolean {
    let tookAny = false;
    for (;;) {
      const { first } = this.#permits;
      if (first === undefined || first.dueMs > nowMs) return tookAny;
      this.#permits.remove(first);
      first.takeBack(nowMs);
      tookAny = true;
    }
  }
}
