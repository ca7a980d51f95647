import { AlarmHeap } from "@sluice/core/internal";
import { limitedTopic } from "../limits/limited-topic.ts";
import { DispatchConsumer, NO_LEVELS, subscriptionKey } from "./dispatch-consumer.ts";
import type { Delivered, DispatchFacts } from "./dispatch-consumer.ts";
import { DispatchCountBook } from "./dispatch-counts.ts";
import type { DispatchCounts } from "./dispatch-counts.ts";
import type { DispatchLevel } from "./dispatch-level.ts";
import type { DispatchLimits } from "./dispatch-limits.ts";
import { idleHolders, nextIdleMs, RECLAIM_MS } from "./idle-holders.ts";

/** Permits that are to be passed on to a consumer now. */
export interface DispatchGrant {
  readonly consumer: DispatchConsumer;
  readonly permits: number;
}

export interface DispatchDeskOptions {
  readonly limits: DispatchLimits;
  /** `wakeAtMs` has become earlier. Must not call back at once. */
  readonly onWakeAt: () => void;
}

/** Permits beyond this add nothing: no client can hold so many messages. */
const PERMITS_MAX = 2 ** 31 - 1;

/** Permits that cannot be taken back are passed on up to this: the receiver queue of Pulsar's clients. */
const OUTSTANDING_MAX = 1_000;

/** A level is not looked at again sooner than this: less could vanish in the sum with a large instant. */
const SLEEP_MIN_MS = 0.001;

/**
 * Passes permits of FLOW on as far as limits allow. Tokens for k messages are reserved at each level of
 * the consumer, then k permits are passed on; what is delivered is charged, an entry with more messages
 * than permits in full, into debt. So subscriptions that share a limit do not exceed it together.
 *
 * Permits that a consumer holds and does not use are taken back while others wait; where the backend
 * cannot take them back, their reservation lapses, and what they bring later is charged as debt.
 *
 * A consumer that has had its turn at one level and finds no room at another waits there, and holds
 * nothing meanwhile. It climbs from subscription to topic to broker, so that no two consumers wait for
 * each other.
 */
export class DispatchDesk {
  readonly limits: DispatchLimits;
  readonly #onWakeAt: () => void;
  readonly #consumers = new Set<DispatchConsumer>();
  readonly #due = new AlarmHeap<DispatchLevel>();
  readonly #counts = new DispatchCountBook();
  /** Consumers that are to be looked at after a change of limits. */
  #sweep: Iterator<DispatchConsumer, undefined> | undefined;
  #sweepAtMs = Infinity;

