import type { ICustomPartitioner, Message as KafkaRecord, Producer } from "kafkajs";
import type { Message } from "../../message.ts";
import { requireOptions, requireText } from "../check-options.ts";
import { encode, unsendable } from "../format.ts";
import type { OpenContext } from "../open-context.ts";
import type { Sink, SinkConnector, WriteResult } from "../sink.ts";
import { KAFKA_CONNECTION_KEYS, partitionsOf, readKafkaConnection } from "./kafka-connection.ts";
import type { KafkaClient, KafkaConnectionOptions } from "./kafka-connection.ts";
import { isTooLarge, kafkaError } from "./kafka-failure.ts";

export interface KafkaSinkOptions extends KafkaConnectionOptions {
  /** The topic; it must exist. */
  readonly topic: string;
}

const WHAT = "kafkaSink";
/** All replicas in sync have the message before it counts as written. */
const ALL_REPLICAS = -1;
/** How long the list of partitions is used, ms: messages go to a new partition this much later. */
const PARTITIONS_MS = 60_000;

/**
 * Writes messages to a Kafka topic and waits for all replicas in sync (`acks=-1`). Messages with the same key go to
 * the same partition, by the hash of Kafka's Java client. A partition that fails fails only its messages.
 *
 * @example
 * kafkaSink({ brokers: ["localhost:9092"], topic: "orders-done" });
 */
export function kafkaSink(options: KafkaSinkOptions): SinkConnector {
  const known = [...KAFKA_CONNECTION_KEYS, "topic"];
  const example = `${WHAT}({ brokers: ["localhost:9092"], topic: "orders-done" })`;
  requireOptions(WHAT, options, { known, example });
  const { topic } = options;
  requireText(`topic of ${WHAT}`, topic, "orders-done");
  const connect = readKafkaConnection(WHAT, options);
  return {
    kind: "kafka",
    open: async (context) => {
      const client = await connect(context.name);
      const sink = new KafkaSink(topic, client, context);
      await sink.begin();
      return sink;
    },
  };
}

type Partitions = Awaited<ReturnType<typeof partitionsOf>>;

interface Numbered {
  readonly index: number;
  readonly record: KafkaRecord;
}

class KafkaSink implements Sink {
  readonly #topic: string;
  readonly #what: string;
  readonly #client: KafkaClient;
  readonly #context: OpenContext;
  readonly #producer: Producer;
  readonly #partitionOf: ReturnType<ICustomPartitioner>;
  #partitions: Partitions = [];
  #partitionsUntilMs = Number.NEGATIVE_INFINITY;

  constructor(topic: string, client: KafkaClient, context: OpenContext) {
    this.#topic = topic;
    this.#what = `${WHAT} ${topic}`;
    this.#client = client;
    this.#context = context;
    const { DefaultPartitioner } = client.library.Partitioners;
    this.#partitionOf = DefaultPartitioner();
    this.#producer = client.kafka.producer({
      allowAutoTopicCreation: false,
      createPartitioner: DefaultPartitioner,
    });
  }

  async begin(): Promise<void> {
    await this.#findPartitions();
    try {
      await this.#producer.connect();
    } catch (error) {
      // A pipeline starts again and again: connections of a start that failed must not add up.
      await this.#producer.disconnect().catch(() => undefined);
      throw kafkaError(this.#what, error);
    }
  }

  async write(messages: readonly Message[]): Promise<readonly WriteResult[]> {
    await this.#findPartitions();
    const results: WriteResult[] = messages.map(() => undefined);
    const byPartition = new Map<number, Numbered[]>();
    for (const [index, message] of messages.entries()) {
      let record: KafkaRecord;
      try {
        record = recordOf(message);
      } catch (thrown) {
        results[index] = unsendable(thrown);
        continue;
      }
      const partition = this.#partitionOf({
        topic: this.#topic,
        partitionMetadata: this.#partitions as never,
        message: record,
      });
      const records = byPartition.get(partition);
      const numbered = { index, record: { ...record, partition } };
      if (records === undefined) byPartition.set(partition, [numbered]);
      else records.push(numbered);
    }
    await Promise.all([...byPartition.values()].map((records) => this.#send(records, results)));
    return results;
  }

  async close(): Promise<void> {
    await this.#producer.disconnect();
  }

  async #send(records: readonly Numbered[], results: WriteResult[]): Promise<void> {
    try {
      await this.#producer.send({
        topic: this.#topic,
        acks: ALL_REPLICAS,
        timeout: this.#client.timeoutMs,
        messages: records.map(({ record }) => record),
      });
    } catch (error) {
      const isTooMuch = isTooLarge(error);
      // The broker refuses the whole batch for one message: each is sent alone.
      if (isTooMuch && records.length > 1) {
        for (const each of records) await this.#send([each], results);
        return;
      }
      // The partitions may have changed.
      this.#partitionsUntilMs = Number.NEGATIVE_INFINITY;
      const failure = { error: kafkaError(this.#what, error), isRetriable: !isTooMuch };
      for (const { index } of records) results[index] = failure;
    }
  }

  async #findPartitions(): Promise<void> {
    const nowMs = this.#context.timer.now();
    if (nowMs < this.#partitionsUntilMs) return;
    this.#partitions = await partitionsOf(this.#what, this.#client, this.#topic);
    this.#partitionsUntilMs = nowMs + PARTITIONS_MS;
  }
}

function recordOf({ value, key, headers, eventTimeMs }: Message): KafkaRecord {
  return {
    value: encode(value),
    headers: { ...headers },
    ...(key !== undefined && { key }),
    ...(eventTimeMs !== undefined && { timestamp: String(Math.round(eventTimeMs)) }),
  };
}
