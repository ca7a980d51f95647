import type { MessageIdData } from "../../../wire/definition/message-id.ts";
import type { Delivery } from "../receive/delivery.ts";

export interface RedeliveryScheduleOptions {
  readonly delayMs: number;
  /** Above this number, the oldest entries are due at once. */
  readonly entriesMax?: number;
}

interface Planned {
  readonly delivery: Delivery;
  readonly dueAtMs: number;
}

const ENTRIES_MAX = 100_000;

/**
 * Entries to redeliver, each `delayMs` after it was added. The delay is the same for all, so they
 * are due in the order of adding.
 */
export class RedeliverySchedule {
  readonly #delayMs: number;
  readonly #entriesMax: number;
  readonly #planned = new Map<string, Planned>();

  constructor({ delayMs, entriesMax = ENTRIES_MAX }: RedeliveryScheduleOptions) {
    this.#delayMs = delayMs;
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    return this.#planned.size;
  }

  /** When `takeDue` has entries; undefined if there are none. */
  get dueAtMs(): number | undefined {
    for (const { dueAtMs } of this.#planned.values())
      return this.#planned.size > this.#entriesMax ? -Infinity : dueAtMs;
    return undefined;
  }

  /** An entry that is already scheduled keeps its time. */
  add(delivery: Delivery, nowMs: number): void {
    if (this.#planned.has(delivery.key)) return;
    this.#planned.set(delivery.key, { delivery, dueAtMs: nowMs + this.#delayMs });
  }

  /** The entry is acknowledged, or redelivered anyway. */
  remove({ key }: Delivery): void {
    this.#planned.delete(key);
  }

  clear(): void {
    this.#planned.clear();
  }

  /**
   * Removes and returns the due ids: at most `countMax`, and the rest of the last entry's chunks.
   */
  takeDue(nowMs: number, countMax: number): MessageIdData[] {
    const ids: MessageIdData[] = [];
    for (const [key, { delivery, dueAtMs }] of this.#planned) {
      if (dueAtMs > nowMs && this.#planned.size <= this.#entriesMax) break;
      if (ids.length >= countMax) break;
      ids.push(...delivery.chunkIds, delivery.id);
      this.#planned.delete(key);
    }
    return ids;
  }
}
