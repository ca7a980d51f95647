import { ThrottleTracker } from "@sluice/core";
import type { Cost, Reason } from "@sluice/core";
import { Flow } from "../desk/flow.ts";
import { HeldAccount } from "../desk/held-account.ts";
import type { HeldListener, HeldMemory, HeldState } from "../desk/held-account.ts";
import type { PublishDesk } from "../desk/publish-desk.ts";
import type { PublishLimits } from "../limits/publish-limits.ts";
import type { AwareConnection, ThrottleNotice } from "../notices/aware-connection.ts";
import type { AwareFlow } from "../notices/aware-flow.ts";
import type { ThrottleNotices } from "../notices/throttle-notices.ts";
import type { ConnectionBounds } from "../settings.ts";
import { PauseTimes } from "./pause-times.ts";
import type { PauseTotal } from "./pause-times.ts";

/**
 * What a connection does for its ingress. None of these methods may call the ingress back before it
 * returns, except that `publish` may call `settled`.
 */
export interface IngressClient<Item> {
  /** The client, as "host:port". */
  readonly address: string;
  /** As the client calls itself, once it has connected. */
  readonly clientVersion?: string | undefined;
  /** A held item has its turn: it is stored or forwarded now. */
  publish(item: Item, nowMs: number): void;
  /** From now on the connection must not be read for this reason; other reasons may hold as well. */
  throttle(reason: Reason, nowMs: number): void;
  /** This reason has ended. */
  unthrottle(reason: Reason, nowMs: number): void;
  /** Sends THROTTLE_PRODUCER; only after `setAware`. */
  notify(notice: ThrottleNotice): void;
  /** The connection is to be closed: the client has broken the protocol, or holds what there is no room for. */
  disconnect(reason: string): void;
}

export interface OpenedFlow {
  /** The full name, with "-partition-N" if it is a partition. */
  readonly topic: string;
  /** The producer's name. */
  readonly name: string;
  /** The client's id of the producer. */
  readonly producerId: bigint;
}

/** Items of a connection that are being stored or forwarded, and their bound. */
export interface PendingState {
  readonly count: number;
  /** Reading stops there. */
  readonly max: number;
  /** Reading goes on from here down. */
  readonly resume: number;
}

/** What all connections of a process share. */
export interface SharedIngress<Item> {
  readonly bounds: ConnectionBounds;
  readonly limits: PublishLimits;
  readonly desk: PublishDesk<Item>;
  readonly heldMemory: HeldMemory;
  readonly notices: ThrottleNotices;
  /** Something begins to wait, was told to pause, or is not read. */
  readonly onDecision: () => void;
}

/** A producer that is open; `aware` if its client knows the throttle commands. */
export interface OpenFlow<Item> {
  readonly flow: Flow<Item>;
  readonly aware: AwareFlow | undefined;
}

/**
 * The publishing side of one connection: which of its producers' items may go, which wait, and whether
 * the connection may be read. Producers are named by keys, which the caller does not use twice.
 */
export class ConnectionIngress<Item> implements HeldListener {
  readonly #client: IngressClient<Item>;
  readonly #shared: SharedIngress<Item>;
  readonly #tracker = new ThrottleTracker();
  readonly #account: HeldAccount;
  readonly #flows = new Map<number, OpenFlow<Item>>();
  /** The producer of the last offer: the next one is mostly of the same. */
  #lastKey = -1;
  #last: OpenFlow<Item> | undefined;
  readonly #pauses = new PauseTimes();
  #aware: AwareConnection | undefined;
  #pending = 0;
  #isPendingFull = false;
  readonly #onEnd: () => void;
  #isEnded = false;

  constructor(client: IngressClient<Item>, shared: SharedIngress<Item>, onEnd: () => void) {
    this.#client = client;
    this.#onEnd = onEnd;
    this.#shared = shared;
    this.#account = new HeldAccount(shared.bounds, shared.heldMemory, this);
  }

  get address(): string {
    return this.#client.address;
  }

  /** Whether no reason speaks against reading. */
  get isReading(): boolean {
    return !this.#tracker.isThrottled;
  }

  /** Why the connection is not read, oldest first. */
  get reasons(): readonly Reason[] {
    return this.#tracker.reasons();
  }

  /** Items that are being stored or forwarded. */
  get pending(): number {
    return this.#pending;
  }

