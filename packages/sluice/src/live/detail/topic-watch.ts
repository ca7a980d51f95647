import type { PublishingFlow, PublishingWatch } from "@sluice/gateway/admin";

/** Turns that a page shows. */
const TURNS_MAX = 60;

/** Waits of one producer that the percentiles are taken from, the latest ones. */
const WAITS_MAX = 256;

/** Producers whose waits are kept. One takes 2 kB. */
const PRODUCERS_MAX = 200;

/** Follows the turns and waits of one topic while a page looks at it. */
export class TopicWatch implements PublishingWatch {
  readonly #turns: PublishingFlow[] = [];
  readonly #waits = new Map<PublishingFlow, RecentWaits>();
  #watched: readonly PublishingFlow[] = [];

  /** The producers of the latest turns, newest last. */
  get turns(): readonly PublishingFlow[] {
    return this.#turns;
  }

  onReleased(flow: PublishingFlow, waitedMs: number): void {
    this.#turns.push(flow);
    if (this.#turns.length > TURNS_MAX) this.#turns.shift();
    let waits = this.#waits.get(flow);
    if (waits === undefined) {
      if (this.#waits.size >= PRODUCERS_MAX) return;
      waits = new RecentWaits(WAITS_MAX);
      this.#waits.set(flow, waits);
    }
    waits.record(waitedMs);
  }

  /** From now on these producers are followed, and no others. */
  follow(flows: readonly PublishingFlow[]): void {
    const kept = new Set(flows);
    for (const flow of this.#watched) if (!kept.has(flow)) this.#leave(flow);
    for (const flow of flows) flow.watch ??= this;
    this.#watched = flows;
  }

  /** The wait that this part of the latest frames of a producer did not exceed; undefined if none waited. */
  waitOf(flow: PublishingFlow, part: number): number | undefined {
    return this.#waits.get(flow)?.percentile(part);
  }

  stop(): void {
    for (const flow of this.#watched) this.#leave(flow);
    this.#watched = [];
  }

  #leave(flow: PublishingFlow): void {
    if (flow.watch === this) flow.watch = undefined;
    this.#waits.delete(flow);
  }
}

/** The latest values, in a ring. */
class RecentWaits {
  readonly #values: Float64Array;
  #count = 0;

  constructor(max: number) {
    this.#values = new Float64Array(max);
  }

  record(ms: number): void {
    this.#values[this.#count++ % this.#values.length] = ms;
  }

  percentile(part: number): number | undefined {
    const sorted = this.#values.subarray(0, this.#count).toSorted();
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
  }
}
