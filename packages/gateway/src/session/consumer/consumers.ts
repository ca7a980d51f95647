import { ACK_TYPE, SERVER_ERROR, SUB_TYPE } from "@sluice/pulsar/wire";
import type { CommandBodies } from "@sluice/pulsar/wire";
import { notAllowed, plainText } from "../../refusal/refusal.ts";
import type { Refusal } from "../../refusal/refusal.ts";
import { SessionConsumer } from "./consumer.ts";
import { IdWatch } from "../id-watch.ts";
import { NO_REQUEST, refuse, succeed } from "../request/reply.ts";
import type { SessionContext } from "../session-context.ts";
import type { MessageToDeliver, ResultEvent } from "../session-event.ts";

type Acknowledged = Extract<ResultEvent, { readonly kind: "acknowledged" }>;

/** The consumers of one connection: they subscribe, are sent messages, acknowledge, and close. */
export class Consumers {
  readonly #context: SessionContext;
  readonly #byId = new Map<bigint, SessionConsumer>();
  readonly #byKey = new Map<number, SessionConsumer>();
  readonly #ids: IdWatch;

  constructor(context: SessionContext) {
    this.#context = context;
    const { unknownIdsMax, consumersMax } = context.facts.limits;
    this.#ids = new IdWatch(unknownIdsMax, consumersMax);
  }

  get size(): number {
    return this.#byId.size;
  }

