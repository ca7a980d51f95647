import { invariant, requireCount, requireWhole } from "../errors.ts";
import { Fifo } from "./fifo.ts";

export interface Cost {
  readonly messages: number;
  readonly bytes: number;
}

export interface FairQueueOptions {
  /** What a flow may release per turn; the dimension that is used up first ends the turn. */
  readonly quantum: Cost;
  readonly maxFlows: number;
  readonly maxItemsPerFlow: number;
}

/** What pays for a release. `CompoundLimiter` and `MultiLevelLimiter` are such. */
export interface Purse {
  hasTokens(nowMs: number): boolean;
  charge(messages: number, bytes: number): void;
}

/** One producer's waiting items. */
interface Flow<T> {
  readonly items: Fifo<{ readonly item: T; readonly cost: Cost }>;
  hasTurn: boolean;
  /** Turns saved up towards a head that costs more than one. */
  credit: number;
}

/**
 * Whose turn is next among the throttled: deficit round robin over messages and bytes.
 *
 * A turn is worth one quantum, and what a flow cannot use yet is saved for its head. So flows that
 * keep waiting get the same, within one quantum and one item, whatever the sizes; and if no item
 * costs more than a quantum, between two turns of one flow everybody else has had one. A flow's own
 * items leave in the order they came.
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

  /** Lets `item` wait its turn; false, and nothing changes, if there is no room for it. */
  tryPush(flowId: string, item: T, cost: Cost): boolean {
    requireCount(cost.messages);
    requireCount(cost.bytes);
    let flow = this.#flows.get(flowId);
    if (flow === undefined) {
      if (this.#flows.size >= this.#options.maxFlows) return false;
      flow = { items: new Fifo(), hasTurn: false, credit: 0 };
      this.#flows.set(flowId, flow);
    }
    if (flow.items.length >= this.#options.maxItemsPerFlow) return false;
    flow.items.push({ item, cost });
    this.#size++;
    return true;
  }

  /** Takes out everything that waits in `flowId`, in order: its producer has gone. */
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
   * Takes out, turn by turn, what `purse` has tokens for, and charges it for each: the last may
   * leave it in debt. Charging on release is what keeps the queue from emptying all at once.
   */
  release(purse: Purse, nowMs: number): T[] {
    const released: T[] = [];
    while (this.#size > 0 && purse.hasTokens(nowMs)) {
      const { item, cost } = this.#next();
      purse.charge(cost.messages, cost.bytes);
      released.push(item);
    }
    return released;
  }

  #next(): { readonly item: T; readonly cost: Cost } {
    for (let turnsEnded = 0; ; turnsEnded++) {
      // A whole round released nothing: every head is dear. Skip the rounds that would not either.
      if (turnsEnded === this.#flows.size) {
        this.#skipRounds();
        turnsEnded = 0;
      }
      for (const [flowId, flow] of this.#flows) {
        const next = this.#takeTurn(flow);
        if (next === undefined) this.#endTurn(flowId, flow);
        else {
          if (flow.items.length === 0) this.#flows.delete(flowId);
          this.#size--;
          return next;
        }
        break;
      }
    }
  }

  #takeTurn(flow: Flow<T>): { readonly item: T; readonly cost: Cost } | undefined {
    if (!flow.hasTurn) {
      flow.hasTurn = true;
      flow.credit++;
    }
    const price = this.#price(flow);
    if (flow.credit < price) return undefined;
    flow.credit -= price;
    return flow.items.shift();
  }

  #endTurn(flowId: string, flow: Flow<T>): void {
    flow.hasTurn = false;
    this.#flows.delete(flowId);
    this.#flows.set(flowId, flow);
  }

  #skipRounds(): void {
    let roundsToFirst = Infinity;
    for (const flow of this.#flows.values()) {
      roundsToFirst = Math.min(roundsToFirst, Math.ceil(this.#price(flow) - flow.credit));
    }
    for (const flow of this.#flows.values()) flow.credit += roundsToFirst - 1;
  }

  /** Of the head, in turns. */
  #price({ items }: Flow<T>): number {
    const cost = items.peek()?.cost;
    invariant(cost !== undefined, "a flow in the queue has an item");
    const { quantum } = this.#options;
    return Math.max(cost.messages / quantum.messages, cost.bytes / quantum.bytes);
  }
}
