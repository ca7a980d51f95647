import { BatchWriter } from "../src/wire/batch.ts";
import type { CommandOf } from "../src/wire/command.ts";
import { ACK_TYPE, INITIAL_POSITION, SERVER_ERROR, SUB_TYPE } from "../src/wire/constants.ts";
import type { MessageIdData } from "../src/wire/definition/message-id.ts";
import type { MessageMetadata } from "../src/wire/definition/metadata.ts";
import { encodeEntry } from "../src/wire/entry.ts";
import { UnackedSet } from "../src/client/consumer/acknowledge/unacked-set.ts";
import type { PeerSession, Script } from "./scripted-broker.ts";

interface StoredEntry {
  readonly bytes: Buffer;
  readonly messages: number;
  readonly publishTimeMs: number;
}

interface ModelConsumer {
  readonly session: PeerSession;
  readonly consumerId: bigint;
  permits: number;
  epoch: bigint | undefined;
}

/** How far a subscription has come with one entry. */
interface Progress {
  readonly unacked: UnackedSet;
  sentTo: ModelConsumer | undefined;
  deliveries: number;
}

class ModelSubscription {
  readonly isShared: boolean;
  progress: Progress[] = [];
  consumers: ModelConsumer[] = [];

  constructor(isShared: boolean) {
    this.isShared = isShared;
  }

  /** Unacknowledged messages. */
  get backlog(): number {
    return this.progress.reduce((sum, { unacked }) => sum + unacked.count, 0);
  }

  leave(gone: ModelConsumer): void {
    this.consumers = this.consumers.filter((consumer) => consumer !== gone);
    for (const each of this.progress) if (each.sentTo === gone) each.sentTo = undefined;
  }
}

const LEDGER = 3n;

/**
 * Topics and subscriptions as a broker keeps them, without a disk: the plainest thing that delivers
 * within permits, remembers acknowledgements by message, and sends again what was not acknowledged.
 */
export class ModelTopics {
  readonly #entries = new Map<string, StoredEntry[]>();
  readonly #subscriptions = new Map<string, ModelSubscription>();
  readonly #byConsumer = new Map<string, { topic: string; subscription: ModelSubscription }>();
  #sessions: PeerSession[] = [];

  /** One entry: a batch, unless it is a single text. */
  publish(
    topic: string,
    texts: string | readonly string[],
    metadata: Partial<MessageMetadata> = {},
  ): void {
    const plain = { producerName: "model", sequenceId: 0n, publishTime: 1_000n, ...metadata };
    if (typeof texts === "string") {
      this.store(topic, encodeEntry(plain, Buffer.from(texts)), 1, Number(plain.publishTime));
      return;
    }
    const writer = new BatchWriter();
    for (const text of texts) writer.add({}, Buffer.from(text));
    const numMessagesInBatch = texts.length;
    const bytes = encodeEntry({ ...plain, numMessagesInBatch }, writer.take());
    this.store(topic, bytes, texts.length, Number(plain.publishTime));
  }

