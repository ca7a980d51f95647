import { Fifo, requireWhole } from "@sluice/core/internal";
import type { Admin, Consumer, EachBatchPayload, KafkaMessage, TopicOffsets } from "kafkajs";
import type { Message } from "../../message.ts";
import type { Place } from "../acknowledged-prefix.ts";
import { requireFormat, requireOneOf, requireOptions, requireText } from "../check-options.ts";
import { ConnectorError } from "../connector-error.ts";
import type { Format } from "../format.ts";
import type { OpenContext } from "../open-context.ts";
import type { ReadOptions, Source, SourceConnector } from "../source.ts";
import { pause, waitForEvent } from "../wait-for-event.ts";
import {
  KAFKA_CONNECTION_KEYS,
  KAFKA_RETRY,
  partitionsOf,
  readKafkaConnection,
} from "./kafka-connection.ts";
import type { KafkaClient, KafkaConnectionOptions } from "./kafka-connection.ts";
import { isCoordinatorLoading, isRebalancing, kafkaError } from "./kafka-failure.ts";
import { PartitionLog } from "./partition-log.ts";

export interface KafkaSourceOptions extends KafkaConnectionOptions {
  /** The topic; it must exist. */
  readonly topic: string;
  /** The consumer group. Sources with the same group share the partitions. */
  readonly group: string;
  /** Where a group without committed offsets begins. @default "beginning" */
  readonly from?: "beginning" | "end" | undefined;
  /** After this without a heartbeat the partitions go to other members, ms; 1,000 up to 300,000. @default 30000 */
  readonly sessionTimeoutMs?: number | undefined;
  /** How values are read. @default "json" */
  readonly format?: Format | undefined;
}

interface KafkaSettings {
  readonly topic: string;
  readonly group: string;
  readonly from: "beginning" | "end";
  readonly sessionTimeoutMs: number;
}

const WHAT = "kafkaSource";
const KNOWN = [...KAFKA_CONNECTION_KEYS, "topic", "group", "from", "sessionTimeoutMs", "format"];
const SESSION_TIMEOUT_MS = 30_000;
const SESSION_TIMEOUT_MIN_MS = 1000;
const SESSION_TIMEOUT_MAX_MS = 300_000;
/** A third of the session: two heartbeats may be lost. */
const HEARTBEATS = 3;
const HEARTBEAT_MAX_MS = 3000;
/** How long a broker waits for messages before it answers a fetch with none, ms; bounds the wait for a heartbeat. */
const FETCH_WAIT_MAX_MS = 500;
/** Pause before the group is joined again while its coordinator loads, ms. */
const LOADING_MS = 200;
/** Messages that have come and were not read: with more, the next fetch waits. Raised, a source holds more memory. */
const ARRIVED_MAX = 2000;

/** About 11 s of pauses: a new cluster makes its topic of offsets, and a coordinator, when the first group comes. */
const JOIN_RETRIES = 8;

/**
 * Messages of a Kafka topic, as one member of a consumer group. The offset that is committed is the lowest
 * unacknowledged one of each partition. While 2,000 messages or more are unread, nothing is fetched.
 *
 * @example
 * kafkaSource({ brokers: ["localhost:9092"], topic: "orders", group: "billing" });
 */
export function kafkaSource(options: KafkaSourceOptions): SourceConnector<Buffer | null> {
  const example = `${WHAT}({ brokers: ["localhost:9092"], topic: "orders", group: "billing" })`;
  requireOptions(WHAT, options, { known: KNOWN, example });
  const { topic, group, from = "beginning", format = "json" } = options;
  const { sessionTimeoutMs = SESSION_TIMEOUT_MS } = options;
  requireText(`topic of ${WHAT}`, topic, "orders");
  requireText(`group of ${WHAT}`, group, "billing");
  requireOneOf(`from of ${WHAT}`, from, ["beginning", "end"]);
  const session = `sessionTimeoutMs of ${WHAT}`;
  requireWhole(session, sessionTimeoutMs, SESSION_TIMEOUT_MIN_MS, SESSION_TIMEOUT_MAX_MS);
  requireFormat(WHAT, format);
  const connect = readKafkaConnection(WHAT, options);
  return {
    kind: "kafka",
    format,
    open: async (context) => {
      const client = await connect(context.name);
      await partitionsOf(`${WHAT} ${topic}`, client, topic);
      const source = new KafkaSource({ topic, group, from, sessionTimeoutMs }, client, context);
      await source.begin();
      return source;
    },
  };
}