  get pendingState(): PendingState {
    const { pendingMax } = this.#shared.bounds;
    return { count: this.#pending, max: pendingMax, resume: pendingMax >> 1 };
  }

  get heldState(): HeldState {
    return this.#account.state;
  }

  /** Its producers that are open. */
  get flows(): Iterable<OpenFlow<Item>> {
    return this.#flows.values();
  }

  /** Memory of the items that wait. */
  get heldBytes(): number {
    return this.#account.bytes;
  }

  /** The client has announced that it knows the throttle commands. To be called before `open`. */
  setAware(): void {
    this.#aware ??= this.#shared.notices.connect((notice) => {
      this.#client.notify(notice);
      this.#shared.onDecision();
    });
  }

  /** A producer may send from now on. */
  open(key: number, { topic, name, producerId }: OpenedFlow): void {
    if (this.#isEnded) return;
    const limits = this.#shared.limits.limitsOf(topic);
    const { address, clientVersion: client } = this.#client;
    const facts = { topic, producer: name, address, client };
    const flow = new Flow<Item>(facts, limits, this.#account, this.#publish);
    const aware = this.#aware?.open(producerId, flow);
    flow.isAware = aware !== undefined;
    this.#flows.set(key, { flow, aware });
    this.#lastKey = -1;
  }

  /** True: publish it now. False: it is held, and `IngressClient.publish` is called when it may go. */
  offer(key: number, item: Item, cost: Cost, nowMs: number): boolean {
    if (key !== this.#lastKey) {
      this.#last = this.#flows.get(key);
      this.#lastKey = key;
    }
    const open = this.#last;
    if (open !== undefined) {
      const { notices, desk } = this.#shared;
      if (open.aware !== undefined) notices.onSend(open.aware, nowMs);
      if (!desk.offer(open.flow, item, cost, nowMs)) return false;
      this.#account.passedAtMs = nowMs;
    }
    this.#countPending(nowMs);
    return true;
  }

  /** An item that went is stored, answered or lost. */
  settled(nowMs: number): void {
    if (this.#pending === 0) return;
    this.#pending--;
    if (!this.#isPendingFull || this.#pending > this.#shared.bounds.pendingMax >> 1) return;
    this.#isPendingFull = false;
    this.resume("connection-pending", "", nowMs);
  }

  /** The client has sent THROTTLE_PRODUCER_RECEIPT. */
  receipt(requestId: bigint, nowMs: number): void {
    if (this.#aware?.receipt(requestId, nowMs) === "forged")
      this.#client.disconnect("too many receipts of throttle commands that were not sent");
  }

  /** The producer was closed by its client, by the broker or with its connection. Answers its held items, which are forgotten. */
  close(key: number, nowMs: number): readonly Item[] {
    const open = this.#flows.get(key);
    if (open === undefined) return [];
    this.#flows.delete(key);
    this.#lastKey = -1;
    this.#last = undefined;
    open.flow.isClosed = true;
    if (open.aware !== undefined) this.#shared.notices.close(open.aware);
    return this.#shared.desk.drop(open.flow, nowMs);
  }

  /** The connection is gone: what it held is forgotten. */
  end(nowMs: number): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    for (const key of this.#flows.keys()) this.close(key, nowMs);
    this.#account.end();
    this.#onEnd();
  }

  /** How long the connection was not read, and because of which topic; `topics` are all on it. */
  pauses(nowMs: number): readonly PauseTotal[] {
    const topics = new Set([...this.#flows.values()].map(({ flow }) => flow.facts.topic));
    return this.#pauses.totals(topics, nowMs);
  }

  /** For `HeldAccount` and this class only. */
  pause(reason: Reason, topic: string, nowMs: number): void {
    const change = this.#tracker.throttle(reason);
    this.#pauses.begin(reason, topic, nowMs);
    this.#shared.onDecision();
    if (change !== "paused" && change !== "added") return;
    if (this.#isEnded) return;
    this.#client.throttle(reason, nowMs);
    this.#aware?.onPaused(reason, nowMs);
  }

  overflow(): void {
    if (!this.#isEnded) this.#client.disconnect("held SENDs of all clients fill the memory");
  }

  /** `topic` is that of the `pause` which ends. */
  resume(reason: Reason, topic: string, nowMs: number): void {
    const change = this.#tracker.release(reason);
    this.#pauses.end(reason, topic, nowMs);
    if (change !== "resumed" && change !== "lifted") return;
    if (!this.#isEnded) this.#client.unthrottle(reason, nowMs);
  }

  readonly #publish = (item: Item, nowMs: number): void => {
    this.#countPending(nowMs);
    this.#client.publish(item, nowMs);
  };

  #countPending(nowMs: number): void {
    this.#pending++;
    if (this.#isPendingFull || this.#pending < this.#shared.bounds.pendingMax) return;
    this.#isPendingFull = true;
    this.pause("connection-pending", "", nowMs);
  }
}
