import { ACK_TYPE, SERVER_ERROR, SUB_TYPE } from "@sluice/pulsar/wire";
import type { CommandBodies } from "@sluice/pulsar/wire";
import { SessionConsumer } from "./consumer.ts";
import type { MessageToDeliver } from "./consumer.ts";
import type { Outbox } from "./effect.ts";
import { IdWatch } from "./id-watch.ts";
import type { SessionLimits } from "./limits.ts";
import { NO_REQUEST, refuse, succeed } from "./reply.ts";
import { plainText } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";

/** Messages that a client may ask for at once; more is taken for this much. */
const PERMITS_MAX = 2 ** 31 - 1;

/** The consumers of one connection: they subscribe, are sent messages, acknowledge, and close. */
export class Consumers {
  readonly #outbox: Outbox;
  readonly #limits: SessionLimits;
  readonly #byId = new Map<bigint, SessionConsumer>();
  readonly #ids: IdWatch;

  constructor(outbox: Outbox, limits: SessionLimits) {
    this.#outbox = outbox;
    this.#limits = limits;
    this.#ids = new IdWatch({ unknownMax: limits.unknownIdsMax, recentMax: limits.consumersMax });
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
      const message = `consumer ${consumerId} is there already`;
      refuse(this.#outbox, requestId, { error: "ServiceNotReady", message });
      return;
    }
    const consumer = new SessionConsumer(request);
    this.#byId.set(consumerId, consumer);
    this.#outbox.add({ kind: "subscribe", consumer, request });
  }

