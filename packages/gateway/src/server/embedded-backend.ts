import type { Clock } from "@sluice/core";
import { Fifo } from "@sluice/core/internal";
import { ACCESS_MODE, SUB_TYPE } from "@sluice/pulsar/wire";
import type { CommandBodies, KeyValue, MessageIdData } from "@sluice/pulsar/wire";
import { AuthenticationError } from "../auth/authentication-error.ts";
import type { TokenAuthenticator } from "../auth/token-authenticator.ts";
import type { Broker } from "../broker/broker.ts";
import { messageIdOf, NO_MESSAGE_ID, positionOf } from "../broker/message-id.ts";
import type { ByteBudget } from "../memory/byte-budget.ts";
import type { BrokerObserver } from "../observe/broker-event.ts";
import { RefusalError } from "../refusal/refusal-error.ts";
import { refusalOf } from "../refusal/refusal-of.ts";
import type { SchemaRegistry } from "../schema/schema-registry.ts";
import type { Effect } from "../session/effect.ts";
import type { Answer, Question } from "../session/question.ts";
import type { SessionFacts } from "../session/session-context.ts";
import type {
  ConnectionEvent,
  MessageToDeliver,
  ResultEvent,
  SessionEvent,
} from "../session/session-event.ts";
import { Session } from "../session/session.ts";
import type { Ack, Delivery } from "../subscription/delivery.ts";
import type { ConsumerHandle } from "../topic/consumer-handle.ts";
import type { AccessMode, ProducerHandle } from "../topic/producer-handle.ts";
import type { ClientFacts } from "../topic/topic-stats.ts";
import { answerTo } from "./answers.ts";
import type { AskedConsumer } from "./answers.ts";
import type { Backend, Wire } from "./backend.ts";
import { consumerRequestOf, given, partitionOf } from "./consumer-request.ts";

/** What the connections of an embedded broker share. */
export interface EmbeddedWorld {
  readonly broker: Broker;
  readonly schemas: SchemaRegistry;
  readonly memory: ByteBudget;
  readonly clock: Clock;
  readonly wallClock: Clock;
  readonly authenticator: TokenAuthenticator | undefined;
  readonly observe: BrokerObserver;
}

type AcknowledgedEvent = Extract<ResultEvent, { readonly kind: "acknowledged" }>;
type ClosedByBroker = Extract<ResultEvent, { readonly kind: "producerClosed" | "consumerClosed" }>;
type EffectOf<Kind extends Effect["kind"]> = Extract<Effect, { readonly kind: Kind }>;

/** Message ids of one ACK or REDELIVER that are handled in one step of work. */
const IDS_PER_STEP = 256;

/** Producers and consumers of a connection that are closed in one step. */
const CLOSED_AT_ONCE_MAX = 32;

/** What a producer or consumer takes of the budget beside its texts: measured, with its topic's part of it. */
const CLIENT_BYTES = 2_048;

/** What a pair of metadata, or a hash range, takes beside its texts. */
const PAIR_BYTES = 128;

/** Answers with fewer topic names, or with a smaller schema, are sent even while memory is exhausted. */
const SMALL_ANSWER = { names: 100, schemaBytes: 8_192 };

/** Serves one connection from the topics of this process: carries out what its session wants. */
export class EmbeddedBackend implements Backend {
  readonly #wire: Wire;
  readonly #world: EmbeddedWorld;
  readonly #session: Session;
  // Made when first used.
  #producers: Map<number, ProducerHandle> | undefined;
  #consumers: Map<number, AskedConsumer> | undefined;
  /** Bytes of the budget by producer and consumer. */
  #clientBytes: Map<number, number> | undefined;
  /** Effects that are left to do, and results that are left to report, in order. */
  #left: Fifo<Effect | ClosedByBroker> | undefined;
  /** Message ids of the first of them that are done. */
  #idsDone = 0;
  #isDelivering = true;
  /** Producers and consumers that the broker has closed at one time. */
  #closedAtMs = -Infinity;
  #closedAtOnce = 0;

  constructor(wire: Wire, world: EmbeddedWorld, facts: SessionFacts) {
    this.#wire = wire;
    this.#world = world;
    this.#session = new Session(facts, world.clock.now());
  }

