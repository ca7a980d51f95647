interface Change {
  readonly atMs: number;
  readonly perSecond: number | undefined;
}

/** A limit that changes during a run. */
export class LimitTimeline {
  readonly #changes: Change[] = [];

  get changes(): readonly Change[] {
    return this.#changes;
  }

  /** From `atMs` on, which may not go back, the limit is this; undefined for none. */
  set(atMs: number, perSecond: number | undefined): void {
    this.#changes.push({ atMs, perSecond });
  }

  /** The mean over a window by time; undefined if there was no limit in a part of it. */
  meanOf(fromMs: number, untilMs: number): number | undefined {
    let sum = 0;
    for (const [i, { atMs, perSecond }] of this.#changes.entries()) {
      const endMs = Math.min(untilMs, this.#changes[i + 1]?.atMs ?? Infinity);
      const shareMs = endMs - Math.max(fromMs, atMs);
      if (shareMs <= 0) continue;
      if (perSecond === undefined) return undefined;
      sum += perSecond * shareMs;
    }
    const isCovered = (this.#changes[0]?.atMs ?? Infinity) <= fromMs;
    return isCovered ? sum / (untilMs - fromMs) : undefined;
  }
}
