import type { Clock } from "@sluice/core";
import type { StoredEntry } from "../../storage/log/topic-log.ts";
import { comparePositions } from "../../storage/position.ts";
import type { Position } from "../../storage/position.ts";
import { Heap } from "./heap.ts";

/** Delayed entries whose time has come that are taken out in one call, which bounds its work. */
const DUE_AT_ONCE_MAX = 1_000;

/** Delayed delivery, which only shared subscriptions have, as in Pulsar. */
export interface DelayOptions {
  /** When an entry may be delivered, in the time of the clock; undefined if at once. */
  readonly deliverAtMsOf: (bytes: Uint8Array) => number | undefined;
  readonly wallClock: Clock;
  /** Delayed entries of a subscription. At the bound, reading stops until one of them is due. */
  readonly countMax: number;
}

interface Delayed {
  readonly position: Position;
  readonly deliverAtMs: number;
  /** Of a Key_Shared subscription. */
  readonly keyHash?: number;
}

/**
 * Entries that wait for their delivery time, the earliest first. Only positions are kept; the log has
 * the entries. It holds `countMax` at most.
 */
export class DelayedEntries {
  readonly #options: DelayOptions;
  readonly #heap = new Heap<Delayed>(compareDelayed);

  constructor(options: DelayOptions) {
    this.#options = options;
  }

  get length(): number {
    return this.#heap.length;
  }

  get isFull(): boolean {
    return this.#heap.length >= this.#options.countMax;
  }

  /** Of the earliest; undefined if there is none. */
  get nextDueMs(): number | undefined {
    return this.#heap.first?.deliverAtMs;
  }

  /** The delivery time of an entry, if it has not come. */
  delayOf({ bytes }: StoredEntry): number | undefined {
    const { deliverAtMsOf, wallClock } = this.#options;
    const deliverAtMs = deliverAtMsOf(bytes);
    return deliverAtMs !== undefined && deliverAtMs > wallClock.now() ? deliverAtMs : undefined;
  }

  add(delayed: Delayed): void {
    this.#heap.add(delayed);
  }

  /** Takes out entries whose time has come, the earliest first. */
  takeDue(): readonly Delayed[] {
    if (this.#heap.length === 0) return NONE;
    const due: Delayed[] = [];
    const nowMs = this.#options.wallClock.now();
    while (due.length < DUE_AT_ONCE_MAX) {
      const { first } = this.#heap;
      if (first === undefined || first.deliverAtMs > nowMs) break;
      due.push(first);
      this.#heap.shift();
    }
    return due;
  }

  /** Forgets entries that are acknowledged; proportional to all that are kept. */
  forget(isAcked: (position: Position) => boolean): void {
    this.#heap.keep(({ position }) => !isAcked(position));
  }
}

const NONE: readonly Delayed[] = [];

function compareDelayed(a: Delayed, b: Delayed): number {
  return a.deliverAtMs - b.deliverAtMs || comparePositions(a.position, b.position);
}
