import type { Clock } from "@sluice/core";
import type { Source } from "../../connector/source.ts";

/** A backlog is asked for at most this often, ms: it may be a request to the source's server. */
const REFRESH_MS = 1000;

/** The backlog of a source as it was known last. */
export class Backlog {
  readonly #source: Source;
  readonly #clock: Clock;
  readonly #stopped: AbortSignal;
  #askedAtMs: number = Number.NEGATIVE_INFINITY;
  #known: number | undefined;

  constructor(source: Source, clock: Clock, stopped: AbortSignal) {
    this.#source = source;
    this.#clock = clock;
    this.#stopped = stopped;
  }

  /**
   * The last answer; asks for a new one if it is old. Undefined if the source does not know. A pipeline that stops
   * asks no more: a closed source might connect again for it.
   */
  latest(): number | undefined {
    const nowMs = this.#clock.now();
    if (this.#stopped.aborted) return this.#known;
    if (this.#source.backlog !== undefined && nowMs - this.#askedAtMs >= REFRESH_MS) {
      this.#askedAtMs = nowMs;
      void this.#ask();
    }
    return this.#known;
  }

  async #ask(): Promise<void> {
    try {
      this.#known = await this.#source.backlog?.();
    } catch {
      this.#known = undefined;
    }
  }
}