interface Arrived {
  readonly message: Message<Buffer | null>;
  readonly log: PartitionLog;
  readonly place: Place;
}

class KafkaSource implements Source<Buffer | null> {
  readonly #settings: KafkaSettings;
  readonly #client: KafkaClient;
  readonly #context: OpenContext;
  readonly #arrived = new Fifo<Arrived>();
  readonly #inFlight = new Map<Message, Arrived>();
  /** Of the partitions that are assigned to this member. */
  readonly #logs = new Map<number, PartitionLog>();
  #consumer: Consumer | undefined;
  #admin: Promise<Admin> | undefined;
  #starting: Promise<void> | undefined;
  #committing: Promise<void> = Promise.resolve();
  #failure: Error | undefined;
  #isDown = true;
  #isClosed = false;
  /** Whether the client library waits for room before it fetches more. */
  #isHeld = false;
  /** Increases with every rebalance. */
  #assignments = 0;
  readonly #listeners = new Set<() => void>();

  constructor(settings: KafkaSettings, client: KafkaClient, context: OpenContext) {
    this.#settings = settings;
    this.#client = client;
    this.#context = context;
  }

  /** Connects and joins the group, also again after the client library has given up. */
  begin(): Promise<void> {
    this.#starting ??= this.#beginSoon().finally(() => (this.#starting = undefined));
    return this.#starting;
  }

