import type { Clock } from "@sluice/core";
import { RefusalError } from "../refusal/refusal-error.ts";

/** So long nobody publishes after an entry found no room, nor opens a producer. */
const FULL_MS = 1_000;

/**
 * Notes that a topic had no room for an entry. For a moment it then takes none at all: what a
 * producer sent after it must not be stored before it.
 */
export class RoomWatch {
  readonly #clock: Clock;
  #fullUntilMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isFull(): boolean {
    return this.#fullUntilMs !== undefined && this.#clock.now() < this.#fullUntilMs;
  }

  onFull(): void {
    this.#fullUntilMs = this.#clock.now() + FULL_MS;
  }

  /** What Pulsar calls it when a backlog has reached its quota: clients keep what they have and try again. */
  refusal(cause?: unknown): RefusalError {
    const error = "ProducerBlockedQuotaExceededError";
    return new RefusalError(error, "there is no room to store this", { cause });
  }
}
