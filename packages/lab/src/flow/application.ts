import { SECOND_MS } from "@sluice/core/internal";
import type { Random } from "@sluice/core";
import type { Producer, ProducerThrottlingReason } from "@sluice/pulsar";
import type { VirtualTime } from "../simulation/engine/virtual-time.ts";
import type { ProducerFigures } from "./measure/producer-figures.ts";
import type { ProducerPlan } from "./producer-plan.ts";

export interface ApplicationWorld {
  readonly time: VirtualTime;
  readonly random: Random;
  /** When the scenario begins. */
  readonly startMs: number;
  readonly figures: ProducerFigures;
}

/**
 * A program that sends messages at a steady pace: one batch at a random instant of each interval, so that
 * producers with equal or related paces do not keep in step. Like a program that waits for `send`, it stops while
 * `maxPending` messages have no receipt, and does not make up for it afterwards.
 */
export class Application {
  readonly plan: ProducerPlan;
  readonly figures: ProducerFigures;
  readonly #time: VirtualTime;
  readonly #startMs: number;
  readonly #producer: Producer;
  readonly #data: Buffer;
  readonly #random: Random;
  readonly #intervalMs: number;
  /** When the interval of the next batch begins. */
  #intervalAtMs: number;
  #pending = 0;
  #isBlocked = false;
  #hasLeft = false;
  #isKilled = false;

  constructor(
    plan: ProducerPlan,
    producer: Producer,
    { time, startMs, figures, random }: ApplicationWorld,
  ) {
    this.plan = plan;
    this.figures = figures;
    this.#time = time;
    this.#startMs = startMs;
    this.#producer = producer;
    this.#data = Buffer.alloc(plan.bytes);
    this.#random = random;
    this.#intervalMs = (SECOND_MS * plan.batch) / plan.perSecond;
    this.#intervalAtMs = startMs + plan.fromS * SECOND_MS;
    this.#plan();
  }

  /** Whether the application has stopped before its time. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Why the client keeps its messages back; undefined if it does not. */
  get throttledFor(): ProducerThrottlingReason | undefined {
    return this.#isKilled ? undefined : this.#producer.throttling?.reason;
  }

  /** Stops sending and closes the producer, which first sends what it has. */
  leave(): void {
    this.#hasLeft = true;
    void this.#producer.close();
  }

  /** Ends at once. Messages without a receipt count as failed. */
  kill(): void {
    this.#hasLeft = true;
    this.#isKilled = true;
    this.figures.failed += this.#pending;
    this.#pending = 0;
  }

  #send(): void {
    const { plan } = this;
    const isOver = this.#time.now() >= this.#startMs + plan.untilS * SECOND_MS;
    if (this.#hasLeft || isOver || this.#producer.isClosed) return;
    // One batch may wait in the client for room.
    this.#isBlocked = this.#pending >= plan.maxPending;
    if (this.#isBlocked) return;
    for (let i = 0; i < plan.batch; i++) this.#sendOne();
    this.#intervalAtMs += this.#intervalMs;
    this.#plan();
  }

  #plan(): void {
    const atMs = this.#intervalAtMs + this.#random.next() * this.#intervalMs;
    this.#time.at(atMs, () => this.#send());
  }

  #sendOne(): void {
    const sentAtMs = this.#time.now();
    this.#pending++;
    this.figures.sent++;
    this.#producer.send({ data: this.#data }).then(
      (id) =>
        this.#onSettled(() => {
          const nowMs = this.#time.now();
          this.figures.onAccepted(id, nowMs - this.#startMs, nowMs - sentAtMs);
        }),
      () => this.#onSettled(() => this.figures.failed++),
    );
  }

  #onSettled(count: () => void): void {
    if (this.#isKilled) return;
    this.#pending--;
    count();
    if (!this.#isBlocked || this.#pending >= this.plan.maxPending) return;
    this.#isBlocked = false;
    this.#intervalAtMs = this.#time.now();
    // In a turn of its own: a timeout fails all pending messages at once, and then the next are sent.
    this.#time.after(0, () => this.#send());
  }
}