  subscribed(consumer: SessionConsumer): void {
    if (this.#goneMeanwhile(consumer)) return;
    consumer.state = "open";
    succeed(this.#outbox, consumer.requestId);
  }

  failed(consumer: SessionConsumer, refusal: Refusal): void {
    if (consumer.state === "closed") return;
    this.#remove(consumer);
    refuse(this.#outbox, consumer.requestId, refusal);
    if (consumer.closeRequestId !== undefined) succeed(this.#outbox, consumer.closeRequestId);
  }

  flow({ consumerId, messagePermits }: CommandBodies["flow"]): void {
    const consumer = this.#find(consumerId);
    if (consumer === undefined || messagePermits === 0) return;
    const messages = Math.min(messagePermits, PERMITS_MAX);
    this.#outbox.add({ kind: "flow", consumer, messages });
  }

  deliver(consumer: SessionConsumer, message: MessageToDeliver): void {
    if (consumer.state !== "open") return;
    const { messageId, redeliveryCount, ackSet, entry } = message;
    const body = {
      consumerId: consumer.id,
      messageId,
      redeliveryCount,
      ackSet,
      consumerEpoch: consumer.epoch,
    };
    this.#outbox.add({ kind: "send", command: { kind: "message", body }, entry });
  }

  activeChanged(consumer: SessionConsumer, isActive: boolean): void {
    if (consumer.state !== "open") return;
    const body = { consumerId: consumer.id, isActive };
    this.#outbox.send({ kind: "activeConsumerChange", body });
  }

  ack(request: CommandBodies["ack"]): void {
    const consumer = this.#find(request.consumerId);
    const refusal = consumer === undefined ? notFound(request.consumerId) : flawOfAck(request);
    if (refusal !== undefined) this.answerAck(request, refusal);
    else if (consumer !== undefined) this.#outbox.add({ kind: "ack", consumer, request });
  }

  /** Clients that ask for an answer get one. */
  answerAck({ consumerId, requestId }: CommandBodies["ack"], refusal?: Refusal): void {
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
    this.#outbox.add({ kind: "redeliver", consumer, messageIds });
  }

  /** The consumer that a request names; if there is none the request is refused. */
  asked(consumerId: bigint, requestId: bigint): SessionConsumer | undefined {
    const consumer = this.#find(consumerId);
    if (consumer === undefined) refuse(this.#outbox, requestId, notFound(consumerId));
    return consumer;
  }

  close({ consumerId, requestId }: CommandBodies["closeConsumer"]): void {
    const consumer = this.#byId.get(consumerId);
    if (consumer?.state === "opening" && consumer.closeRequestId === undefined) {
      consumer.closeRequestId = requestId;
      return;
    }
    // A client that closes what we have just closed ourselves is right.
    if (consumer === undefined && this.#ids.hasEnded(consumerId)) {
      succeed(this.#outbox, requestId);
      return;
    }
    const open = this.asked(consumerId, requestId);
    if (open === undefined) return;
    this.#remove(open);
    this.#outbox.add({ kind: "closeConsumer", consumer: open });
    succeed(this.#outbox, requestId);
  }

  /** The broker has closed it. */
  ended(consumer: SessionConsumer): void {
    if (consumer.state !== "open") return;
    this.#remove(consumer);
    const body = { consumerId: consumer.id, requestId: NO_REQUEST };
    this.#outbox.send({ kind: "closeConsumer", body });
  }

  /** It has unsubscribed: nothing more is said about it. */
  unsubscribed(consumer: SessionConsumer): void {
    if (consumer.state === "open") this.#remove(consumer);
  }

  /** The connection is gone. Who is being opened now is closed once that is done. */
  endAll(): void {
    for (const consumer of this.#byId.values()) {
      if (consumer.state !== "opening") this.#outbox.add({ kind: "closeConsumer", consumer });
      consumer.state = "closed";
    }
    this.#byId.clear();
  }

  #cannotSubscribe({ subType, consumerId }: CommandBodies["subscribe"]): Refusal | undefined {
    if (subType < SUB_TYPE.exclusive || subType > SUB_TYPE.keyShared)
      return { error: "NotAllowedError", message: `no subscription has the type ${subType}` };
    if (this.#byId.size < this.#limits.consumersMax || this.#byId.has(consumerId)) return undefined;
    const message = `a connection has at most ${this.#limits.consumersMax} consumers`;
    return { error: "TooManyRequests", message };
  }

  /** The client, or its connection, left while the broker was opening it. */
  #goneMeanwhile(consumer: SessionConsumer): boolean {
    if (consumer.state === "opening" && consumer.closeRequestId === undefined) return false;
    this.#outbox.add({ kind: "closeConsumer", consumer });
    if (consumer.state !== "opening") return true;
    this.#remove(consumer);
    refuse(this.#outbox, consumer.requestId, {
      error: "ServiceNotReady",
      message: "the consumer was closed before it was open",
    });
    if (consumer.closeRequestId !== undefined) succeed(this.#outbox, consumer.closeRequestId);
    return true;
  }

  #find(consumerId: bigint): SessionConsumer | undefined {
    const consumer = this.#byId.get(consumerId);
    if (consumer?.state === "open") return consumer;
    if (consumer === undefined && !this.#ids.hasEnded(consumerId) && !this.#ids.allowUnknown())
      this.#outbox.add({ kind: "close", reason: "too many ids of consumers that are not there" });
    return undefined;
  }

  #remove(consumer: SessionConsumer): void {
    consumer.state = "closed";
    this.#byId.delete(consumer.id);
    this.#ids.onEnded(consumer.id);
  }
}

function notFound(consumerId: bigint): Refusal {
  return { error: "ConsumerNotFound", message: `there is no consumer ${consumerId}` };
}

function flawOfAck(request: CommandBodies["ack"]): Refusal | undefined {
  const { ackType, messageIds = [], txnidLeastBits, txnidMostBits } = request;
  if (txnidLeastBits !== undefined || txnidMostBits !== undefined)
    return { error: "NotAllowedError", message: "there are no transactions here" };
  const isCumulative = ackType === ACK_TYPE.cumulative;
  if (!isCumulative && ackType !== ACK_TYPE.individual)
    return { error: "NotAllowedError", message: `no acknowledgement has the type ${ackType}` };
  if (isCumulative && messageIds.length !== 1)
    return { error: "NotAllowedError", message: "a cumulative acknowledgement names one message" };
  return undefined;
}