  get isReading(): boolean {
    return this.#session.isReading;
  }

  get hasWork(): boolean {
    return (this.#left?.length ?? 0) > 0;
  }

  get dueAtMs(): number {
    return this.#session.dueAtMs;
  }

  get producers(): number {
    return this.#session.producers;
  }

  get consumers(): number {
    return this.#session.consumers;
  }

  get pendingSends(): number {
    return this.#session.pendingSends;
  }

  receive(event: ConnectionEvent, nowMs: number): void {
    this.#on(event, nowMs);
  }

  tick(nowMs: number): void {
    this.#on({ kind: "tick" }, nowMs);
  }

  end(nowMs: number): void {
    this.#on({ kind: "end" }, nowMs);
  }

  work(): void {
    const effect = this.#left?.peek();
    if (effect === undefined) return;
    if (effect.kind === "producerClosed" || effect.kind === "consumerClosed") {
      this.#left?.shift();
      this.#report(effect);
      return;
    }
    if (effect.kind !== "ack" && effect.kind !== "redeliver") {
      this.#left?.shift();
      this.#carryOut(effect);
      return;
    }
    const ids = effect.messageIds.slice(this.#idsDone, this.#idsDone + IDS_PER_STEP);
    this.#idsDone += ids.length;
    const isLast = this.#idsDone >= effect.messageIds.length;
    if (this.#step(effect, ids, isLast) && !isLast) return;
    this.#idsDone = 0;
    this.#left?.shift();
  }

  #report(event: ResultEvent): void {
    this.#on(event, this.#world.clock.now());
  }

  #on(event: SessionEvent, nowMs: number): void {
    const effects = this.#session.on(event, nowMs);
    if (effects.length === 0) return;
    // The end of a connection closes all its producers and consumers.
    const isMany = event.kind === "end" && effects.length > CLOSED_AT_ONCE_MAX;
    let answerBytes = 0;
    let hasSent = false;
    for (const effect of effects) {
      if (effect.kind === "send") {
        const bytes = this.#wire.send(effect.command, effect.entry);
        hasSent = true;
        // Messages are held back while the client does not read, so that only answers can pile up.
        if (effect.entry === undefined) answerBytes += bytes;
      } else if (isMany || isLong(effect) || (this.hasWork && isOrdered(effect)))
        this.#leave(effect);
      else this.#carryOut(effect);
    }
    if (hasSent) {
      const { unreadBytes } = this.#wire;
      this.#on({ kind: "written", answerBytes, unreadBytes }, nowMs);
    }
  }

  #leave(effect: Effect | ClosedByBroker): void {
    this.#left ??= new Fifo();
    this.#left.push(effect);
    this.#wire.wake();
  }

