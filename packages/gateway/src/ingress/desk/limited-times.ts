import type { LevelReason, LimitLevel } from "../limits/limit-level.ts";

/** How often and how long a topic was limited by one limiter. */
export interface LimitedTotal {
  readonly topic: string;
  readonly reason: LevelReason;
  /** "topic", "group analytics" or "broker". */
  readonly limiter: string;
  /** Frames that had to wait. */
  readonly frames: number;
  /** Milliseconds in which at least one producer of the topic waited for it. */
  readonly limitedMs: number;
}

/** Topics with limiters that are remembered; those that are not limited now are forgotten first. */
const ENTRIES_MAX = 10_000;

/** Counts one topic at one limiter. */
export class LimitedEntry {
  readonly topic: string;
  readonly reason: LevelReason;
  readonly limiter: string;
  frames = 0;
  #producers = 0;
  #sinceMs = 0;
  #ms = 0;

  constructor(topic: string, { reason, name }: LimitLevel) {
    this.topic = topic;
    this.reason = reason;
    this.limiter = name;
  }

  get isLimited(): boolean {
    return this.#producers > 0;
  }

  /** A producer begins to wait. */
  begin(nowMs: number): void {
    if (this.#producers++ === 0) this.#sinceMs = nowMs;
  }

  end(nowMs: number): void {
    if (--this.#producers === 0) this.#ms += nowMs - this.#sinceMs;
  }

  totalAt(nowMs: number): LimitedTotal {
    const { topic, reason, limiter, frames } = this;
    const limitedMs = this.#ms + (this.isLimited ? nowMs - this.#sinceMs : 0);
    return { topic, reason, limiter, frames, limitedMs };
  }
}

/** How often and how long each topic was limited, by which limiter. */
export class LimitedTimes {
  readonly #entries = new Map<string, LimitedEntry>();

  of(topic: string, level: LimitLevel): LimitedEntry {
    const key = `${topic} ${level.name}`;
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      if (this.#entries.size >= ENTRIES_MAX) this.#forgetOne();
      entry = new LimitedEntry(topic, level);
      this.#entries.set(key, entry);
    }
    return entry;
  }

  totals(nowMs: number): readonly LimitedTotal[] {
    return [...this.#entries.values()].map((entry) => entry.totalAt(nowMs));
  }

  /** The oldest that is not limited now, or, if all are, the oldest. */
  #forgetOne(): void {
    let oldest: string | undefined;
    for (const [key, { isLimited }] of this.#entries) {
      oldest ??= key;
      if (isLimited) continue;
      oldest = key;
      break;
    }
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
