import { requireKnownKeys } from "@sluice/core/internal";
import { UnreadableMessageError } from "@sluice/pulsar";
import type { Client, Consumer, ConsumerOptions, Message as PulsarMessage } from "@sluice/pulsar";
import type { Message } from "../../message.ts";
import type { Format } from "../format.ts";
import type { OpenContext } from "../open-context.ts";
import type { ReadOptions, Source, SourceConnector } from "../source.ts";
import { Wait } from "../wait.ts";
import { CONNECTION_KEYS, connectPulsar } from "./connection.ts";
import type { PulsarConnection } from "./connection.ts";
import { ReceivedMessage } from "./received-message.ts";
import { TopicBacklog } from "./topic-backlog.ts";

export interface PulsarSourceOptions
  extends
    PulsarConnection,
    Pick<
      ConsumerOptions,
      "topic" | "topics" | "subscription" | "type" | "initialPosition" | "receiverQueueSize"
    > {
  /** How payloads are read. Default: `json`. */
  readonly format?: Format | undefined;
  /** Delay between a nack and the redelivery, ms. Default: 1000. */
  readonly nackDelayMs?: number | undefined;
  /** Pulsar's admin, such as `http://localhost:8080`: tells the backlog. Default: none; `backlog` is asked instead. */
  readonly adminUrl?: string | undefined;
  /**
   * Tells the messages that the subscription has not acknowledged in topics by their full names, without Pulsar's admin:
   * of a broker in the same process. Default: the backlog is not known.
   */
  readonly backlog?: ((topics: readonly string[]) => Promise<number | undefined>) | undefined;
}

const KNOWN: ReadonlySet<string> = new Set<keyof PulsarSourceOptions>([
  ...CONNECTION_KEYS,
  "topic",
  "topics",
  "subscription",
  "type",
  "initialPosition",
  "receiverQueueSize",
  "format",
  "nackDelayMs",
  "adminUrl",
  "backlog",
]);

/** Delay between a nack and the redelivery, ms. Lowered, a message that fails at once is tried in a tight loop. */
const NACK_DELAY_MS = 1_000;

/**
 * Messages of a Pulsar subscription, `shared` unless another type is given, so that replicas read it together.
 *
 * @example
 * pulsarSource({ url: "pulsar://localhost:6650", topic: "orders", subscription: "shop" })
 */
export function pulsarSource<T = unknown>(
  options: PulsarSourceOptions & { readonly format?: "json" | undefined },
): SourceConnector<T>;
export function pulsarSource(
  options: PulsarSourceOptions & { readonly format: "text" },
): SourceConnector<string>;
export function pulsarSource(
  options: PulsarSourceOptions & { readonly format: "bytes" },
): SourceConnector<Buffer>;
export function pulsarSource(options: PulsarSourceOptions): SourceConnector;
export function pulsarSource<T>(options: PulsarSourceOptions): SourceConnector<T> {
  requireKnownKeys("pulsarSource", options, KNOWN);
  return {
    kind: "pulsar",
    format: options.format ?? "json",
    // The pipeline reads the bytes by `format`; what it hands on is of type T.
    open: async (context) => (await PulsarSource.open(options, context)) as Source as Source<T>,
  };
}

/**
 * Reads what the consumer has queued. Acknowledgements wait for the broker's receipt, so a message whose `ack`
 * has resolved does not come again; those of one call, and those that come meanwhile, are sent together.
 * After a lost connection the broker delivers again what was not acknowledged.
 */
class PulsarSource implements Source<Buffer> {
  readonly #options: PulsarSourceOptions;
  readonly #context: OpenContext;
  readonly #client: Client;
  readonly #readBacklog: PulsarSourceOptions["backlog"];
  #consumer: Consumer;