  /** A topic may close thousands at once: of the most, the client is told in a turn of its connection. */
  #onClosed(event: ClosedByBroker): void {
    const nowMs = this.#world.clock.now();
    if (nowMs !== this.#closedAtMs) this.#closedAtOnce = 0;
    this.#closedAtMs = nowMs;
    if (++this.#closedAtOnce > CLOSED_AT_ONCE_MAX) this.#leave(event);
    else this.#report(event);
  }

  #carryOut(effect: Effect): void {
    switch (effect.kind) {
      case "send":
        break;
      case "publish":
        void this.#publish(effect);
        break;
      case "close":
        this.#wire.close(effect.reason);
        break;
      case "readingChanged":
        this.#wire.wake();
        break;
      case "pauseDelivery":
        this.#isDelivering = false;
        for (const { handle } of this.#consumers?.values() ?? []) handle.pause();
        break;
      case "resumeDelivery":
        this.#resumeDelivery();
        break;
      case "setFrameBytesMax":
        this.#wire.setFrameBytesMax(effect.bytes);
        break;
      case "authenticate":
        void this.#authenticate(effect.credentials);
        break;
      case "refused":
        this.#world.observe({
          kind: "client-refused",
          address: this.#wire.address,
          reason: effect.reason,
        });
        break;
      case "openProducer":
        void this.#openProducer(effect.producer, effect.request);
        break;
      case "closeProducer":
        this.#producers?.get(effect.producer)?.close();
        this.#dropProducer(effect.producer);
        break;
      case "subscribe":
        void this.#subscribe(effect.consumer, effect.request);
        break;
      case "flow":
        this.#handleOf(effect.consumer)?.flow(effect.messages);
        break;
      case "ack":
      case "redeliver":
        this.#step(effect, effect.messageIds, true);
        break;
      case "closeConsumer":
        this.#handleOf(effect.consumer)?.close();
        this.#dropConsumer(effect.consumer);
        break;
      case "ask":
        this.#ask(effect.question);
        break;
    }
  }

  #resumeDelivery(): void {
    this.#isDelivering = true;
    for (const { handle } of this.#consumers?.values() ?? []) {
      // What the consumer before was delivered may have been enough to stop again.
      if (this.#isPaused()) return;
      handle.resume();
    }
  }

  #isPaused(): boolean {
    return !this.#isDelivering;
  }

  async #publish({ producer, sequence, messageCount, entry }: EffectOf<"publish">): Promise<void> {
    const { memory } = this.#world;
    const { length } = entry;
    memory.reserve("publish", length);
    try {
      const handle = openOr(this.#producers?.get(producer));
      const position = await handle.publish({ parts: [entry], messageCount });
      const messageId = position === undefined ? NO_MESSAGE_ID : messageIdOf(position);
      this.#report({ kind: "published", producer, sequence, messageId });
    } catch (error) {
      this.#report({ kind: "publishFailed", producer, sequence, refusal: refusalOf(error) });
    } finally {
      // After the answer: frames that have waited for this room may be answered at once.
      memory.release("publish", length);
    }
  }

  async #openProducer(producer: number, request: CommandBodies["producer"]): Promise<void> {
    const { broker, schemas, memory } = this.#world;
    const { topic, producerName, producerAccessMode = 0, epoch = 0n, topicEpoch, schema } = request;
    let ended: RefusalError | undefined;
    try {
      this.#requireMemory(memory.isExhausted);
      this.#charge(producer, request, [request.producerName, request.initialSubscriptionName]);
      const handle = await broker.openProducer({
        topic,
        producerName: given(producerName),
        accessMode: ACCESS_MODES.get(producerAccessMode) ?? "shared",
        owner: this,
        id: request.producerId,
        client: this.#clientFacts(request.metadata),
        epoch,
        topicEpoch,
        initialSubscription: given(request.initialSubscriptionName),
        onReady: (newEpoch) =>
          this.#report({ kind: "producerReady", producer, topicEpoch: newEpoch }),
        onClosed: (why) => {
          ended = why;
          this.#dropProducer(producer);
          this.#onClosed({ kind: "producerClosed", producer });
        },
      });
      this.#producers ??= new Map();
      this.#producers.set(producer, handle);
      const schemaVersion = schema === undefined ? undefined : await schemas.put(topic, schema);
      const { name, isReady, lastSequenceId, topicEpoch: newEpoch } = handle;
      const opened = { name, isReady, lastSequenceId, topicEpoch: newEpoch, schemaVersion };
      this.#report({ kind: "producerOpened", producer, ...opened });
      if (ended === undefined) return;
      this.#dropProducer(producer);
      this.#report({ kind: "producerClosed", producer });
    } catch (error) {
      this.#producers?.get(producer)?.close();
      this.#dropProducer(producer);
      this.#report({ kind: "producerFailed", producer, refusal: refusalOf(error) });
    }
  }

  async #subscribe(consumer: number, request: CommandBodies["subscribe"]): Promise<void> {
    const { broker, memory, wallClock } = this.#world;
    let ended: RefusalError | undefined;
    try {
      this.#requireMemory(memory.isExhausted);
      this.#charge(consumer, request, [request.subscription, request.consumerName]);
      const partition = partitionOf(request.topic);
      const handle = await broker.subscribe({
        ...consumerRequestOf(request, wallClock),
        deliver: (deliveries) => {
          const messages = deliveries.map((delivery) => messageOf(delivery, partition));
          this.#report({ kind: "delivered", consumer, messages });
        },
        client: this.#clientFacts(request.metadata),
        onReachedEnd: () => this.#report({ kind: "reachedEnd", consumer }),
        onActiveChange: (isActive) => this.#report({ kind: "activeChanged", consumer, isActive }),
        onClosed: (why) => {
          ended = why;
          this.#dropConsumer(consumer);
          this.#onClosed({ kind: "consumerClosed", consumer });
        },
      });
      if (this.#isPaused()) handle.pause();
      this.#consumers ??= new Map();
      this.#consumers.set(consumer, { handle, partition, subType: request.subType });
      const isActive = request.subType === SUB_TYPE.failover ? handle.isActive : undefined;
      this.#report({ kind: "subscribed", consumer, isActive });
      if (ended === undefined) return;
      this.#dropConsumer(consumer);
      this.#report({ kind: "consumerClosed", consumer });
    } catch (error) {
      this.#dropConsumer(consumer);
      this.#report({ kind: "subscribeFailed", consumer, refusal: refusalOf(error) });
    }
  }

  /** One part of an ACK or REDELIVER. False if the rest is not to be done. */
  #step(
    effect: EffectOf<"ack" | "redeliver">,
    ids: readonly MessageIdData[],
    isLast: boolean,
  ): boolean {
    if (effect.kind === "redeliver") {
      this.#redeliver(effect, ids);
      return true;
    }
    const isTaken = this.#acknowledge(effect, ids);
    if (isTaken && isLast) this.#report(acknowledged(effect));
    return isTaken;
  }

  /** False if the broker refuses, which the client is told. */
  #acknowledge(effect: EffectOf<"ack">, ids: readonly MessageIdData[]): boolean {
    const handle = this.#handleOf(effect.consumer);
    try {
      const acks = ids.map(ackOf);
      const [first] = acks;
      if (!effect.isCumulative) handle?.acknowledge(acks);
      else if (first !== undefined) handle?.acknowledgeUpTo(first);
      return true;
    } catch (error) {
      this.#report({ ...acknowledged(effect), refusal: refusalOf(error) });
      return false;
    }
  }

  #redeliver({ consumer, messageIds }: EffectOf<"redeliver">, ids: readonly MessageIdData[]): void {
    const handle = this.#handleOf(consumer);
    if (messageIds.length === 0) handle?.redeliverAll();
    else handle?.redeliver(ids.map(positionOf));
  }

  #ask(question: Question): void {
    const consumer = "consumer" in question ? this.#consumers?.get(question.consumer) : undefined;
    const refuse = (error: unknown): void =>
      this.#report({ kind: "refused", question, refusal: refusalOf(error) });
    try {
      const answer = answerTo(question, consumer, this.#world);
      if (answer instanceof Promise)
        answer.then((later) => this.#answer(question, later)).catch(refuse);
      else this.#answer(question, answer);
    } catch (error) {
      refuse(error);
    }
  }

  #answer(question: Question, answer: Answer): void {
    if (isLarge(answer)) this.#requireMemory(this.#world.memory.isDeliveryExhausted);
    if (question.about === "unsubscribe") this.#dropConsumer(question.consumer);
    this.#report({ kind: "answered", question, answer });
  }

  async #authenticate(credentials: Uint8Array): Promise<void> {
    const { authenticator, wallClock } = this.#world;
    try {
      const token = Buffer.from(credentials).toString("utf8");
      const identity = await authenticator?.authenticate(token);
      if (identity === undefined) throw new AuthenticationError("authentication is not configured");
      const { role, expiresAtMs } = identity;
      const expiresInMs = expiresAtMs === undefined ? undefined : expiresAtMs - wallClock.now();
      this.#report({ kind: "authenticated", role, expiresInMs });
    } catch (error) {
      const message = error instanceof AuthenticationError ? error.message : "no access";
      this.#report({ kind: "authenticationFailed", message });
    }
  }

  #clientFacts(metadata: readonly KeyValue[] = []): ClientFacts {
    return {
      address: this.#wire.address,
      clientVersion: this.#session.clientVersion,
      metadata: Object.fromEntries(metadata.map(({ key, value }) => [key, value])),
    };
  }

  /** Refuses what would take lasting memory, so that clients try again later. */
  #requireMemory(isExhausted: boolean): void {
    if (isExhausted)
      throw new RefusalError("ServiceNotReady", "the broker's memory is full; try again later");
  }

  #handleOf(consumer: number): ConsumerHandle | undefined {
    return this.#consumers?.get(consumer)?.handle;
  }

  /** Counts a producer or consumer, with what its client says of it, until it is dropped. */
  #charge(
    key: number,
    request: CommandBodies["producer"] | CommandBodies["subscribe"],
    names: readonly (string | undefined)[],
  ): void {
    const { topic, metadata = [] } = request;
    const { hashRanges = [] } = ("keySharedMeta" in request && request.keySharedMeta) || {};
    let bytes = CLIENT_BYTES + textBytes(topic) + PAIR_BYTES * hashRanges.length;
    for (const name of names) bytes += textBytes(name);
    for (const { key: name, value } of metadata)
      bytes += PAIR_BYTES + textBytes(name) + textBytes(value);
    this.#world.memory.reserve("clients", bytes);
    this.#clientBytes ??= new Map();
    this.#clientBytes.set(key, bytes);
  }

  #dropProducer(producer: number): void {
    this.#producers?.delete(producer);
    this.#release(producer);
  }

  #dropConsumer(consumer: number): void {
    this.#consumers?.delete(consumer);
    this.#release(consumer);
  }

  #release(key: number): void {
    const bytes = this.#clientBytes?.get(key);
    if (bytes === undefined) return;
    this.#clientBytes?.delete(key);
    this.#world.memory.release("clients", bytes);
  }
}

