import type { Cost } from "@sluice/core";
import { LimitLevel } from "../limits/limit-level.ts";
import type { PublishLimits } from "../limits/publish-limits.ts";
import { NO_LEVELS } from "../limits/topic-limits.ts";
import type { Flow, Held } from "./flow.ts";
import type { LimitedTimes } from "./limited-times.ts";
import { priceOf } from "./ring.ts";
import { Rings } from "./rings.ts";

export interface Released<Item> {
  readonly flow: Flow<Item>;
  readonly item: Item;
}

/** An item as it is kept while it waits, and the memory that it takes. */
export interface Kept<Item> {
  readonly item: Item;
  readonly bytes: number;
}

export interface PublishDeskOptions<Item> {
  readonly limits: PublishLimits;
  readonly maxHoldMs: number;
  /** Called once for each item that is held. */
  readonly keep: (item: Item) => Kept<Item>;
  readonly times: LimitedTimes;
  /** `wakeAtMs` has become earlier. */
  readonly onWakeAt: () => void;
  /** These levels were charged. */
  readonly onCharged: (levels: readonly LimitLevel[], nowMs: number) => void;
}

/** Steps of one ring before others that are due have theirs. */
const STEPS_PER_RING = 16;

/**
 * Decides when each item may be published. An item goes if every level of its topic has a token; then
 * all are charged in full, into debt if necessary. Else it is held in its flow, which waits in the ring
 * of the level that refused. Flows of one ring have turns, see `Ring`.
 *
 * A flow that has had its turn at one level and must wait at the next reserves what its first item costs
 * at the levels before. Levels have one order for all flows (topic, groups, broker), so that no two
 * flows wait for each other's reservations.
 *
 * Work is in proportion to the items that are released and the flows that move on, however many wait.
 */
export class PublishDesk<Item> {
  readonly #options: PublishDeskOptions<Item>;
  readonly #rings: Rings<Item>;
  /** In the order in which they began to wait. */
  readonly #waiting = new Set<Flow<Item>>();
  /** Flows that wait for no limit any more stand in its ring until they have been served. */
  readonly #unlimited: readonly LimitLevel[] = [new LimitLevel("none", "topic-rate")];
  #version: number;

