// Folds lines of `npm start` that say the same of the same subject, so that a new kind of line stands out.

/** Quiet time after the first line of a kind, ms. Doubles with each line that sums others up. */
const FIRST_MS = 30_000;
/** Longest quiet time of a kind, ms. Raised, a reader waits longer to see that a throttle still acts. */
const LONGEST_MS = 240_000;

/** The first line of a kind comes at once; lines of its quiet time come as one, the latest with their count. */
export class LineFold {
  /** Kinds that had a line, with their quiet time. */
  #kinds = new Map();

  /** Returns the line to show now, or undefined if it is folded. */
  offer(line, nowMs) {
    const seen = this.#kinds.get(line.kind);
    if (seen !== undefined) {
      seen.count++;
      seen.latest = line;
      return undefined;
    }
    this.#kinds.set(line.kind, { count: 0, quietMs: FIRST_MS, untilMs: nowMs + FIRST_MS });
    return line.text;
  }

  /** The lines that sum up what was folded, of each kind whose quiet time is over. */
  due(nowMs) {
    const lines = [];
    for (const [kind, seen] of this.#kinds) {
      if (nowMs < seen.untilMs) continue;
      if (seen.count === 0) {
        this.#kinds.delete(kind);
        continue;
      }
      const { text } = seen.latest;
      lines.push(
        seen.count === 1 ? text : `${text} (${seen.count} times in ${seen.quietMs / 1_000} s)`,
      );
      const quietMs = Math.min(2 * seen.quietMs, LONGEST_MS);
      this.#kinds.set(kind, { count: 0, quietMs, untilMs: nowMs + quietMs });
    }
    return lines;
  }

  /** Every kind is new again: after a limit was changed, its effect is what the reader looks for. */
  clear() {
    this.#kinds.clear();
  }
}
