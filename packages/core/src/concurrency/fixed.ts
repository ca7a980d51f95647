import { requireWhole } from "../errors.ts";
import type { LimitAlgorithm, LimitDecision, Sample } from "./algorithm.ts";
import { RoundTrips } from "./round-trips.ts";

/** A limit that somebody chose. It measures as the others do, and never moves. */
export class FixedLimit implements LimitAlgorithm {
  readonly limit: number;
  readonly #roundTrips = new RoundTrips(0.4);

  constructor(limit: number) {
    requireWhole("limit", limit, 1);
    this.limit = limit;
  }

  pauseMs(): number {
    return 0;
  }

  onStart(): void {
    // Nothing depends on what starts.
  }

  onEnd({ startedAtMs, endedAtMs, outcome }: Sample): LimitDecision | undefined {
    if (outcome === "ok") this.#roundTrips.add(endedAtMs - startedAtMs);
    if (!this.#roundTrips.isDue(endedAtMs)) return undefined;
    const rttMs = this.#roundTrips.windowMs;
    this.#roundTrips.startNext(endedAtMs);
    const { limit } = this;
    return { limit, limitBefore: limit, cause: "steady", rttMs, startsPerSecond: undefined };
  }
}