  private constructor(
    options: PulsarSourceOptions,
    context: OpenContext,
    client: Client,
    consumer: Consumer,
  ) {
    const { adminUrl, backlog, subscription, token } = options;
    this.#options = options;
    this.#context = context;
    this.#client = client;
    this.#consumer = consumer;
    const admin = adminUrl && new TopicBacklog({ adminUrl, subscription, token }, context.timer);
    this.#readBacklog = admin ? (topics) => admin.read(topics) : backlog;
  }

  static async open(options: PulsarSourceOptions, context: OpenContext): Promise<PulsarSource> {
    const client = await connectPulsar(options, context);
    try {
      const consumer = await client.subscribe(consumerOptionsOf(options, context), context.signal);
      return new PulsarSource(options, context, client, consumer);
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  async read(
    countMax: number,
    { signal, waitMs }: ReadOptions,
  ): Promise<readonly Message<Buffer>[]> {
    const consumer = await this.#opened(signal);
    const queued = this.#queued(consumer, countMax);
    if (queued.length > 0 || signal.aborted) return queued;
    const first = await this.#first(consumer, signal, waitMs);
    if (first === undefined) return [];
    return [new ReceivedMessage(first), ...this.#queued(consumer, countMax - 1)];
  }

  async ack(messages: readonly Message<Buffer>[]): Promise<void> {
    const consumer = this.#consumer;
    await Promise.all(originsOf(messages).map((origin) => consumer.ack(origin)));
  }

  nack(messages: readonly Message<Buffer>[]): Promise<void> {
    for (const origin of originsOf(messages)) this.#consumer.nack(origin);
    return Promise.resolve();
  }

  backlog(): Promise<number | undefined> {
    return this.#readBacklog?.(this.#consumer.topics) ?? Promise.resolve(undefined);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** The broker may end a consumer for good, as when its topic is deleted: then it subscribes again. */
  async #opened(signal: AbortSignal): Promise<Consumer> {
    if (this.#consumer.isClosed)
      this.#consumer = await this.#client.subscribe(
        consumerOptionsOf(this.#options, this.#context),
        signal,
      );
    return this.#consumer;
  }

  #queued(consumer: Consumer, countMax: number): ReceivedMessage[] {
    for (;;) {
      try {
        return consumer.receiveQueued(countMax).map((origin) => new ReceivedMessage(origin));
      } catch (error) {
        this.#passOver(error);
      }
    }
  }

  /** Undefined if none has come in time. */
  async #first(
    consumer: Consumer,
    signal: AbortSignal,
    waitMs: number,
  ): Promise<PulsarMessage | undefined> {
    const wait = new Wait(this.#context.timer, waitMs, signal);
    try {
      for (;;) {
        try {
          return await consumer.receive({ signal: wait.signal });
        } catch (error) {
          if (wait.signal.aborted) return undefined;
          this.#passOver(error);
        }
      }
    } finally {
      wait.end();
    }
  }

  /** An unreadable message stays in the subscription's backlog: to acknowledge it would lose it. */
  #passOver(error: unknown): void {
    if (!(error instanceof UnreadableMessageError)) throw error;
    const text = `${error.message}; it was passed over and stays in the backlog`;
    this.#context.tell({ level: "error", text });
  }
}

function consumerOptionsOf(options: PulsarSourceOptions, { name }: OpenContext): ConsumerOptions {
  const { topic, topics, subscription, type = "shared", initialPosition = "earliest" } = options;
  const { receiverQueueSize, nackDelayMs = NACK_DELAY_MS } = options;
  return {
    topic,
    topics,
    subscription,
    type,
    initialPosition,
    receiverQueueSize,
    properties: { pipeline: name },
    nackRedeliveryDelayMs: nackDelayMs,
    ackReceipt: true,
    // A batch of a producer is spread over batches of the pipeline, and each part is acknowledged by itself.
    batchIndexAck: true,
  };
}

function originsOf(messages: readonly Message[]): PulsarMessage[] {
  return messages
    .map((message) => ReceivedMessage.originOf(message))
    .filter((origin) => origin !== undefined);
}
