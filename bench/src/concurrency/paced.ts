import type { LimitAlgorithm } from "@sluice/core";

/** A sender that knows the quota: starts evenly spread, at most `limit` in flight, for any answers. */
export class PacedLimit implements LimitAlgorithm {
  readonly limit: number;
  readonly #intervalMs: number;
  #nextAtMs = 0;

  constructor(startsPerSecond: number, limit: number) {
    this.limit = limit;
    this.#intervalMs = 1000 / startsPerSecond;
  }

  pauseMs(nowMs: number): number {
    return Math.max(0, this.#nextAtMs - nowMs);
  }

  onStart(nowMs: number): void {
    this.#nextAtMs = nowMs + this.#intervalMs;
  }

  onEnd(): undefined {
    // It has nothing to learn.
  }
}