  constructor({ limits, onWakeAt }: DispatchDeskOptions) {
    this.limits = limits;
    this.#onWakeAt = onWakeAt;
    limits.onChange((nowMs) => this.#onChange(nowMs));
  }

  /** When `release` is next needed; Infinity if nothing waits. */
  get wakeAtMs(): number {
    return Math.min(this.#sweepAtMs, this.#due.first?.dueMs ?? Infinity);
  }

  get consumers(): number {
    return this.#consumers.size;
  }

  /** How often consumers of a subscription had to wait. `topic` is any form of the name. */
  countsOf(topic: string, subscription: string): Readonly<DispatchCounts> {
    return this.#counts.of(subscriptionKey(limitedTopic(topic).key, subscription));
  }

  open(facts: DispatchFacts): DispatchConsumer {
    const consumer = new DispatchConsumer(limitedTopic(facts.topic), facts);
    this.#consumers.add(consumer);
    return consumer;
  }

  /** The client allows so many more messages. Answers how many permits are to be passed on now. */
  onFlow(consumer: DispatchConsumer, permits: number, nowMs: number): number {
    if (consumer.isClosed) return 0;
    consumer.asked = Math.min(PERMITS_MAX, consumer.asked + permits);
    return this.#look(consumer, nowMs);
  }

  /** Entries were sent to the client. Answers how many permits are to be passed on now. */
  onDelivered(consumer: DispatchConsumer, delivered: Delivered, nowMs: number): number {
    if (consumer.isClosed) return 0;
    consumer.granted -= delivered.messages;
    consumer.usedAtMs = nowMs;
    if (consumer.levels.length > 0) this.#charge(consumer, delivered, nowMs);
    return this.#look(consumer, nowMs);
  }

  /** Its reserved tokens go to others. */
  onClosed(consumer: DispatchConsumer, nowMs: number): void {
    if (consumer.isClosed) return;
    consumer.isClosed = true;
    this.#consumers.delete(consumer);
    this.#setLevels(consumer, NO_LEVELS, nowMs);
  }

  /** Permits whose turn has come, and whether more are due now. At most about `max` steps. */
  release(
    nowMs: number,
    max: number,
  ): { readonly grants: readonly DispatchGrant[]; readonly isMore: boolean } {
    const grants: DispatchGrant[] = [];
    const add = (consumer: DispatchConsumer, permits: number): void => {
      if (permits > 0) grants.push({ consumer, permits });
    };
    let steps = 0;
    while (this.#sweep !== undefined) {
      if (steps++ >= max) return { grants, isMore: true };
      const next = this.#sweep.next();
      if (next.done === true) this.#sweep = undefined;
      else add(next.value, this.#look(next.value, nowMs));
    }
    this.#sweepAtMs = Infinity;
    for (;;) {
      const level = this.#due.first;
      if (level === undefined || level.dueMs > nowMs) return { grants, isMore: false };
      if (steps++ >= max) return { grants, isMore: true };
      const consumer = level.turns.next(level.mayProbe);
      if (consumer !== undefined && level.hasRoomFor(consumer, nowMs))
        add(consumer, this.#turn(consumer, nowMs));
      else {
        const reclaimed = this.#reclaim(level, consumer, nowMs);
        if (reclaimed === 0) this.#sleep(level, nowMs);
        steps += reclaimed;
      }
    }
  }

  /** The first consumer of a level has its turn. */
  #turn(consumer: DispatchConsumer, nowMs: number): number {
    const { at } = consumer;
    this.#leave(consumer);
    if (consumer.version !== this.limits.version) return this.#look(consumer, nowMs);
    const next = refusing(consumer, at, nowMs);
    if (next !== -1) {
      this.#join(consumer, next, nowMs);
      return 0;
    }
    return this.#take(consumer, nowMs) + this.#serve(consumer, nowMs);
  }

  /** Looks which limits the consumer has, and what it may be passed. */
  #look(consumer: DispatchConsumer, nowMs: number): number {
    if (consumer.version !== this.limits.version) this.#update(consumer, nowMs);
    return this.#serve(consumer, nowMs);
  }

  #serve(consumer: DispatchConsumer, nowMs: number): number {
    if (consumer.asked === 0) return 0;
    if (consumer.levels.length === 0) return pass(consumer, unlimited(consumer));
    // Messages beyond the permits were charged when they came: the permits for them cost nothing.
    const paid = pass(consumer, Math.min(consumer.asked, Math.max(0, -consumer.granted)));
    if (consumer.at !== -1 || !consumer.isWanting) return paid;
    const at = refusing(consumer, -1, nowMs);
    if (at === -1) return paid + this.#take(consumer, nowMs);
    this.#join(consumer, at, nowMs);
    return paid;
  }

  /** Reserves tokens at all levels, which have room. */
  #take(consumer: DispatchConsumer, nowMs: number): number {
    const { levels, bytesPerMessage, asked, granted, holdMax, need } = consumer;
    let room = Infinity;
    let fair = Infinity;
    for (const level of levels) {
      const free = level.room(bytesPerMessage, nowMs);
      room = Math.min(room, free);
      fair = Math.min(fair, Math.max(level.quantum, Math.floor(free / (1 + level.turns.size))));
    }
    const permits = Math.max(1, Math.min(asked, holdMax - granted, fair, room - need + 1));
    consumer.back(permits, permits + Math.min(need - 1, room - permits), nowMs);
    return pass(consumer, permits);
  }

