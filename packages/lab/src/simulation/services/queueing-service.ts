import { ConfigError } from "@sluice/core";
import type { Random } from "@sluice/core";
import { Fifo } from "@sluice/core/internal";
import { drawExponential, drawLognormal } from "../engine/draw.ts";
import type { EventLoop } from "../engine/event-loop.ts";
import { Arrivals } from "./service.ts";
import type { Answer, Service } from "./service.ts";

/**
 * Most attempts in a queue without a bound. Attempts that timed out stay in it, so it can grow for
 * ever.
 */
const QUEUE_MAX = 3_000_000;

export interface QueueingServiceOptions {
  readonly workers: number;
  /** Mean time of a worker for one attempt. */
  readonly serviceMs: number;
  readonly distribution: "constant" | "exponential" | "lognormal";
  /** Standard deviation ÷ mean; for `lognormal` only. */
  readonly cv: number;
  /** Most attempts that wait for a worker. Default: no bound. */
  readonly queue: number | undefined;
  /** Delay of the busy answer when the queue is full. */
  readonly rejectMs: number;
  readonly schedule: readonly ServiceChange[];
}

/** From `atS` on the service has this number of workers, or this mean time. */
export interface ServiceChange {
  readonly atS: number;
  readonly workers?: number | undefined;
  readonly serviceMs?: number | undefined;
}

/**
 * Workers behind one first-come queue. An attempt that timed out at the client is served all the
 * same, because the service cannot know.
 *
 * @example
 * const service = new QueueingService(loop, new SeededRandom(1), {
 *   workers: 20,
 *   serviceMs: 50,
 *   distribution: "exponential",
 *   cv: 1,
 *   queue: 100,
 *   rejectMs: 1,
 *   schedule: [{ atS: 20, workers: 5 }],
 * });
 */
export class QueueingService implements Service {
  readonly seen: Arrivals = new Arrivals();
  readonly #loop: EventLoop;
  readonly #random: Random;
  readonly #options: QueueingServiceOptions;
  readonly #queue = new Fifo<Answer>();
  #workers = 0;
  #serviceMs = 0;
  #working = 0;

  constructor(loop: EventLoop, random: Random, options: QueueingServiceOptions) {
    this.#loop = loop;
    this.#random = random;
    this.#options = options;
    this.#workers = options.workers;
    this.#serviceMs = options.serviceMs;
    for (const change of options.schedule) loop.at(change.atS * 1000, () => this.#change(change));
  }

  arrive(answer: Answer): void {
    this.seen.enter(this.#loop.now());
    const { queue, rejectMs } = this.#options;
    if (this.#working < this.#workers) {
      this.#work(answer);
    } else if (queue === undefined || this.#queue.length < queue) {
      this.#refuseTooMany();
      this.#queue.push(answer);
    } else {
      // A refused attempt is not in the service while its answer is on the way.
      this.seen.leave(this.#loop.now());
      this.#loop.after(rejectMs, () => answer("busy"));
    }
  }

  #refuseTooMany(): void {
    if (this.#queue.length < QUEUE_MAX) return;
    throw new ConfigError(
      `too much is under way: more than ${QUEUE_MAX} attempts wait in the service; gave up ${this.#loop.now() / 1000} s into the run; give it a queue, more workers or fewer attempts`,
    );
  }

  #work(answer: Answer): void {
    this.#working++;
    this.#loop.after(this.#serviceMs * this.#draw(), () => {
      this.#working--;
      this.seen.leave(this.#loop.now());
      this.#takeNext();
      answer("ok");
    });
  }

  #takeNext(): void {
    while (this.#working < this.#workers) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      this.#work(next);
    }
  }

  #change({ workers, serviceMs }: ServiceChange): void {
    this.#workers = workers ?? this.#workers;
    this.#serviceMs = serviceMs ?? this.#serviceMs;
    this.#takeNext();
  }

  #draw(): number {
    const { distribution, cv } = this.#options;
    if (distribution === "constant") return 1;
    return distribution === "exponential"
      ? drawExponential(this.#random)
      : drawLognormal(this.#random, cv);
  }
}