  constructor(options: PublishDeskOptions<Item>) {
    this.#options = options;
    this.#rings = new Rings(options.onWakeAt);
    this.#version = options.limits.version;
    options.limits.onChange((nowMs) => this.#onLimits(nowMs));
  }

  /** When `release` is next needed; Infinity if nothing waits. */
  get wakeAtMs(): number {
    return this.#rings.wakeAtMs;
  }

  /** Flows that have held items, in the order in which they began to wait. */
  get waiting(): ReadonlySet<Flow<Item>> {
    return this.#waiting;
  }

  /** True if the item may be published now: it is charged then. Else it is held. */
  offer(flow: Flow<Item>, item: Item, cost: Cost, nowMs: number): boolean {
    flow.offeredMessages += cost.messages;
    flow.offeredBytes += cost.bytes;
    flow.asked?.record(cost.messages, nowMs);
    if (flow.heldFrames > 0) {
      this.#hold(flow, item, cost, flow.levels, flow.at, nowMs);
      return false;
    }
    const levels = flow.limits.levelsAt(nowMs);
    if (levels.length === 0) return true;
    const at = refusing(levels, 0, nowMs);
    if (at === -1) {
      this.#charge(levels, cost, nowMs);
      return true;
    }
    this.#waiting.add(flow);
    if (flow.asked === undefined) flow.recordAsked(cost.messages, nowMs);
    this.#hold(flow, item, cost, levels, at, nowMs);
    return false;
  }

  /** Items whose turn has come, each charged, and whether more are due now. At most `max` steps. */
  release(
    nowMs: number,
    max: number,
  ): { readonly released: readonly Released<Item>[]; readonly isMore: boolean } {
    const released: Released<Item>[] = [];
    let steps = 0;
    for (;;) {
      const ring = this.#rings.dueAt(nowMs);
      if (ring === undefined) return { released, isMore: false };
      const flow = ring.first;
      if (flow === undefined || !ring.level.hasRoom(nowMs)) {
        this.#rings.sleep(ring, nowMs);
        continue;
      }
      if (steps++ >= max) return { released, isMore: true };
      ring.advance(flow);
      const item = this.#step(flow, nowMs);
      if (item !== undefined) released.push({ flow, item: item.item });
      if (steps % STEPS_PER_RING === 0) this.#rings.yield(ring, nowMs);
    }
  }

  /** Forgets the flow's items and answers them. */
  drop(flow: Flow<Item>, nowMs: number): readonly Item[] {
    const items: Item[] = [];
    const { levels } = flow;
    if (flow.level !== undefined) this.#leave(flow, nowMs);
    for (let head = flow.shift(); head !== undefined; head = flow.shift()) {
      flow.account.remove(head.bytes, nowMs);
      flow.offeredMessages -= head.cost.messages;
      flow.offeredBytes -= head.cost.bytes;
      items.push(head.item);
    }
    this.#stopWaiting(flow, nowMs);
    this.#lookAtAge(flow, nowMs);
    // Producers that wait for their turn behind it have it earlier now.
    if (items.length > 0) this.#options.onCharged(levels, nowMs);
    return items;
  }

  /** The first flow of a ring has its turn: its first item goes, or it moves to another ring. */
  #step(flow: Flow<Item>, nowMs: number): Held<Item> | undefined {
    const levels = flow.limits.levelsAt(nowMs);
    if (levels !== flow.levels) {
      this.#leave(flow, nowMs);
      if (levels.length === 0) return this.#go(flow, levels, nowMs);
      this.#rejoin(flow, levels, nowMs);
      return undefined;
    }
    const { at } = flow;
    // A limit that was lowered may have taken the tokens that were reserved.
    const back = levels.findIndex((level, i) => i < at && !level.hasTokens(nowMs));
    const next = back === -1 ? refusing(levels, at + 1, nowMs) : back;
    this.#leave(flow, nowMs);
    if (next === -1) return this.#go(flow, levels, nowMs);
    this.#join(flow, levels, next, nowMs);
    return undefined;
  }