  #charge(consumer: DispatchConsumer, delivered: Delivered, nowMs: number): void {
    const { messages, bytes } = delivered;
    const used = Math.min(messages, consumer.backed);
    const wasProven = consumer.isProven;
    consumer.measure(delivered);
    consumer.unback(used);
    this.#prove(consumer, nowMs);
    for (const [index, level] of consumer.levels.entries()) {
      level.charge(messages, bytes, nowMs);
      const price = messages - used + (level.limitsBytes ? bytes / QUANTUM : 0);
      consumer.finish[index] = (consumer.finish[index] ?? 0) + price;
      // Less may have been delivered than was reserved, or a probe has ended.
      const mayHaveRoom = !wasProven || level.limitsBytes || consumer.entryMessages > 1;
      if (mayHaveRoom && level.turns.size > 0) this.#wake(level, nowMs);
    }
  }

  /** It has used a permit: it may hold more than a probe. */
  #prove(consumer: DispatchConsumer, nowMs: number): void {
    if (consumer.isProven) return;
    const { at } = consumer;
    if (at !== -1) this.#leave(consumer);
    consumer.isProven = true;
    for (const { probes, holders, turns } of consumer.levels) {
      turns.onProbed(true);
      if (probes.delete(consumer) && consumer.backed > 0) holders.add(consumer);
    }
    if (at !== -1) this.#join(consumer, at, nowMs);
  }

  #update(consumer: DispatchConsumer, nowMs: number): void {
    consumer.version = this.limits.version;
    const levels = this.limits.levelsOf(consumer, nowMs);
    let revision = 0;
    for (const level of levels) revision += level.revision;
    const isSame =
      revision === consumer.revision &&
      levels.length === consumer.levels.length &&
      levels.every((level, i) => level === consumer.levels[i]);
    if (isSame) return;
    this.#setLevels(consumer, levels, nowMs);
    consumer.revision = revision;
    // Permits that were passed on under other limits are reserved anew.
    if (levels.length > 0 && consumer.granted > 0) this.#withdraw(consumer, consumer.granted);
  }

  #setLevels(consumer: DispatchConsumer, levels: readonly DispatchLevel[], nowMs: number): void {
    if (consumer.at !== -1) this.#leave(consumer);
    consumer.unback(consumer.backed);
    for (const level of consumer.levels) {
      level.users--;
      if (level.turns.size > 0) this.#wake(level, nowMs);
    }
    for (const level of levels) level.users++;
    consumer.levels = levels;
    consumer.finish = levels.map(() => 0);
    const [nearest] = levels;
    if (nearest !== undefined && nearest.kind !== "broker")
      consumer.entryMessages = Math.max(consumer.entryMessages, nearest.entryMessages);
  }

  #withdraw(consumer: DispatchConsumer, permits: number): number {
    const taken = consumer.withdraw?.(permits) ?? 0;
    consumer.granted -= taken;
    consumer.asked = Math.min(PERMITS_MAX, consumer.asked + taken);
    return taken;
  }

  /** Takes permits back from consumers that do not use them, if others lack room because of it. */
  #reclaim(level: DispatchLevel, waiter: DispatchConsumer | undefined, nowMs: number): number {
    const idle = idleHolders(level, waiter, nowMs);
    if (idle.length > 0) level.nextReclaimMs = nowMs + RECLAIM_MS;
    for (const consumer of idle) {
      const { backed, levels } = consumer;
      const taken = this.#withdraw(consumer, backed);
      // Permits that could not be taken back are in use; of a broker behind a relay they lapse.
      consumer.unback(consumer.withdraw === undefined ? backed : taken);
      consumer.usedAtMs = nowMs;
      if (consumer.backed > 0) continue;
      if (consumer.at !== -1) this.#leave(consumer);
      if (!consumer.isProven) for (const { turns } of levels) turns.onProbed(false);
      consumer.isProven = false;
      if (consumer.isWanting) this.#join(consumer, levels.indexOf(level), nowMs);
      for (const other of levels) if (other.turns.size > 0) this.#wake(other, nowMs);
    }
    return idle.length;
  }

  #join(consumer: DispatchConsumer, at: number, nowMs: number): void {
    const level = consumer.levels[at] as DispatchLevel;
    const missing = level.missing(consumer, nowMs);
    if (missing !== undefined) this.#counts.count(consumer.key, level.kind, missing);
    consumer.at = at;
    level.turns.join(consumer);
    this.#wake(level, missing === undefined ? nowMs : this.#nextMs(level, nowMs));
  }

  #leave(consumer: DispatchConsumer): void {
    const level = consumer.levels[consumer.at] as DispatchLevel;
    level.turns.leave(consumer);
    consumer.at = -1;
    if (level.turns.size === 0) this.#due.remove(level);
  }

  /** No consumer of the level can go now. */
  #sleep(level: DispatchLevel, nowMs: number): void {
    this.#due.remove(level);
    level.dueMs = this.#nextMs(level, nowMs);
    // Else until a reservation ends, which wakes it.
    if (level.dueMs < Infinity) this.#due.add(level);
  }

  #nextMs(level: DispatchLevel, nowMs: number): number {
    const next = level.turns.next(level.mayProbe);
    const refilledMs = next === undefined ? Infinity : nowMs + level.pauseMs(next, nowMs);
    return Math.max(nowMs + SLEEP_MIN_MS, Math.min(refilledMs, nextIdleMs(level, next, nowMs)));
  }

  #wake(level: DispatchLevel, atMs: number): void {
    if (level.place !== undefined && level.dueMs <= atMs) return;
    const before = this.wakeAtMs;
    this.#due.remove(level);
    level.dueMs = atMs;
    if (atMs < Infinity) this.#due.add(level);
    if (this.wakeAtMs < before) this.#onWakeAt();
  }

  #onChange(nowMs: number): void {
    const before = this.wakeAtMs;
    this.#sweep = this.#consumers.values();
    this.#sweepAtMs = nowMs;
    if (this.wakeAtMs < before) this.#onWakeAt();
  }
}

/** What a consumer without limits is passed. A later limit must not find permits that it cannot take back. */
function unlimited({ asked, granted, withdraw }: DispatchConsumer): number {
  if (withdraw !== undefined) return asked;
  return granted > OUTSTANDING_MAX / 2 ? 0 : Math.min(asked, OUTSTANDING_MAX - granted);
}

/** Bytes that count as one message in the order of turns, as in core's `FairQueue`. */
const QUANTUM = 65_536;

function pass(consumer: DispatchConsumer, permits: number): number {
  consumer.asked -= permits;
  consumer.granted += permits;
  return permits;
}

/** The first level that has no room, or, above the index `from`, where others wait; -1 if none. */
function refusing(consumer: DispatchConsumer, from: number, nowMs: number): number {
  return consumer.levels.findIndex(
    (level, i) => (i > from && level.turns.size > 0) || !level.hasRoomFor(consumer, nowMs),
  );
}
