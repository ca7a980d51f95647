import { ThrottleTracker } from "@sluice/core";
import type { Reason } from "@sluice/core";
import type { Outbox } from "./effect.ts";

/** What stops reading besides the reasons that throttle a publisher. */
export type Obstacle =
  /** Credentials are being checked. */
  | "greeting"
  /** The client does not read what it is sent. */
  | "outbound"
  /** It sends commands faster than it may. */
  | "commands"
  /** The broker is about to close. */
  | "closing";

/**
 * Whether frames of this client may be taken: only while nothing speaks against it. It must be
 * asked before every frame, because one read may bring many.
 */
export class ReadGate {
  readonly #outbox: Outbox;
  readonly #tracker = new ThrottleTracker();
  readonly #obstacles = new Set<Obstacle>();

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  get isOpen(): boolean {
    return !this.#tracker.isThrottled && this.#obstacles.size === 0;
  }

  /** What holds it closed. */
  causes(): (Reason | Obstacle)[] {
    return [...this.#tracker.reasons(), ...this.#obstacles];
  }

  throttle(reason: Reason): void {
    this.#change(() => this.#tracker.throttle(reason));
  }

  release(reason: Reason): void {
    this.#change(() => this.#tracker.release(reason));
  }

  block(obstacle: Obstacle): void {
    this.#change(() => this.#obstacles.add(obstacle));
  }

  unblock(obstacle: Obstacle): void {
    this.#change(() => this.#obstacles.delete(obstacle));
  }

  #change(apply: () => void): void {
    const wasOpen = this.isOpen;
    apply();
    if (wasOpen === this.isOpen) return;
    this.#outbox.add({ kind: wasOpen ? "pauseReading" : "resumeReading" });
  }
}