  store(topic: string, bytes: Buffer, messages: number, publishTimeMs = 1_000): void {
    this.#entriesOf(topic).push({ bytes, messages, publishTimeMs });
    for (const [key, subscription] of this.#subscriptions)
      if (key.startsWith(`${topic}|`)) this.#dispatch(topic, subscription);
  }

  subscription(topic: string, name: string): ModelSubscription {
    const found = this.#subscriptions.get(`${topic}|${name}`);
    if (found === undefined) throw new Error(`${name} is not subscribed to ${topic}`);
    return found;
  }

  /** Another consumer moves a subscription to the beginning. */
  rewind(topic: string, name: string): void {
    const subscription = this.subscription(topic, name);
    this.#sendAway(subscription);
    this.#moveTo(topic, subscription, 0);
  }

  delete(topic: string): void {
    this.#entries.delete(topic);
  }

  script(): Script {
    return {
      subscribe: (command, session) => this.#subscribe(command, session),
      flow: ({ body }, session) => {
        const found = this.#find(session, body.consumerId);
        if (found === undefined) return undefined;
        found.consumer.permits += body.messagePermits;
        this.#dispatch(found.topic, found.subscription);
        return undefined;
      },
      ack: ({ body }, session) => {
        const found = this.#find(session, body.consumerId);
        for (const id of body.messageIds ?? [])
          if (found !== undefined)
            acknowledge(found.subscription, id, body.ackType === ACK_TYPE.cumulative);
        const { requestId, consumerId } = body;
        if (requestId === undefined) return undefined;
        return { kind: "ackResponse", body: { consumerId, requestId } };
      },
      redeliverUnacknowledged: ({ body }, session) => {
        const found = this.#find(session, body.consumerId);
        if (found === undefined) return undefined;
        const { subscription, consumer, topic } = found;
        consumer.epoch = body.consumerEpoch ?? consumer.epoch;
        const ids = body.messageIds?.map(({ entryId }) => Number(entryId));
        for (const [index, each] of subscription.progress.entries())
          if (each.sentTo === consumer && (ids === undefined || ids.includes(index)))
            each.sentTo = undefined;
        this.#dispatch(topic, subscription);
        return undefined;
      },
      seek: (command, session) => this.#seek(command, session),
      getLastMessageId: ({ body: { requestId, consumerId } }, session) => {
        const topic = this.#find(session, consumerId)?.topic ?? "";
        const last = this.#entriesOf(topic).length - 1;
        const batchSize = this.#entriesOf(topic)[last]?.messages ?? 1;
        const batchIndex = batchSize > 1 ? batchSize - 1 : -1;
        const lastMessageId = { ledgerId: LEDGER, entryId: BigInt(last), batchIndex };
        return { kind: "getLastMessageIdResponse", body: { requestId, lastMessageId } };
      },
      unsubscribe: ({ body }, session) => {
        const found = this.#find(session, body.consumerId);
        for (const [key, subscription] of this.#subscriptions)
          if (subscription === found?.subscription) this.#subscriptions.delete(key);
        return { kind: "success", body: { requestId: body.requestId } };
      },
      closeConsumer: ({ body }, session) => {
        this.#leave(session, body.consumerId);
        return { kind: "success", body: { requestId: body.requestId } };
      },
      getTopicsOfNamespace: ({ body: { requestId } }) => ({
        kind: "getTopicsOfNamespaceResponse",
        body: { requestId, topics: [...this.#entries.keys()] },
      }),
    };
  }

  #subscribe(
    { body }: CommandOf<"subscribe">,
    session: PeerSession,
  ): CommandOf<"success"> | CommandOf<"error"> {
    const { topic, subscription: name, consumerId, requestId, durable, startMessageId } = body;
    const key = `${topic}|${name}`;
    let subscription = this.#subscriptions.get(key);
    const isShared = body.subType === SUB_TYPE.shared || body.subType === SUB_TYPE.keyShared;
    if (subscription === undefined || durable === false) {
      subscription = new ModelSubscription(isShared);
      const isLatest = body.initialPosition !== INITIAL_POSITION.earliest;
      const from = isLatest ? this.#entriesOf(topic).length : 0;
      const start = startMessageId === undefined ? from : position(startMessageId);
      this.#moveTo(topic, subscription, start);
      this.#subscriptions.set(key, subscription);
    }
    if (!isShared && subscription.consumers.length > 0) {
      const error = SERVER_ERROR.ConsumerBusy;
      return { kind: "error", body: { requestId, error, message: "somebody is there" } };
    }
    const epoch = body.consumerEpoch;
    subscription.consumers.push({ session, consumerId, permits: 0, epoch });
    this.#byConsumer.set(this.#keyOf(session, consumerId), { topic, subscription });
    session.link.onClosed = () => {
      for (const each of this.#subscriptions.values())
        for (const gone of each.consumers.filter((one) => one.session === session))
          each.leave(gone);
    };
    return { kind: "success", body: { requestId } };
  }

  #seek({ body }: CommandOf<"seek">, session: PeerSession): CommandOf<"success"> {
    const { requestId, consumerId, messageId, messagePublishTime } = body;
    const found = this.#find(session, consumerId);
    if (found === undefined) throw new Error("nobody is there to seek");
    const { topic, subscription } = found;
    const entries = this.#entriesOf(topic);
    const atTime = entries.findIndex((each) => each.publishTimeMs >= Number(messagePublishTime));
    const start = messageId === undefined ? atTime : position(messageId);
    this.#sendAway(subscription);
    this.#moveTo(topic, subscription, start);
    return { kind: "success", body: { requestId } };
  }

  /** As Pulsar does before it moves a subscription: they come back when it is done. */
  #sendAway(subscription: ModelSubscription): void {
    for (const consumer of subscription.consumers) {
      const closed = { consumerId: consumer.consumerId, requestId: 0n };
      consumer.session.tell({ kind: "closeConsumer", body: closed });
      subscription.leave(consumer);
    }
  }

  #moveTo(topic: string, subscription: ModelSubscription, start: number): void {
    subscription.progress = [];
    this.#dispatch(topic, subscription);
    for (const { unacked } of subscription.progress.slice(0, start))
      unacked.removeThrough(unacked.size);
  }

  #dispatch(topic: string, subscription: ModelSubscription): void {
    for (const [index, { bytes, messages }] of this.#entriesOf(topic).entries()) {
      subscription.progress[index] ??= {
        unacked: new UnackedSet(messages),
        sentTo: undefined,
        deliveries: 0,
      };
      const each = subscription.progress[index];
      if (each.unacked.count === 0 || each.sentTo !== undefined) continue;
      const consumer = subscription.consumers.find(({ permits }) => permits > 0);
      if (consumer === undefined) continue;
      consumer.permits -= each.unacked.count;
      each.sentTo = consumer;
      // A served consumer goes to the end of the round robin.
      subscription.consumers.push(...subscription.consumers.splice(0, 1));
      const body = {
        consumerId: consumer.consumerId,
        messageId: { ledgerId: LEDGER, entryId: BigInt(index) },
        redeliveryCount: each.deliveries++,
        ackSet: each.unacked.count < messages ? each.unacked.toAckSet() : undefined,
        consumerEpoch: subscription.isShared ? undefined : consumer.epoch,
      };
      consumer.session.tell({ kind: "message", body }, bytes);
    }
  }

