export interface KeepAliveOptions {
  /** How often a PING goes out. */
  readonly intervalMs: number;
  /** How long a peer may be silent. */
  readonly silenceMaxMs: number;
}

/**
 * When to ask a silent peer for a sign of life, and when to give it up.
 *
 * Anything that comes is a sign. A peer has half of its time at least after the first PING that it
 * leaves unanswered: a process that was stopped for minutes has not heard its peer, either.
 */
export class KeepAlive {
  readonly #options: KeepAliveOptions;
  #heardAtMs: number;
  #pingAtMs: number;
  #unansweredSinceMs: number | undefined;

  constructor(options: KeepAliveOptions, nowMs: number) {
    this.#options = options;
    this.#heardAtMs = nowMs;
    this.#pingAtMs = nowMs + options.intervalMs;
  }

  /** When `onDue` is to be asked again. */
  get dueAtMs(): number {
    return Math.min(this.#pingAtMs, this.#lostAtMs ?? this.#pingAtMs);
  }

  onHeard(nowMs: number): void {
    this.#heardAtMs = nowMs;
    this.#unansweredSinceMs = undefined;
  }

  onDue(nowMs: number): "wait" | "ping" | "lost" {
    if (this.#lostAtMs !== undefined && nowMs >= this.#lostAtMs) return "lost";
    if (nowMs < this.#pingAtMs) return "wait";
    this.#pingAtMs = nowMs + this.#options.intervalMs;
    this.#unansweredSinceMs ??= nowMs;
    return "ping";
  }

  get #lostAtMs(): number | undefined {
    if (this.#unansweredSinceMs === undefined) return undefined;
    const { silenceMaxMs } = this.#options;
    return Math.max(this.#heardAtMs + silenceMaxMs, this.#unansweredSinceMs + silenceMaxMs / 2);
  }
}
