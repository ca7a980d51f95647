import { ADMITTED, refusal } from "../admission.ts";
import type { Admission } from "../admission.ts";
import { invariant, requireCount, requireWhole } from "../errors.ts";
import { Fifo } from "./fifo.ts";

/** The price of an item. */
export interface Cost {
  readonly messages: number;
  readonly bytes: number;
}

export interface FairQueueOptions {
  /**
   * What a flow may release per turn; the dimension that is used up first ends the turn. Raising it
   * makes turns longer and sharing coarser.
   * @default { messages: 1, bytes: 65_536 }
   */
  readonly quantum?: Cost;
  /**
   * Most flows that wait at once.
   * @default 10_000
   */
  readonly maxFlows?: number;
  /**
   * Most items that one flow has waiting.
   * @default 1_000
   */
  readonly maxItemsPerFlow?: number;
  /**
   * Most bytes that wait in all flows together, counted by the items' costs. An item that alone
   * costs more is admitted while no other bytes wait, so that it is not refused for ever.
   * @default 67_108_864
   */
  readonly maxBytes?: number;
}

/**
 * Pays for releases. `CompoundLimiter` and `MultiLevelLimiter` are such. Its methods must not throw.
 * `pauseMs` is 0 exactly when `canAcquire` is true. `nowMs` is the instant of the release; without
 * it the payer reads its own clock.
 */
export interface Payer {
  canAcquire(messages: number, bytes: number, nowMs?: number): boolean;
  pauseMs(messages: number, bytes: number, nowMs?: number): number;
  charge(messages: number, bytes: number, nowMs?: number): void;
}

/** A sequence of items that keep their order, such as those of one producer. */
export interface Flow {
  readonly id: string;
  /**
   * Asked anew at each release, so that a replaced limiter takes effect on items that wait. The
   * function of the last push counts, for all items of the flow.
   */
  readonly payer: () => Payer;
}

interface Waiting<T> {
  readonly item: T;
  readonly cost: Cost;
}

interface WaitingFlow<T> {
  readonly id: string;
  payer: () => Payer;
  readonly items: Fifo<Waiting<T>>;
  hasTurn: boolean;
  /** Turns saved up towards a head that costs more than one. */
  credit: number;
}

const QUANTUM: Cost = { messages: 1, bytes: 65_536 };

/**
 * Deficit round robin over messages and bytes: decides which of the throttled flows is next.
 *
 * A turn is worth one quantum, and what a flow cannot use yet is saved for its head. Flows that
 * keep waiting on one payer get the same, within one quantum and one item, for any sizes of items.
 * If no item costs more than a quantum, every other flow has had a turn between two turns of one
 * flow. A flow's own items leave in the order they came. A payer without tokens holds up its own
 * flows only.
 *
 * An item leaves once its payer has a token of each kind; it is charged then, so one item may leave
 * the payer in debt. An item that costs nothing leaves as soon as it is at the head of its flow.
 *
 * @example
 * const limiter = new CompoundLimiter({ messages: { rate: 100 } });
 * const queue = new FairQueue<Buffer>();
 * queue.tryPush({ id: "producer-1", payer: () => limiter }, body, { messages: 1, bytes: body.length });
 * for (const item of queue.release()) send(item);
 * const nextMs = queue.nextReleaseMs(); // undefined when empty
 */
export class FairQueue<T> {
  readonly #quantum: Cost;
  readonly #maxFlows: number;
  readonly #maxItemsPerFlow: number;
  readonly #maxBytes: number;
  /** In the order of their turns: the first has its turn or is next. */
  readonly #flows = new Map<string, WaitingFlow<T>>();
  #size = 0;
  #bytes = 0;

  constructor(options: FairQueueOptions = {}) {
    const { quantum = QUANTUM, maxFlows = 10_000, maxItemsPerFlow = 1000 } = options;
    const { maxBytes = 67_108_864 } = options;
    requireWhole("quantum.messages", quantum.messages, 1);
    requireWhole("quantum.bytes", quantum.bytes, 1);
    requireWhole("maxFlows", maxFlows, 1);
    requireWhole("maxItemsPerFlow", maxItemsPerFlow, 1);
    requireWhole("maxBytes", maxBytes, 1);
    this.#quantum = quantum;
    this.#maxFlows = maxFlows;
    this.#maxItemsPerFlow = maxItemsPerFlow;
    this.#maxBytes = maxBytes;
  }

  /** Items waiting in all flows together. */
  get size(): number {
    return this.#size;
  }

  /** Bytes waiting in all flows together, by the items' costs. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds `item` to the end of its flow if there is room, else changes nothing. */
  tryPush(flow: Flow, item: T, cost: Cost): boolean {
    return this.admit(flow, item, cost).ok;
  }

