import { encodeFrame } from "@sluice/pulsar/wire";
import type { CommandBodies, UnknownCommand } from "@sluice/pulsar/wire";
import { deliveredBy, permitsOf } from "../frames/delivery-frames.ts";
import type { BrokerFrame, ClientFrame } from "../relay-commands.ts";
import { pass, refuse } from "../relay-context.ts";
import type { RelayContext } from "../relay-context.ts";

/** A consumer of the client, from its SUBSCRIBE until it is closed by either side. */
export interface RelayConsumer {
  readonly topic: string;
  readonly subscription: string;
  readonly state: "pending" | "open" | "closing";
  /** Of a consumer whose permits are limited. */
  readonly key: number | undefined;
}

interface ConsumerRequest {
  readonly id: bigint;
  readonly kind: "subscribe" | "close";
}

/** The consumers of one client. */
export class RelayConsumers {
  readonly #context: RelayContext;
  readonly #byId = new Map<bigint, RelayConsumer>();
  /** Ids of the limited consumers, by key. */
  readonly #limited = new Map<number, bigint>();
  readonly #requests = new Map<bigint, ConsumerRequest>();

  constructor(context: RelayContext) {
    this.#context = context;
  }

  get size(): number {
    return this.#byId.size;
  }

  get(id: bigint): RelayConsumer | undefined {
    return this.#byId.get(id);
  }

  subscribe(frame: ClientFrame, request: CommandBodies["subscribe"], nowMs: number): void {
    const { consumerId: id, requestId, topic, subscription, consumerName: name = "" } = request;
    const { consumersMax } = this.#context.facts.limits;
    const former = this.#byId.get(id);
    if (former === undefined && this.#isFull(consumersMax)) {
      const message = `the connection has ${consumersMax} consumers, its maximum; use another connection`;
      refuse(this.#context, requestId, { error: "TooManyRequests", message });
      return;
    }
    if (former === undefined || former.state === "closing") {
      const key = this.#context.nextKey();
      const consumer = { key, id, name, topic, subscription };
      const admitted = this.#context.deliveries.subscribe(consumer, nowMs);
      if (typeof admitted === "object") {
        refuse(this.#context, requestId, admitted);
        return;
      }
      const isLimited = admitted === "limited";
      if (isLimited) this.#limited.set(key, id);
      const limitedKey = isLimited ? key : undefined;
      this.#byId.set(id, { topic, subscription, state: "pending", key: limitedKey });
      this.#requests.set(requestId, { id, kind: "subscribe" });
    }
    pass(this.#context, frame);
  }

  /** Permits of a limited consumer wait for its limits; any other frame goes as it is. */
  passOrFlow(frame: ClientFrame, command: UnknownCommand, nowMs: number): void {
    const asked = this.#limited.size === 0 ? undefined : permitsOf(frame, command);
    const key = asked && this.#byId.get(asked.consumerId)?.key;
    if (asked === undefined || key === undefined) pass(this.#context, frame);
    else this.#context.deliveries.flow(key, asked.messagePermits, nowMs);
  }

  permit(key: number, permits: number): void {
    const consumerId = this.#limited.get(key);
    if (consumerId === undefined) return;
    const body = { consumerId, messagePermits: permits };
    this.#context.outbox.add({ kind: "toUpstream", bytes: encodeFrame({ kind: "flow", body }) });
  }

  /** MESSAGE: charged to the limits of its consumer. */
  delivered(frame: BrokerFrame, nowMs: number): void {
    if (this.#limited.size === 0) return;
    const delivered = deliveredBy(frame);
    const key = delivered && this.#byId.get(delivered.consumerId)?.key;
    if (delivered === undefined || key === undefined) return;
    this.#context.deliveries.delivered(key, delivered.messages, delivered.bytes, nowMs);
  }

  /** CLOSE_CONSUMER or UNSUBSCRIBE. */
  close(
    frame: ClientFrame,
    request: CommandBodies["closeConsumer"] | CommandBodies["unsubscribe"],
    nowMs: number,
  ): void {
    const { consumerId, requestId } = request;
    const consumer = this.#byId.get(consumerId);
    const isUnsubscribe = frame.command.kind === "unsubscribe";
    if (consumer !== undefined && consumer.state !== "closing") {
      // UNSUBSCRIBE may be refused; the consumer is then still open.
      if (!isUnsubscribe) {
        this.#release(consumer, nowMs);
        this.#byId.set(consumerId, { ...consumer, state: "closing", key: undefined });
      }
      if (!this.#isFull(2 * this.#context.facts.limits.consumersMax))
        this.#requests.set(requestId, { id: consumerId, kind: "close" });
    }
    pass(this.#context, frame);
  }

  /** SUCCESS or ERROR to one of their requests. */
  settle(requestId: bigint, hasSucceeded: boolean, nowMs: number): void {
    const request = this.#requests.get(requestId);
    if (request === undefined) return;
    this.#requests.delete(requestId);
    const consumer = this.#byId.get(request.id);
    if (consumer === undefined) return;
    if (request.kind === "subscribe") {
      if (!hasSucceeded) this.#drop(request.id, nowMs);
      else if (consumer.state === "pending")
        this.#byId.set(request.id, { ...consumer, state: "open" });
    } else if (consumer.state === "closing" || (hasSucceeded && consumer.state === "open"))
      this.#drop(request.id, nowMs);
  }

  closedByBroker(id: bigint, nowMs: number): void {
    this.#drop(id, nowMs);
  }

  endAll(nowMs: number): void {
    for (const id of this.#byId.keys()) this.#drop(id, nowMs);
    this.#requests.clear();
  }

  #drop(id: bigint, nowMs: number): void {
    const consumer = this.#byId.get(id);
    if (consumer === undefined) return;
    this.#byId.delete(id);
    this.#release(consumer, nowMs);
  }

  /** Its permits are not limited any more. */
  #release({ key }: RelayConsumer, nowMs: number): void {
    if (key === undefined || !this.#limited.delete(key)) return;
    this.#context.deliveries.drop(key, nowMs);
  }

  #isFull(max: number): boolean {
    return this.#byId.size >= max || this.#requests.size >= 2 * max;
  }
}