  #find(
    session: PeerSession,
    consumerId: bigint,
  ): { topic: string; subscription: ModelSubscription; consumer: ModelConsumer } | undefined {
    const found = this.#byConsumer.get(this.#keyOf(session, consumerId));
    const consumer = found?.subscription.consumers.find(
      (each) => each.session === session && each.consumerId === consumerId,
    );
    return found === undefined || consumer === undefined ? undefined : { ...found, consumer };
  }

  #leave(session: PeerSession, consumerId: bigint): void {
    const found = this.#find(session, consumerId);
    if (found === undefined) return;
    found.subscription.leave(found.consumer);
    this.#dispatch(found.topic, found.subscription);
  }

  #keyOf(session: PeerSession, consumerId: bigint): string {
    if (!this.#sessions.includes(session)) this.#sessions.push(session);
    return `${this.#sessions.indexOf(session)}|${consumerId}`;
  }

  #entriesOf(topic: string): StoredEntry[] {
    const entries = this.#entries.get(topic) ?? [];
    this.#entries.set(topic, entries);
    return entries;
  }
}

function acknowledge(
  { progress }: ModelSubscription,
  { entryId, ackSet = [] }: MessageIdData,
  isCumulative: boolean,
): void {
  const index = Number(entryId);
  if (isCumulative)
    for (const { unacked } of progress.slice(0, index)) unacked.removeThrough(unacked.size);
  const { unacked } = progress[index] ?? { unacked: new UnackedSet(0) };
  const left = new UnackedSet(unacked.size, ackSet);
  for (let each = 0; each < unacked.size; each++)
    if (ackSet.length === 0 || !left.has(each)) unacked.remove(each);
}

/** The entry to begin with. */
function position({ entryId }: MessageIdData): number {
  const signed = BigInt.asIntN(64, entryId);
  return signed < 0n ? 0 : Number(signed);
}