  /**
   * As `tryPush`, and tells the reason of a refusal: `memory` if `maxBytes` would be exceeded,
   * `connection-pending` if the flow, or the number of flows, is at its bound.
   */
  admit({ id, payer }: Flow, item: T, cost: Cost): Admission {
    requireCount("cost.messages of FairQueue.admit", cost.messages);
    requireCount("cost.bytes of FairQueue.admit", cost.bytes);
    if (this.#bytes > 0 && this.#bytes + cost.bytes > this.#maxBytes) return refusal("memory");
    let flow = this.#flows.get(id);
    if (flow === undefined) {
      if (this.#flows.size >= this.#maxFlows) return refusal("connection-pending");
      flow = { id, payer, items: new Fifo(), hasTurn: false, credit: 0 };
      this.#flows.set(id, flow);
    }
    if (flow.items.length >= this.#maxItemsPerFlow) return refusal("connection-pending");
    flow.payer = payer;
    flow.items.push({ item, cost });
    this.#size++;
    this.#bytes += cost.bytes;
    return ADMITTED;
  }

  /** Takes out everything that waits in a flow, in order, and charges nothing. */
  remove(flowId: string): T[] {
    const removed: T[] = [];
    const flow = this.#flows.get(flowId);
    if (flow !== undefined) while (flow.items.length > 0) removed.push(this.#shift(flow).item);
    return removed;
  }

  /** Takes out, turn by turn, the items that their payers have tokens for, and charges them. */
  release(nowMs?: number): T[] {
    const released: T[] = [];
    // Flows whose payers have no tokens at this instant: set aside, or each round would visit them.
    const held: WaitingFlow<T>[] = [];
    let turnsEnded = 0;
    // A Map's iterator also reaches flows that are moved to its end.
    for (const flow of this.#flows.values()) {
      const rest = this.#serve(flow, nowMs, released);
      if (rest === "empty") continue;
      this.#flows.delete(flow.id);
      if (rest === "unpaid") {
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
   * Milliseconds until `release` has something to release: the shortest pause of any flow's payer,
   * 0 if an item is due now, `undefined` if the queue is empty. Ask again after each push and after
   * each change of a limit.
   */
  nextReleaseMs(nowMs?: number): number | undefined {
    let nextMs: number | undefined;
    for (const { items, payer } of this.#flows.values()) {
      const pauseMs = isFree(items.peek()?.cost) ? 0 : payer().pauseMs(1, 1, nowMs);
      nextMs = Math.min(nextMs ?? pauseMs, pauseMs);
    }
    return nextMs;
  }

  /**
   * Releases what is left of a flow's turn. Answers the state of the flow: empty, its head not paid
   * for at this instant, or its turn over because the head costs more than the credit.
   */
  #serve(flow: WaitingFlow<T>, nowMs: number | undefined, released: T[]): FlowState {
    const payer = flow.payer();
    while (isFree(flow.items.peek()?.cost) || payer.canAcquire(1, 1, nowMs)) {
      const next = this.#takeTurn(flow);
      if (next === undefined) return "turn-over";
      if (!isFree(next.cost)) payer.charge(next.cost.messages, next.cost.bytes, nowMs);
      released.push(next.item);
      if (flow.items.length === 0) return "empty";
    }
    return "unpaid";
  }

  #takeTurn(flow: WaitingFlow<T>): Waiting<T> | undefined {
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
    return this.#shift(flow);
  }

  /** Takes the head out of a flow, and the flow out of the queue if it was the last. */
  #shift(flow: WaitingFlow<T>): Waiting<T> {
    const next = flow.items.shift();
    invariant(next !== undefined, "a flow in the queue has an item");
    if (flow.items.length === 0) this.#flows.delete(flow.id);
    this.#size--;
    this.#bytes -= next.cost.bytes;
    return next;
  }

  /** Gives all flows at once the turns of the rounds in which none of them could release. */
  #skipRounds(): void {
    let roundsToFirst = Infinity;
    for (const flow of this.#flows.values()) {
      roundsToFirst = Math.min(roundsToFirst, Math.ceil(this.#price(flow) - flow.credit));
    }
    for (const flow of this.#flows.values()) flow.credit += roundsToFirst - 1;
  }

  /** Turns that the head costs: max(messages ÷ quantum.messages, bytes ÷ quantum.bytes). */
  #price({ items }: WaitingFlow<T>): number {
    const cost = items.peek()?.cost;
    invariant(cost !== undefined, "a flow in the queue has an item");
    return Math.max(cost.messages / this.#quantum.messages, cost.bytes / this.#quantum.bytes);
  }
}

type FlowState = "empty" | "unpaid" | "turn-over";

function isFree(cost: Cost | undefined): boolean {
  return cost !== undefined && cost.messages === 0 && cost.bytes === 0;
}
