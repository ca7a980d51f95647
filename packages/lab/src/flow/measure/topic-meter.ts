import { SECOND_MS } from "@sluice/core/internal";
import { SlidingSecond } from "../../simulation/engine/sliding-second.ts";
import { LimitTimeline } from "./limit-timeline.ts";

/** The messages that a topic accepts. */
export class TopicMeter {
  readonly limit: LimitTimeline = new LimitTimeline();
  /** By the second in which the broker began to store them. */
  readonly perSecond: number[];
  readonly #window = new SlidingSecond();
  #total = 0;
  #maxSecondRatio: number | undefined;

  constructor(durationS: number) {
    this.perSecond = Array.from({ length: durationS }, () => 0);
  }

  get total(): number {
    return this.#total;
  }

  /**
   * The most messages of any sliding second that begins after the first, divided by the mean limit of that
   * second; undefined if there was no limit.
   */
  get maxSecondRatio(): number | undefined {
    return this.#maxSecondRatio;
  }

  /** Notes messages, in order of time. */
  add(messages: number, atMs: number): void {
    this.#total += messages;
    const second = Math.floor(atMs / SECOND_MS);
    this.perSecond[second] = (this.perSecond[second] ?? 0) + messages;
    const inWindow = this.#window.add(messages, atMs);
    if (atMs < 2 * SECOND_MS) return;
    const limit = this.limit.meanOf(atMs - SECOND_MS, atMs);
    if (limit === undefined) return;
    this.#maxSecondRatio = Math.max(this.#maxSecondRatio ?? 0, inWindow / limit);
  }
}
