import type { Clock } from "@sluice/core";
import type { BrokerEvent } from "./broker-event.ts";

/** An event with its number and its time. */
export interface TimedEvent {
  /** From 1, without gaps. */
  readonly id: number;
  /** Wall time. */
  readonly atMs: number;
  readonly event: BrokerEvent;
}

export type EventListener = (event: TimedEvent) => void;

/** Events that a listener finds when it comes. */
const KEPT_MAX = 256;

/** Hands each event to all listeners, and keeps the latest ones for those that come later. */
export class EventFeed {
  readonly #wallClock: Clock;
  readonly #kept: TimedEvent[] = [];
  readonly #listeners = new Set<EventListener>();
  readonly #counts = new Map<BrokerEvent["kind"], number>();
  #lastId = 0;

  constructor(wallClock: Clock) {
    this.#wallClock = wallClock;
  }

  /** How often each kind of event has come. */
  get counts(): ReadonlyMap<BrokerEvent["kind"], number> {
    return this.#counts;
  }

  push(event: BrokerEvent): void {
    const timed = { id: ++this.#lastId, atMs: this.#wallClock.now(), event };
    this.#counts.set(event.kind, (this.#counts.get(event.kind) ?? 0) + 1);
    this.#kept.push(timed);
    if (this.#kept.length > KEPT_MAX) this.#kept.shift();
    for (const listener of this.#listeners) listener(timed);
  }

  /** Tells a listener the kept events after `afterId`, then all that come. Answers how to stop. */
  listen(listener: EventListener, afterId: number): () => void {
    for (const event of this.#kept) if (event.id > afterId) listener(event);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
