import { AlarmHeap } from "@sluice/core/internal";
import type { Cost } from "@sluice/core";
import type { Alarm } from "@sluice/core/internal";
import type { LimitLevel } from "../limits/limit-level.ts";
import type { Flow } from "./flow.ts";

/** What one turn is worth, as in core's `FairQueue`. */
const QUANTUM: Cost = { messages: 1, bytes: 65_536 };

/** Turns that an item costs; parts of a turn count. */
export function priceOf({ messages, bytes }: Cost): number {
  return Math.max(messages / QUANTUM.messages, bytes / QUANTUM.bytes);
}

/**
 * The flows that wait for one level, in the order of their turns. A flow's turn comes when `turn` has
 * reached what it was when the flow came, plus the price of its first item: deficit round robin without
 * the rounds, so an item of a thousand turns costs no more work than one of a single turn.
 */
export class Ring<Item> implements Alarm {
  readonly level: LimitLevel;
  /** When it is to be served. */
  dueMs = 0;
  place: number | undefined;
  readonly #flows = new AlarmHeap<Flow<Item>>();
  #turn = 0;

  constructor(level: LimitLevel) {
    this.level = level;
  }

  get size(): number {
    return this.#flows.size;
  }

  /** The flow whose turn it is. */
  get first(): Flow<Item> | undefined {
    return this.#flows.first;
  }

  join(flow: Flow<Item>, price: number): void {
    flow.dueMs = this.#turn + price;
    this.#flows.add(flow);
    this.level.waiting++;
    this.count(flow.heldMessages, flow.heldCostBytes);
  }

  leave(flow: Flow<Item>): void {
    this.#flows.remove(flow);
    this.level.waiting--;
    this.count(-flow.heldMessages, -flow.heldCostBytes);
  }

  /** The first flow has its turn. */
  advance(flow: Flow<Item>): void {
    this.#turn = flow.dueMs;
  }

  /** What waits has changed by this. */
  count(messages: number, bytes: number): void {
    this.level.heldMessages += messages;
    this.level.heldBytes += bytes;
  }
}
