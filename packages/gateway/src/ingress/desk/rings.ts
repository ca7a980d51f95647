import { AlarmHeap } from "@sluice/core/internal";
import type { LimitLevel } from "../limits/limit-level.ts";
import { Ring } from "./ring.ts";

/** A ring is not served again sooner than this: less could vanish in the sum with a large instant. */
const SLEEP_MIN_MS = 0.001;

/** The rings of all levels that flows wait for, by the time at which each is to be served. */
export class Rings<Item> {
  readonly #rings = new Map<LimitLevel, Ring<Item>>();
  readonly #due = new AlarmHeap<Ring<Item>>();
  readonly #onWakeAt: () => void;

  /** `onWakeAt`: `wakeAtMs` has become earlier. */
  constructor(onWakeAt: () => void) {
    this.#onWakeAt = onWakeAt;
  }

  /** Infinity if none is to be served. */
  get wakeAtMs(): number {
    return this.#due.first?.dueMs ?? Infinity;
  }

  /** The ring that has been due for longest. */
  dueAt(nowMs: number): Ring<Item> | undefined {
    const { first } = this.#due;
    return first === undefined || first.dueMs > nowMs ? undefined : first;
  }

  /** The ring of a level, made if there is none. */
  of(level: LimitLevel): Ring<Item> {
    let ring = this.#rings.get(level);
    if (ring === undefined) {
      ring = new Ring(level);
      this.#rings.set(level, ring);
    }
    return ring;
  }

  /** To be called when a ring is empty. */
  remove(ring: Ring<Item>): void {
    this.#due.remove(ring);
    this.#rings.delete(ring.level);
  }

  /** The ring is to be served at this time, unless it is earlier anyway. */
  wake(ring: Ring<Item>, atMs: number): void {
    if (ring.place !== undefined && ring.dueMs <= atMs) return;
    const before = this.wakeAtMs;
    this.#due.remove(ring);
    ring.dueMs = atMs;
    if (atMs < Infinity) this.#due.add(ring);
    if (this.wakeAtMs < before) this.#onWakeAt();
  }

  /** A reservation at this level has ended. */
  wakeLevel(level: LimitLevel, nowMs: number): void {
    const ring = this.#rings.get(level);
    if (ring !== undefined) this.wake(ring, nowMs);
  }

  wakeAll(nowMs: number): void {
    for (const ring of this.#rings.values()) this.wake(ring, nowMs);
  }

  /** Nothing of the ring can go: until its level has tokens. */
  sleep(ring: Ring<Item>, nowMs: number): void {
    this.#due.remove(ring);
    ring.level.onShort(nowMs);
    ring.dueMs = nowMs + Math.max(SLEEP_MIN_MS, ring.level.pauseMs(nowMs));
    // Else until a reservation ends, which wakes it.
    if (ring.dueMs < Infinity) this.#due.add(ring);
  }

  /** Rings that have been due for longer come first. */
  yield(ring: Ring<Item>, nowMs: number): void {
    if (!this.#due.remove(ring)) return;
    ring.dueMs = nowMs;
    this.#due.add(ring);
  }
}
