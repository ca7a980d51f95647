import { RateMeter } from "@sluice/core/internal";
import type { Clock } from "@sluice/core";
import type { VertexCounts } from "../pipeline-state.ts";

/** The window of `perSecond`, ms. A longer one is smoother and later. */
const WINDOW_MS = 5000;

/** Counts what a vertex does. One reading of the clock for each batch. */
export class VertexMeter {
  readonly #rate: RateMeter;
  readonly counts: { -readonly [Name in keyof VertexCounts]: VertexCounts[Name] } = {
    read: 0,
    written: 0,
    dropped: 0,
    failed: 0,
    retried: 0,
    deadLettered: 0,
  };
  /** Messages that the vertex works on. */
  inFlight = 0;

  constructor(clock: Clock) {
    this.#rate = new RateMeter({ windowMs: WINDOW_MS, clock });
  }

  onRead(count: number, nowMs: number): void {
    this.counts.read += count;
    this.#rate.record(count, nowMs);
  }

  perSecond(nowMs: number): number {
    return this.#rate.perSecond(nowMs);
  }
}
