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

/** What pays for a release, and never throws. `CompoundLimiter` and `MultiLevelLimiter` are such. */
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
 * if no item costs more than a quantum, between two turns of one of them each other has had one. A
 * flow's own items leave in the order they came. A purse without tokens holds up its own flows and
 * no others.
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
    // Without tokens, and so for the rest of this call: set aside, or each round would meet them.
    const held: Flow<T>[] = [];
    let turnsEnded = 0;
    // A Map's iterator comes also to the flows that are moved to its end.
    for (const flow of this.#flows.values()) {
      const left = this.#serve(flow, nowMs, released);
      if (left === "nothing") continue;
      this.#flows.delete(flow.id);
      if (left === "unpaid") {
        held.push(flow);
        continue;
      }
      this.#flows.set(flow.id, flow);
      if (++turnsEnded >= this.#flows.size) {
        this.#skipRounds();
        turnsEnded = 0;
      }
    }
    for (const flow of held) this.#flows.set(flow.id, flow);
    return released;
  }

  /**
   * Releases what is left of a flow's turn, and tells what is left of the flow: nothing, a head that
   * its purse does not pay for now, or one that is too dear for this turn.
   */
  #serve(flow: Flow<T>, nowMs: number, released: T[]): "nothing" | "unpaid" | "dear" {
    while (flow.purse.hasTokens(nowMs)) {
      const next = this.#takeTurn(flow);
      if (next === undefined) return "dear";
      flow.purse.charge(next.cost.messages, next.cost.bytes);
      released.push(next.item);
      if (flow.items.length === 0) return "nothing";
    }
    return "unpaid";
  }

  #takeTurn(flow: Flow<T>): Waiting<T> | undefined {
    if (!flow.hasTurn) {
      flow.hasTurn = true;
      flow.credit++;
    }
    const price = this.#price(flow);
    if (flow.credit < price) {
      flow.hasTurn = false;
      return undefined;
    }
    flow.credit -= price;
    const next = flow.items.shift();
    if (flow.items.length === 0) this.#flows.delete(flow.id);
    this.#size--;
    return next;
  }

  /** Gives all flows at once the turns of the rounds in which none of them could go yet. */
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
