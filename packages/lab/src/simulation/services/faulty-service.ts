import type { Random } from "@sluice/core";
import type { EventLoop } from "../engine/event-loop.ts";
import type { Answer, Arrivals, Service } from "./service.ts";

/** A time in which the service answers nothing. */
export interface Downtime {
  readonly fromS: number;
  readonly untilS: number;
}

export interface Faults {
  /** Fraction of the attempts that is lost, whatever the load. */
  readonly lossRatio: number;
  readonly down: readonly Downtime[];
  /** Delay of the busy answer to a lost attempt. Undefined: no answer, so the client times out. */
  readonly refuseMs: number | undefined;
}

/**
 * A service that loses attempts for reasons other than load: at random, and all of them while it is
 * down. Attempts that are in the service when it goes down are lost too.
 *
 * @example
 * const faults = { lossRatio: 0.05, down: [{ fromS: 20, untilS: 23 }], refuseMs: 1 };
 * const service = new FaultyService(loop, new SeededRandom(1), inner, faults);
 */
export class FaultyService implements Service {
  readonly #loop: EventLoop;
  readonly #random: Random;
  readonly #inner: Service;
  readonly #faults: Faults;

  constructor(loop: EventLoop, random: Random, inner: Service, faults: Faults) {
    this.#loop = loop;
    this.#random = random;
    this.#inner = inner;
    this.#faults = faults;
  }

  get seen(): Arrivals {
    return this.#inner.seen;
  }

  arrive(answer: Answer): void {
    const { lossRatio } = this.#faults;
    const arrivedAtMs = this.#loop.now();
    if (this.#isDownSince(arrivedAtMs) || (lossRatio > 0 && this.#random.next() < lossRatio)) {
      this.#lose(answer);
      return;
    }
    this.#inner.arrive((served) => {
      if (this.#isDownSince(arrivedAtMs)) this.#lose(answer);
      else answer(served);
    });
  }

  /** Whether the service is down, or was at any time since `fromMs`. */
  #isDownSince(fromMs: number): boolean {
    const nowMs = this.#loop.now();
    return this.#faults.down.some(
      ({ fromS, untilS }) => nowMs >= fromS * 1000 && fromMs < untilS * 1000,
    );
  }

  #lose(answer: Answer): void {
    const { refuseMs } = this.#faults;
    if (refuseMs !== undefined) this.#loop.after(refuseMs, () => answer("busy"));
  }
}
