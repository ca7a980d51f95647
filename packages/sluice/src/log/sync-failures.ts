/** Between two lines of a vertex whose store is away, ms. A member syncs about twice a second; metrics count each failure. */
const EVERY_MS = 5_000;

interface Outage {
  readonly toldAtMs: number;
  untold: number;
}

/** Failed syncs of vertices: how many of them a line of the log tells. */
export class SyncFailures {
  /** By vertex, while its store is away. */
  readonly #outages = new Map<string, Outage>();

  /** Failures since the last line, with this one; 0 if a later line, or that of the store's return, counts it. */
  onFailure(vertex: string, nowMs: number): number {
    const outage = this.#outages.get(vertex);
    if (outage !== undefined && nowMs - outage.toldAtMs < EVERY_MS) {
      outage.untold++;
      return 0;
    }
    this.#outages.set(vertex, { toldAtMs: nowMs, untold: 0 });
    return 1 + (outage?.untold ?? 0);
  }

  onBack(vertex: string): void {
    this.#outages.delete(vertex);
  }
}
