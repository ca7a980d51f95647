import { Fifo, SECOND_MS } from "@sluice/core/internal";
import { Quantiles } from "../simulation/engine/quantiles.ts";

/** What one producer wanted and got, in messages. Its frames keep their order. */
export class ProducerCounts {
  readonly offered: number[];
  readonly accepted: number[];
  readonly waits: Quantiles = new Quantiles();
  longestWaitMs = 0;
  readonly #batch: number;
  /** When the frames were sent that are not yet accepted. */
  readonly #waiting = new Fifo<number>();

  constructor(durationS: number, batch: number) {
    this.#batch = batch;
    this.offered = Array.from({ length: durationS }, () => 0);
    this.accepted = Array.from({ length: durationS }, () => 0);
  }

  /** Messages that wait now. */
  get waiting(): number {
    return this.#waiting.length * this.#batch;
  }

  onOffered(nowMs: number): void {
    add(this.offered, nowMs, this.#batch);
    this.#waiting.push(nowMs);
  }

  onAccepted(sentAtMs: number, nowMs: number): void {
    add(this.accepted, nowMs, this.#batch);
    this.#waiting.shift();
    this.#waited(nowMs - sentAtMs);
  }

  /** A frame that still waits has waited until the end. */
  end(endMs: number): void {
    const oldest = this.#waiting.peek();
    if (oldest !== undefined) this.longestWaitMs = Math.max(this.longestWaitMs, endMs - oldest);
  }

  #waited(ms: number): void {
    this.waits.add(ms);
    this.longestWaitMs = Math.max(this.longestWaitMs, ms);
  }
}

function add(perSecond: number[], nowMs: number, messages: number): void {
  const second = Math.min(perSecond.length - 1, Math.floor(nowMs / SECOND_MS));
  perSecond[second] = (perSecond[second] ?? 0) + messages;
}