  subscribe(request: CommandBodies["subscribe"]): void {
    const { consumerId, requestId } = request;
    const refusal = this.#cannotSubscribe(request);
    if (refusal !== undefined) {
      refuse(this.#outbox, requestId, refusal);
      return;
    }
    const existing = this.#byId.get(consumerId);
    if (existing?.state === "open" && existing.closeRequestId === undefined) {
      succeed(this.#outbox, requestId);
      return;
    }
    if (existing !== undefined) {
      const message = `consumer ${consumerId} exists already`;
      refuse(this.#outbox, requestId, { error: "ServiceNotReady", message });
      return;
    }
    const consumer = new SessionConsumer(this.#context.nextKey(), request);
    this.#byId.set(consumerId, consumer);
    this.#byKey.set(consumer.key, consumer);
    this.#outbox.add({ kind: "subscribe", consumer: consumer.key, request });
  }

  subscribed(key: number, isActive: boolean | undefined): void {
    const consumer = this.#byKey.get(key);
    // The connection, or the client, has left meanwhile.
    if (consumer === undefined || consumer.closeRequestId !== undefined) {
      this.#outbox.add({ kind: "closeConsumer", consumer: key });
      if (consumer !== undefined) this.#closedBeforeOpen(consumer);
      return;
    }
    consumer.state = "open";
    succeed(this.#outbox, consumer.requestId);
    if (isActive !== undefined) this.activeChanged(key, isActive);
  }

  failed(key: number, refusal: Refusal): void {
    const consumer = this.#byKey.get(key);
    if (consumer === undefined) return;
    this.#remove(consumer);
    refuse(this.#outbox, consumer.requestId, refusal);
    if (consumer.closeRequestId !== undefined) succeed(this.#outbox, consumer.closeRequestId);
  }

  flow({ consumerId, messagePermits }: CommandBodies["flow"]): void {
    const consumer = this.#find(consumerId);
    if (consumer === undefined || messagePermits === 0) return;
    this.#outbox.add({ kind: "flow", consumer: consumer.key, messages: messagePermits });
  }

  deliver(key: number, messages: readonly MessageToDeliver[]): void {
    const consumer = this.#byKey.get(key);
    if (consumer?.state !== "open") return;
    for (const { messageId, redeliveryCount, ackSet, entry } of messages) {
      const { id: consumerId, epoch: consumerEpoch } = consumer;
      const body = { consumerId, messageId, redeliveryCount, ackSet, consumerEpoch };
      this.#outbox.add({ kind: "send", command: { kind: "message", body }, entry });
    }
  }

  activeChanged(key: number, isActive: boolean): void {
    const consumer = this.#byKey.get(key);
    if (consumer?.state !== "open") return;
    const body = { consumerId: consumer.id, isActive };
    this.#outbox.send({ kind: "activeConsumerChange", body });
  }

  reachedEnd(key: number): void {
    const consumer = this.#byKey.get(key);
    if (consumer?.state !== "open") return;
    this.#outbox.send({ kind: "reachedEndOfTopic", body: { consumerId: consumer.id } });
  }

  ack(request: CommandBodies["ack"]): void {
    const { consumerId, requestId, ackType, messageIds = [] } = request;
    const consumer = this.#find(consumerId);
    const refusal = consumer === undefined ? notFound(consumerId) : flawOfAck(request);
    if (consumer === undefined || refusal !== undefined) {
      this.acknowledged({ kind: "acknowledged", consumerId, requestId, refusal });
      return;
    }
    const isCumulative = ackType === ACK_TYPE.cumulative;
    const { key } = consumer;
    const ids = { consumer: key, consumerId, requestId };
    this.#outbox.add({ kind: "ack", ...ids, isCumulative, messageIds });
  }

  /** Clients that ask for an answer get one. */
  acknowledged({ consumerId, requestId, refusal }: Acknowledged): void {
    if (requestId === undefined) return;
    const error = refusal && SERVER_ERROR[refusal.error];
    const message = refusal && plainText(refusal.message);
    this.#outbox.send({ kind: "ackResponse", body: { consumerId, requestId, error, message } });
  }

  redeliver(request: CommandBodies["redeliverUnacknowledged"]): void {
    const { consumerId, messageIds = [], consumerEpoch } = request;
    const consumer = this.#find(consumerId);
    if (consumer === undefined) return;
    if (consumerEpoch !== undefined) consumer.epoch = consumerEpoch;
    this.#outbox.add({ kind: "redeliver", consumer: consumer.key, messageIds });
  }

  /** The key of the consumer that a request names; if there is none the request is refused. */
  asked(consumerId: bigint, requestId: bigint): number | undefined {
    const consumer = this.#find(consumerId);
    if (consumer === undefined) refuse(this.#outbox, requestId, notFound(consumerId));
    return consumer?.key;
  }

  close({ consumerId, requestId }: CommandBodies["closeConsumer"]): void {
    const consumer = this.#byId.get(consumerId);
    if (consumer?.state === "opening" && consumer.closeRequestId === undefined) {
      consumer.closeRequestId = requestId;
      return;
    }
    // The broker has just closed it, and the client did not know yet.
    if (consumer === undefined && this.#ids.hasEnded(consumerId)) {
      succeed(this.#outbox, requestId);
      return;
    }
    const open = this.#find(consumerId);
    if (open === undefined) {
      refuse(this.#outbox, requestId, notFound(consumerId));
      return;
    }
    this.#remove(open);
    this.#outbox.add({ kind: "closeConsumer", consumer: open.key });
    succeed(this.#outbox, requestId);
  }

  /** The broker has closed a consumer. */
  ended(key: number): void {
    const consumer = this.#byKey.get(key);
    if (consumer?.state !== "open") return;
    this.#remove(consumer);
    const body = { consumerId: consumer.id, requestId: NO_REQUEST };
    this.#outbox.send({ kind: "closeConsumer", body });
  }

  /** It has unsubscribed: nothing more is said about it. */
  unsubscribed(key: number): void {
    const consumer = this.#byKey.get(key);
    if (consumer?.state === "open") this.#remove(consumer);
  }

  /** The connection is gone. Consumers that are opening are closed once they are open. */
  endAll(): void {
    for (const { key, state } of this.#byKey.values())
      if (state !== "opening") this.#outbox.add({ kind: "closeConsumer", consumer: key });
    this.#byId.clear();
    this.#byKey.clear();
  }

  get #outbox(): SessionContext["outbox"] {
    return this.#context.outbox;
  }

  #cannotSubscribe(request: CommandBodies["subscribe"]): Refusal | undefined {
    const { consumersMax } = this.#context.facts.limits;
    const { subType, consumerId, topic } = request;
    if (subType < SUB_TYPE.exclusive || subType > SUB_TYPE.keyShared)
      return notAllowed(`subscription type ${subType} does not exist`);
    const flaw = unsupported(request);
    if (flaw !== undefined) return notAllowed(flaw);
    if (this.#byId.size >= consumersMax && !this.#byId.has(consumerId))
      return {
        error: "TooManyRequests",
        message: `the connection has ${consumersMax} consumers, its maximum; use another connection`,
      };
    return this.#context.denies("consume", topic);
  }

  #closedBeforeOpen(consumer: SessionConsumer): void {
    this.#remove(consumer);
    refuse(this.#outbox, consumer.requestId, {
      error: "ServiceNotReady",
      message: "the consumer was closed before it was open",
    });
    if (consumer.closeRequestId !== undefined) succeed(this.#outbox, consumer.closeRequestId);
  }

  #find(consumerId: bigint): SessionConsumer | undefined {
    const consumer = this.#byId.get(consumerId);
    if (consumer?.state === "open") return consumer;
    if (consumer === undefined && !this.#ids.hasEnded(consumerId) && !this.#ids.allowUnknown())
      this.#outbox.close("too many commands name consumers that do not exist");
    return undefined;
  }

  #remove({ id, key }: SessionConsumer): void {
    this.#byId.delete(id);
    this.#byKey.delete(key);
    this.#ids.onEnded(id);
  }
}

const SUB_TYPES: ReadonlySet<number> = new Set(Object.values(SUB_TYPE));

/** What SUBSCRIBE may ask for and this broker does not do, with the way out. */
function unsupported(request: CommandBodies["subscribe"]): string | undefined {
  const { readCompacted = false, subType } = request;
  if (!SUB_TYPES.has(subType))
    return `subscription type ${subType} is not supported; use Exclusive (0), Shared (1), Failover (2) or Key_Shared (3)`;
  // Topics are not compacted: what is read is all that was published, as of any such topic in Pulsar.
  if (readCompacted && subType !== SUB_TYPE.exclusive && subType !== SUB_TYPE.failover)
    return "readCompacted is for exclusive and failover subscriptions; subscribe without it";
  if (request.replicateSubscriptionState === true)
    return "replicated subscriptions are not supported, because there is one cluster; subscribe without replicateSubscriptionState";
  return undefined;
}

function notFound(consumerId: bigint): Refusal {
  return { error: "ConsumerNotFound", message: `there is no consumer ${consumerId}` };
}

function flawOfAck(request: CommandBodies["ack"]): Refusal | undefined {
  const { ackType, messageIds = [], txnidLeastBits, txnidMostBits } = request;
  if (txnidLeastBits !== undefined || txnidMostBits !== undefined)
    return notAllowed("transactions are not supported; acknowledge without one");
  const isCumulative = ackType === ACK_TYPE.cumulative;
  if (!isCumulative && ackType !== ACK_TYPE.individual)
    return notAllowed(`acknowledgement type ${ackType} does not exist`);
  if (isCumulative && messageIds.length !== 1)
    return notAllowed("a cumulative acknowledgement names one message");
  return undefined;
}
