import type { Reason } from "@sluice/core";

/** How long a connection was not read, and why. */
export interface PauseTotal {
  readonly reason: Reason;
  /** The topic whose SEND was too much; empty if it was none in particular. */
  readonly causeTopic: string;
  readonly pausedMs: number;
  /** Whether it lasts, and since when. */
  readonly isPaused: boolean;
  readonly sinceMs: number;
  /** The other topics with producers on the connection now: their SENDs waited as well. */
  readonly victimTopics: readonly string[];
}

interface Pause {
  readonly reason: Reason;
  readonly causeTopic: string;
  count: number;
  sinceMs: number;
  totalMs: number;
}

/** Causes that are remembered per connection; a further one is counted with the first. */
const CAUSES_MAX = 16;

/** How long one connection was not read because of which topic. */
export class PauseTimes {
  readonly #pauses: Pause[] = [];

  begin(reason: Reason, causeTopic: string, nowMs: number): void {
    const pause = this.#of(reason, causeTopic);
    if (pause.count++ === 0) pause.sinceMs = nowMs;
  }

  end(reason: Reason, causeTopic: string, nowMs: number): void {
    const pause = this.#of(reason, causeTopic);
    if (pause.count === 0) return;
    if (--pause.count === 0) pause.totalMs += nowMs - pause.sinceMs;
  }

  totals(topics: ReadonlySet<string>, nowMs: number): readonly PauseTotal[] {
    return this.#pauses.map(({ reason, causeTopic, count, sinceMs, totalMs }) => ({
      reason,
      causeTopic,
      pausedMs: totalMs + (count > 0 ? nowMs - sinceMs : 0),
      isPaused: count > 0,
      sinceMs,
      victimTopics: [...topics].filter((topic) => topic !== causeTopic),
    }));
  }

  #of(reason: Reason, causeTopic: string): Pause {
    const known = this.#pauses.find(
      (one) => one.reason === reason && one.causeTopic === causeTopic,
    );
    if (known !== undefined) return known;
    const first = this.#pauses.find((one) => one.reason === reason);
    if (first !== undefined && this.#pauses.length >= CAUSES_MAX) return first;
    const pause: Pause = { reason, causeTopic, count: 0, sinceMs: 0, totalMs: 0 };
    this.#pauses.push(pause);
    return pause;
  }
}
