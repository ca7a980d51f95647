import type { Clock } from "@sluice/core";
import { Fifo } from "@sluice/core/internal";

export interface DeliveryTurnsOptions {
  /** Milliseconds that all subscriptions together may work in one turn of the event loop. */
  readonly turnMs: number;
}

/**
 * Shares the event loop between subscriptions: a message that 1,000 subscriptions deliver, or a client
 * that resumes 1,000 consumers at once, takes several turns, so that other clients get theirs between.
 */
export class DeliveryTurns {
  readonly #clock: Clock;
  readonly #nextTurn: () => Promise<void>;
  readonly #turnMs: number;
  readonly #waiting = new Fifo<() => void>();
  #isTurnPlanned = false;
  #turnEndsAtMs = 0;

  constructor(clock: Clock, nextTurn: () => Promise<void>, { turnMs }: DeliveryTurnsOptions) {
    this.#clock = clock;
    this.#nextTurn = nextTurn;
    this.#turnMs = turnMs;
  }

  /** Undefined if the caller may work now; else resolves when it may. */
  wait(): Promise<void> | undefined {
    const nowMs = this.#clock.now();
    if (!this.#isTurnPlanned) {
      this.#turnEndsAtMs = nowMs + this.#turnMs;
      this.#planTurn();
    }
    if (this.#waiting.length === 0 && nowMs < this.#turnEndsAtMs) return undefined;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #planTurn(): void {
    this.#isTurnPlanned = true;
    void this.#nextTurn().then(() => this.#turn());
  }

  async #turn(): Promise<void> {
    this.#isTurnPlanned = false;
    if (this.#waiting.length === 0) return;
    this.#planTurn();
    this.#turnEndsAtMs = this.#clock.now() + this.#turnMs;
    // Those that come back in this turn wait for the next one.
    for (let count = this.#waiting.length; count > 0; count--) {
      this.#waiting.shift()?.();
      // What was woken works before this goes on.
      await Promise.resolve();
      if (this.#clock.now() >= this.#turnEndsAtMs) return;
    }
  }
}
