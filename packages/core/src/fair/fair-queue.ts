import { invariant, requireCount, requireWhole } from "../errors.ts";
import { Fifo } from "./fifo.ts";

export interface Cost {
  readonly messages: number;
  readonly bytes: number;
}

export interface FairQueueOptions {
  /**
   * What a flow may release per turn; the dimension that is used up first ends the turn. Best no
   * less than the largest item: dearer heads are fair too, but each costs a look at every flow.
   */
  readonly quantum: Cost;
  readonly maxFlows: number;
  readonly maxItemsPerFlow: number;
}

/** What pays for a release. `CompoundLimiter` and `MultiLevelLimiter` are such. */
export interface Purse {
  hasTokens(nowMs: number): boolean;
  charge(messages: number, bytes: number): void;
}

/** Whose items these are, such as one producer's, and what pays for them. */
export interface FlowRef {
  readonly id: string;
  readonly purse: Purse;
}

interface Waiting<T> {
  readonly item: T;
  readonly cost: Cost;
}

interface Flow<T> {
  readonly id: string;
  readonly purse: Purse;
  readonly items: Fifo<Waiting<T>>;
  hasTurn: boolean;
  /** Turns saved up towards a head that costs more than one. */
  credit: number;
}

/**
 * Whose turn is next among the throttled: deficit round robin over messages and bytes.
 *
 * A turn is worth one quantum, and what a flow cannot use yet is saved for its head. So flows that
 * keep waiting on one purse get the same, within one quantum and one item, whatever the sizes; and
 * if no item costs more than a quantum, between two turns of one flow everybody else has had one.
 * A flow's own items leave in the order they came. A purse without tokens holds up its own flows
 * and no others.
 */
export class FairQueue<T> {
  readonly #options: FairQueueOptions;
  /** In the order of their turns: the first has its turn or is about to. */
  readonly #flows = new Map<string, Flow<T>>();
  #size = 0;

  constructor(options: FairQueueOptions) {
    requireWhole("quantum.messages", options.quantum.messages, 1);
    requireWhole("quantum.bytes", options.quantum.bytes, 1);
    requireWhole("maxFlows", options.maxFlows, 1);
    requireWhole("maxItemsPerFlow", options.maxItemsPerFlow, 1);
    this.#options = options;
  }

  /** Items waiting, of all flows together. */
  get size(): number {
    return this.#size;
  }

  /**
   * Lets `item` wait its turn; false, and nothing changes, if there is no room for it. A flow that
   * waits already keeps the purse it came with.
   */
  tryPush({ id, purse }: FlowRef, item: T, cost: Cost): boolean {
    requireCount(cost.messages);
    requireCount(cost.bytes);
    // Otherwise a turn would never end.
    invariant(cost.messages + cost.bytes > 0, "an item costs something");
    let flow = this.#flows.get(id);
    if (flow === undefined) {
      if (this.#flows.size >= this.#options.maxFlows) return false;
      flow = { id, purse, items: new Fifo(), hasTurn: false, credit: 0 };
      this.#flows.set(id, flow);
    }
    if (flow.items.length >= this.#options.maxItemsPerFlow) return false;
    flow.items.push({ item, cost });
    this.#size++;
    return true;
  }

  /** Takes out everything that waits in a flow, in order: its producer has gone. */
  remove(flowId: string): T[] {
    const items = this.#flows.get(flowId)?.items;
    this.#flows.delete(flowId);
    const removed: T[] = [];
    for (let next = items?.shift(); next !== undefined; next = items?.shift()) {
      removed.push(next.item);
    }
    this.#size -= removed.length;
    return removed;
  }

  /**
   * Takes out, turn by turn, what the flows' purses have tokens for, and charges them: the last
   * item may leave a purse in debt. Charging on release is what keeps the queue from emptying all
   * at once.
   */
  release(nowMs: number): T[] {
    const released: T[] = [];
    // A round that releases nothing: either every purse is empty, or every head is dear.
    let passedOver = 0;
    let isAnyDear = false;
    for (;;) {
      const flow = firstOf(this.#flows);
      if (flow === undefined) return released;
      if (passedOver >= this.#flows.size) {
        if (!isAnyDear) return released;
        this.#skipRounds(nowMs);
        passedOver = 0;
        isAnyDear = false;
      }
      if (!flow.purse.hasTokens(nowMs)) {
        this.#moveToEnd(flow);
        passedOver++;
        continue;
      }
      const next = this.#takeTurn(flow);
      if (next === undefined) {
        flow.hasTurn = false;
        this.#moveToEnd(flow);
        passedOver++;
        isAnyDear = true;
        continue;
      }
      flow.purse.charge(next.cost.messages, next.cost.bytes);
      released.push(next.item);
      passedOver = 0;
      isAnyDear = false;
    }
  }

  #takeTurn(flow: Flow<T>): Waiting<T> | undefined {
    if (!flow.hasTurn) {
      flow.hasTurn = true;
      flow.credit++;
    }
    const price = this.#price(flow);
    if (flow.credit < price) return undefined;
    flow.credit -= price;
    const next = flow.items.shift();
    if (flow.items.length === 0) this.#flows.delete(flow.id);
    this.#size--;
    return next;
  }

  #moveToEnd(flow: Flow<T>): void {
    this.#flows.delete(flow.id);
    this.#flows.set(flow.id, flow);
  }

  /** Saves up, for all who could pay, the turns until the first of them can go. */
  #skipRounds(nowMs: number): void {
    const able = [...this.#flows.values()].filter(({ purse }) => purse.hasTokens(nowMs));
    const rounds = able.map((flow) => Math.ceil(this.#price(flow) - flow.credit));
    const skipped = rounds.reduce((a, b) => Math.min(a, b)) - 1;
    for (const flow of able) flow.credit += skipped;
  }

  /** Of the head, in turns. */
  #price({ items }: Flow<T>): number {
    const cost = items.peek()?.cost;
    invariant(cost !== undefined, "a flow in the queue has an item");
    const { quantum } = this.#options;
    return Math.max(cost.messages / quantum.messages, cost.bytes / quantum.bytes);
  }
}

function firstOf<V>(map: ReadonlyMap<string, V>): V | undefined {
  return map.values().next().value;
}
