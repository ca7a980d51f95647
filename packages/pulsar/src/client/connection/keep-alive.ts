export interface KeepAliveOptions {
  /** Time between two PINGs. */
  readonly intervalMs: number;
  /** Longest silence of the peer. */
  readonly silenceMaxMs: number;
}

/**
 * Says when to send PING to a silent peer, and when the peer is lost.
 *
 * Every frame ends the silence. After the first unanswered PING the peer has at least
 * `silenceMaxMs / 2` left, because a client process that was itself stopped for minutes has read
 * nothing in that time.
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

  /** When to call `onDue` next. */
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
