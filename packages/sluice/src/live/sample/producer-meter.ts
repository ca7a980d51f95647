import type { Reason } from "@sluice/core";
import type { PublishingProducer } from "@sluice/gateway/admin";
import { MovingRate } from "./moving-rate.ts";

/** A producer that had to wait within this time is not free: what it sends then is what it gets. */
const FREE_AFTER_MS = 1_000;

/**
 * Time from the start of a wait in which what a producer sends is still its own choice, ms: until its client's window is
 * full. Raised, the burst after a first pause counts, too.
 */
const ONSET_MS = 1_000;

/** Weight of the newest interval in what a producer sends while it waits: a pause and the burst after it even out. */
const OFFERED_ALPHA = 0.1;

const MS_PER_SECOND = 1_000;

/**
 * The rates of one producer between two samples, from counters that the ingress keeps anyway.
 *
 * While a producer waits nobody knows what it would send, as its client fills its window and then sends as fast as
 * it is served. What it asks for is then the most that is known: its last free rate, the rate at which it ran into the
 * limit, or what it has sent during the wait on average.
 */
export class ProducerMeter {
  readonly producer: PublishingProducer;
  /** Messages and bytes a second that it gets, as the mean of the last seconds. */
  rate = 0;
  byteRate = 0;
  /** Messages a second that it asks for; undefined before it was seen twice. */
  asked: number | undefined;
  isAskedAtLeast = false;
  /** What it waits for; undefined while it flows. */
  reason: Reason | undefined;
  /** Whether a pause that it was told has not ended. */
  isTold = false;
  readonly #messages: MovingRate;
  readonly #bytes: MovingRate;
  /** What it sends while it is free. */
  #free: MovingRate;
  #offered = 0;
  #released = 0;
  #waitedAtMs = -Infinity;
  /** When it was seen free last. */
  #freeAtMs = -Infinity;
  #offeredMean = 0;
  /** What it has sent, over two samples: one alone may be cut in the middle of a tick of its client. */
  #before = { offered: 0, seconds: 0 };

  constructor(producer: PublishingProducer, sinceMs: number) {
    this.producer = producer;
    this.#messages = new MovingRate(sinceMs, 0);
    this.#bytes = new MovingRate(sinceMs, 0);
    this.#free = new MovingRate(sinceMs, 0);
  }

  /** Ends an interval of this length. */
  sample(nowMs: number, intervalMs: number): void {
    const { flow, aware } = this.producer;
    const seconds = intervalMs / MS_PER_SECOND;
    const sent = Math.max(0, flow.offeredMessages - this.#offered);
    const offered = sent / seconds;
    this.rate = this.#messages.next(nowMs, flow.offeredMessages - flow.heldMessages);
    this.byteRate = this.#bytes.next(nowMs, flow.offeredBytes - flow.heldCostBytes);
    this.isTold = aware !== undefined && aware.untilMs > nowMs;
    this.reason = flow.level?.reason ?? (this.isTold ? aware?.toldLevel?.reason : undefined);
    if (this.reason !== undefined || flow.released !== this.#released) this.#waitedAtMs = nowMs;
    this.isAskedAtLeast = nowMs - this.#waitedAtMs < FREE_AFTER_MS;
    if (this.isAskedAtLeast) {
      this.#offeredMean += (offered - this.#offeredMean) * OFFERED_ALPHA;
      // One that waits since it opened was never free; then its first window is all that is known.
      this.asked = Math.max(this.asked ?? offered, this.#offeredMean);
      if (nowMs - this.#freeAtMs <= ONSET_MS) {
        const { offered: sentBefore, seconds: secondsBefore } = this.#before;
        this.asked = Math.max(this.asked, (sent + sentBefore) / (seconds + secondsBefore));
      }
      this.#free = new MovingRate(nowMs, flow.offeredMessages);
    } else {
      this.#freeAtMs = nowMs;
      this.asked = this.#free.next(nowMs, flow.offeredMessages);
      this.#offeredMean = this.asked;
    }
    this.#before = { offered: sent, seconds };
    this.#offered = flow.offeredMessages;
    this.#released = flow.released;
  }
}

/** The meters of all producers that are open. */
export class ProducerMeters {
  #meters = new Map<PublishingProducer["flow"], ProducerMeter>();
  #sampledAtMs: number | undefined;

  /** Ends an interval of every producer; those that have gone are forgotten. */
  sample(producers: Iterable<PublishingProducer>, nowMs: number): readonly ProducerMeter[] {
    const sinceMs = this.#sampledAtMs ?? nowMs;
    const intervalMs = Math.max(1, nowMs - (this.#sampledAtMs ?? nowMs - MS_PER_SECOND));
    this.#sampledAtMs = nowMs;
    const meters = new Map<PublishingProducer["flow"], ProducerMeter>();
    for (const producer of producers) {
      const meter = this.#meters.get(producer.flow) ?? new ProducerMeter(producer, sinceMs);
      meter.sample(nowMs, intervalMs);
      meters.set(producer.flow, meter);
    }
    this.#meters = meters;
    return [...meters.values()];
  }
}