/** What a text takes at most in memory. */
function textBytes(text = ""): number {
  return 2 * text.length;
}

function acknowledged({ consumerId, requestId }: EffectOf<"ack">): AcknowledgedEvent {
  return { kind: "acknowledged", consumerId, requestId };
}

function isLarge(answer: Answer): boolean {
  if (answer.about === "topics") return answer.names.length > SMALL_ANSWER.names;
  return answer.about === "schema" && answer.schema.schemaData.length > SMALL_ANSWER.schemaBytes;
}

/** An ACK or REDELIVER of many ids is done in steps. */
function isLong(effect: Effect): boolean {
  return (
    (effect.kind === "ack" || effect.kind === "redeliver") &&
    effect.messageIds.length > IDS_PER_STEP
  );
}

/** Effects that must not overtake an ACK or REDELIVER that is not done. */
function isOrdered({ kind }: Effect): boolean {
  return (
    kind === "ack" ||
    kind === "redeliver" ||
    kind === "flow" ||
    kind === "ask" ||
    kind === "closeConsumer" ||
    kind === "closeProducer"
  );
}

function ackOf(id: MessageIdData): Ack {
  const { ackSet } = id;
  return {
    position: positionOf(id),
    ackSet: ackSet !== undefined && ackSet.length > 0 ? ackSet : undefined,
  };
}

function messageOf(delivery: Delivery, partition: number | undefined): MessageToDeliver {
  const { position, bytes, redeliveryCount, ackSet } = delivery;
  // Written out: a spread costs more here than all the rest.
  const { ledgerId, entryId } = messageIdOf(position);
  const { buffer, byteOffset, byteLength } = bytes;
  return {
    messageId: { ledgerId, entryId, partition },
    redeliveryCount,
    ackSet,
    entry: Buffer.isBuffer(bytes) ? bytes : Buffer.from(buffer, byteOffset, byteLength),
  };
}

const ACCESS_MODES: ReadonlyMap<number, AccessMode> = new Map([
  [ACCESS_MODE.shared, "shared"],
  [ACCESS_MODE.exclusive, "exclusive"],
  [ACCESS_MODE.waitForExclusive, "wait-for-exclusive"],
  [ACCESS_MODE.exclusiveWithFencing, "exclusive-with-fencing"],
]);

function openOr(handle: ProducerHandle | undefined): ProducerHandle {
  if (handle !== undefined) return handle;
  throw new RefusalError("ServiceNotReady", "the producer is closed");
}
