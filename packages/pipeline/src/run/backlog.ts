import type { Clock } from "@sluice/core";
import type { Source } from "../connector/source.ts";

/** A backlog is asked for at most this often, ms: it may be a request to the source's server. */
const REFRESH_MS = 1000;

/** The backlog of a source as it was known last. */
export class Backlog {
  readonly #source: Source;
  readonly #clock: Clock;
  #askedAtMs: number = Number.NEGATIVE_INFINITY;
  #known: number | undefined;

  constructor(source: Source, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** The last answer; asks for a new one if it is old. Undefined if the source does not know. */
  latest(): number | undefined {
    const nowMs = this.#clock.now();
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
