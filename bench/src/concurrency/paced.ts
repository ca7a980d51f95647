import type { LimitAlgorithm } from "@sluice/core";

/** Somebody who knows the quota: starts evenly spread, `limit` in flight at most, whatever happens. */
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