  /** Of a flow that stands in no ring. */
  #go(flow: Flow<Item>, levels: readonly LimitLevel[], nowMs: number): Held<Item> | undefined {
    this.#lookAtAge(flow, nowMs);
    const head = flow.shift();
    if (head === undefined) return undefined;
    flow.released++;
    flow.watch?.onReleased(flow, nowMs - head.heldAtMs);
    for (const level of levels) level.charge(head.cost);
    if (flow.heldFrames === 0) this.#stopWaiting(flow, nowMs);
    else this.#rejoin(flow, levels, nowMs);
    flow.account.remove(head.bytes, nowMs);
    this.#lookAtAge(flow, nowMs);
    // Only now: what the flow still holds counts for how long clients are told to pause.
    this.#options.onCharged(levels, nowMs);
    return head;
  }

  #hold(
    flow: Flow<Item>,
    item: Item,
    cost: Cost,
    levels: readonly LimitLevel[],
    at: number,
    nowMs: number,
  ): void {
    const level = levels[at] as LimitLevel;
    const kept = this.#options.keep(item);
    level.onShort(nowMs);
    this.#lookAtAge(flow, nowMs);
    flow.push({ item: kept.item, cost, bytes: kept.bytes, heldAtMs: nowMs });
    if (flow.level === undefined) this.#join(flow, levels, at, nowMs);
    else this.#rings.of(level).count(cost.messages, cost.bytes);
    if (flow.limited !== undefined) flow.limited.frames++;
    this.#lookAtAge(flow, nowMs);
    flow.account.add(kept.bytes, level.reason, flow.facts.topic, nowMs);
  }

  /** Reading stops for a flow that holds more than the age of its oldest item allows. */
  #lookAtAge(flow: Flow<Item>, nowMs: number): void {
    flow.lookAtAge(this.#options.maxHoldMs, nowMs);
    const { pausedFor, level, account } = flow;
    if (!flow.isBeyondAge) {
      if (pausedFor === undefined) return;
      flow.pausedFor = undefined;
      account.resume(pausedFor, flow.facts.topic, nowMs);
    } else if (pausedFor === undefined && level !== undefined) {
      flow.pausedFor = level.reason;
      account.pause(level.reason, flow.facts.topic, nowMs);
    }
  }

  #charge(levels: readonly LimitLevel[], cost: Cost, nowMs: number): void {
    for (let i = 0; i < levels.length; i++) (levels[i] as LimitLevel).charge(cost);
    this.#options.onCharged(levels, nowMs);
  }

  #join(flow: Flow<Item>, levels: readonly LimitLevel[], at: number, nowMs: number): void {
    const level = levels[at] as LimitLevel;
    const head = flow.firstCost;
    for (let i = 0; i < at; i++) (levels[i] as LimitLevel).reserve(head);
    flow.levels = levels;
    flow.at = at;
    const ring = this.#rings.of(level);
    ring.join(flow, priceOf(head));
    this.#count(flow, level.isLimited ? level : undefined, nowMs);
    if (ring.size > 1) return;
    this.#rings.wake(ring, level.hasRoom(nowMs) ? nowMs : nowMs + level.pauseMs(nowMs));
  }

  /** Of a flow that stands in no ring and has an item. If nothing refuses, the next step serves it. */
  #rejoin(flow: Flow<Item>, levels: readonly LimitLevel[], nowMs: number): void {
    if (levels.length === 0) this.#join(flow, this.#unlimited, 0, nowMs);
    else this.#join(flow, levels, Math.max(0, refusing(levels, 0, nowMs)), nowMs);
  }

  #leave(flow: Flow<Item>, nowMs: number): void {
    const { levels, at } = flow;
    const head = flow.firstCost;
    const level = levels[at] as LimitLevel;
    const ring = this.#rings.of(level);
    ring.leave(flow);
    flow.levels = NO_LEVELS;
    flow.at = -1;
    if (ring.size === 0) this.#rings.remove(ring);
    for (let i = 0; i < at; i++) {
      const before = levels[i] as LimitLevel;
      before.unreserve(head);
      this.#rings.wakeLevel(before, nowMs);
    }
  }

  #stopWaiting(flow: Flow<Item>, nowMs: number): void {
    this.#waiting.delete(flow);
    this.#count(flow, undefined, nowMs);
  }

  /** The flow waits for this level from now on, or for none. */
  #count(flow: Flow<Item>, level: LimitLevel | undefined, nowMs: number): void {
    const { limited } = flow;
    const next = level && this.#options.times.of(flow.limits.topic.key, level);
    if (next === limited) return;
    limited?.end(nowMs);
    next?.begin(nowMs);
    flow.limited = next;
  }

  /** Limits have changed: flows that have other levels now wait for those. */
  #onLimits(nowMs: number): void {
    if (this.#version !== this.#options.limits.version) {
      this.#version = this.#options.limits.version;
      for (const flow of this.#waiting) {
        const levels = flow.limits.levelsAt(nowMs);
        if (levels === flow.levels) continue;
        this.#leave(flow, nowMs);
        this.#rejoin(flow, levels, nowMs);
      }
    }
    this.#rings.wakeAll(nowMs);
  }
}

/** The first level from an index on that has waiting flows or no room; -1 if none. */
function refusing(levels: readonly LimitLevel[], from: number, nowMs: number): number {
  for (let i = from; i < levels.length; i++) {
    const level = levels[i] as LimitLevel;
    if (level.waiting > 0 || !level.hasRoom(nowMs)) return i;
  }
  return -1;
}