  async #beginSoon(): Promise<void> {
    const { timer, signal } = this.#context;
    const untilMs = timer.now() + this.#client.timeoutMs;
    for (;;) {
      try {
        await this.#begin();
        return;
      } catch (error) {
        if (!isCoordinatorLoading(error) || timer.now() >= untilMs || signal.aborted) throw error;
      }
      await pause(timer, LOADING_MS, signal);
    }
  }

  async #begin(): Promise<void> {
    const { topic, group, from, sessionTimeoutMs } = this.#settings;
    await this.#consumer?.disconnect().catch(() => undefined);
    if (this.#isClosed) throw new ConnectorError(`${WHAT} ${topic} is closed`);
    const consumer = this.#client.kafka.consumer({
      groupId: group,
      sessionTimeout: sessionTimeoutMs,
      heartbeatInterval: Math.min(sessionTimeoutMs / HEARTBEATS, HEARTBEAT_MAX_MS),
      maxWaitTimeInMs: FETCH_WAIT_MAX_MS,
      allowAutoTopicCreation: false,
      // A restart by the library would go on after `disconnect`, and keep partitions from other members.
      retry: {
        ...KAFKA_RETRY,
        retries: JOIN_RETRIES,
        restartOnFailure: () => Promise.resolve(false),
      },
    });
    this.#consumer = consumer;
    this.#isDown = false;
    this.#failure = undefined;
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) =>
      this.#onAssigned(payload.memberAssignment[topic] ?? []),
    );
    consumer.on(consumer.events.COMMIT_OFFSETS, ({ payload }) => this.#onCommitted(payload.topics));
    consumer.on(consumer.events.CRASH, ({ payload }) => this.#onCrash(payload.error));
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: [topic], fromBeginning: from === "beginning" });
      await consumer.run({
        autoCommit: false,
        eachBatch: (payload) => this.#onBatch(payload),
      });
      // `run` does not reject when joining the group fails.
      this.#throwFailure();
    } catch (error) {
      this.#isDown = true;
      await consumer.disconnect().catch(() => undefined);
      throw kafkaError(`${WHAT} ${topic}`, error);
    }
  }

  async read(
    countMax: number,
    { signal, waitMs }: ReadOptions,
  ): Promise<readonly Message<Buffer | null>[]> {
    const { timer } = this.#context;
    const untilMs = timer.now() + waitMs;
    for (;;) {
      const messages = this.#take(countMax);
      if (messages.length > 0) return messages;
      this.#throwFailure();
      if (this.#isDown) await this.begin();
      const leftMs = untilMs - timer.now();
      if (signal.aborted || leftMs <= 0) return [];
      await waitForEvent((happened) => this.#subscribe(happened), { timer, ms: leftMs, signal });
    }
  }

  async ack(messages: readonly Message<Buffer | null>[]): Promise<void> {
    for (const message of messages) {
      const read = this.#inFlight.get(message);
      if (read === undefined) continue;
      this.#inFlight.delete(message);
      // The log of a partition that was lost is none of ours any more: its offsets are not committed.
      read.log.acknowledge(read.place);
    }
    await this.#commit();
  }

  async backlog(): Promise<number | undefined> {
    const { topic, group, from } = this.#settings;
    try {
      const admin = await this.#connectedAdmin();
      const ends = await admin.fetchTopicOffsets(topic);
      const groups = await admin.fetchOffsets({ groupId: group, topics: [topic] });
      const committed = new Map(
        groups.flatMap(({ partitions }) =>
          partitions.map(({ partition, offset }) => [partition, Number(offset)]),
        ),
      );
      return ends.reduce((sum, { partition, high, low }) => {
        const start = from === "beginning" ? Number(low) : Number(high);
        const offset = committed.get(partition) ?? -1;
        return sum + Math.max(0, Number(high) - (offset < 0 ? start : offset));
      }, 0);
    } catch (error) {
      throw kafkaError(`${WHAT} ${topic}`, error);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#notify();
    await this.#starting?.catch(() => undefined);
    // Without it the messages come again.
    if (!this.#isDown) await this.#commit().catch(() => undefined);
    await this.#consumer?.disconnect().catch(() => undefined);
    await this.#admin?.then((admin) => admin.disconnect()).catch(() => undefined);
  }

  /** One for all calls, also for those that come while it connects: `close` has to find it. */
  #connectedAdmin(): Promise<Admin> {
    if (this.#isClosed) throw new ConnectorError(`${WHAT} ${this.#settings.topic} is closed`);
    this.#admin ??= this.#connectAdmin();
    return this.#admin;
  }

  async #connectAdmin(): Promise<Admin> {
    const admin = this.#client.kafka.admin();
    try {
      await admin.connect();
    } catch (error) {
      this.#admin = undefined;
      await admin.disconnect().catch(() => undefined);
      throw error;
    }
    return admin;
  }

  /** Each failure is told once. */
  #throwFailure(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
  }

  #subscribe(happened: () => void): () => void {
    this.#listeners.add(happened);
    return () => this.#listeners.delete(happened);
  }

  #notify(): void {
    for (const happened of this.#listeners) happened();
  }

  #take(countMax: number): Message<Buffer | null>[] {
    const messages: Message<Buffer | null>[] = [];
    while (messages.length < countMax) {
      const arrived = this.#arrived.shift();
      if (arrived === undefined) break;
      if (!this.#isOwned(arrived.log)) continue;
      this.#inFlight.set(arrived.message, arrived);
      messages.push(arrived.message);
    }
    if (this.#isHeld && this.#hasRoom()) this.#notify();
    return messages;
  }

  #hasRoom(): boolean {
    return this.#arrived.length < ARRIVED_MAX;
  }

  #isOwned(log: PartitionLog): boolean {
    for (const owned of this.#logs.values()) if (owned === log) return true;
    return false;
  }

  async #onBatch(payload: EachBatchPayload): Promise<void> {
    const { partition, messages } = payload.batch;
    for (const message of messages) {
      const offset = Number(message.offset);
      let log = this.#logs.get(partition);
      if (log === undefined) {
        log = new PartitionLog(offset);
        this.#logs.set(partition, log);
      }
      const place = log.add(offset);
      if (place !== undefined)
        this.#arrived.push({ message: this.#messageOf(partition, message), log, place });
    }
    this.#notify();
    await payload.heartbeat();
    await this.#untilRoom(payload);
  }

  /**
   * The client library fetches the next messages after this. Its `pause` would cost up to `FETCH_WAIT_MAX_MS` without
   * a fetch each time, which held a source at 2,000 to 4,000 messages a second.
   */
  async #untilRoom(payload: EachBatchPayload): Promise<void> {
    const { timer } = this.#context;
    const { signal } = new AbortController();
    this.#isHeld = true;
    while (!this.#hasRoom() && !this.#isClosed && payload.isRunning()) {
      await waitForEvent((happened) => this.#subscribe(happened), {
        timer,
        ms: FETCH_WAIT_MAX_MS,
        signal,
      });
      // Rejects in a rebalance: the library joins the group again, and messages that have come are not read twice.
      await payload.heartbeat();
    }
    this.#isHeld = false;
  }

  #messageOf(partition: number, read: KafkaMessage): Message<Buffer | null> {
    const { key, value, headers = {}, timestamp, offset } = read;
    const texts: Record<string, string> = {};
    for (const [name, given] of Object.entries(headers)) {
      const first = Array.isArray(given) ? given[0] : given;
      if (first !== undefined) texts[name.toLowerCase()] = String(first);
    }
    return {
      id: `${this.#settings.topic}/${partition}/${offset}`,
      value,
      headers: texts,
      ...(key !== null && { key: key.toString("utf8") }),
      eventTimeMs: Number(timestamp),
    };
  }

  /** After each rebalance. Partitions that stay keep their logs, so that nothing in the pipeline is read twice. */
  #onAssigned(partitions: readonly number[]): void {
    const lost = [...this.#logs.keys()].filter((partition) => !partitions.includes(partition));
    for (const partition of lost) this.#logs.delete(partition);
    const owned = partitions.length === 0 ? "none" : partitions.join(", ");
    const text = `${this.#settings.topic}: partitions of this member: ${owned}`;
    this.#context.tell({ level: "info", text });
    this.#assignments++;
    this.#notify();
  }

  #onCommitted(topics: readonly TopicOffsets[]): void {
    for (const { partitions } of topics)
      for (const { partition, offset } of partitions)
        this.#logs.get(partition)?.onCommitted(Number(offset));
  }

  #onCrash(error: Error): void {
    this.#failure = kafkaError(`${WHAT} ${this.#settings.topic}`, error);
    this.#isDown = true;
    this.#notify();
  }

  /** One commit at a time, so that offsets never go back. */
  #commit(): Promise<void> {
    const next = this.#committing.catch(() => undefined).then(() => this.#commitNow());
    this.#committing = next;
    return next;
  }

  async #commitNow(): Promise<void> {
    const { topic } = this.#settings;
    const what = `${WHAT} ${topic}`;
    for (;;) {
      // The pipeline may read nothing until this is acknowledged, so reads cannot be relied on to begin again.
      if (this.#isDown && this.#due().length > 0) await this.begin();
      const before = this.#assignments;
      const due = this.#due();
      if (due.length === 0) return;
      try {
        await this.#consumer?.commitOffsets(
          due.map(({ partition, offset }) => ({ topic, partition, offset: String(offset) })),
        );
      } catch (error) {
        if (!isRebalancing(error)) throw kafkaError(what, error);
      }
      // The library resolves also if it has sent nothing, as while it joins the group: only its event is a proof.
      if (due.every(({ log, offset }) => log.committed >= offset)) return;
      if (this.#assignments === before) await this.#nextAssignment();
      if (this.#assignments === before)
        throw new ConnectorError(
          `${what}: the offsets are not committed: the group is rebalancing`,
        );
    }
  }

  /** Waits for the end of a rebalance. */
  async #nextAssignment(): Promise<void> {
    const { timer } = this.#context;
    const { signal } = new AbortController();
    await waitForEvent((happened) => this.#subscribe(happened), {
      timer,
      ms: this.#client.timeoutMs,
      signal,
    });
  }

  #due(): { readonly partition: number; readonly log: PartitionLog; readonly offset: number }[] {
    return [...this.#logs].flatMap(([partition, log]) =>
      log.toCommit === undefined ? [] : [{ partition, log, offset: log.toCommit }],
    );
  }
}
