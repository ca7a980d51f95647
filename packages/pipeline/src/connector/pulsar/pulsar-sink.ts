import { ConfigError } from "@sluice/core";
import type { Reason } from "@sluice/core";
import { requireKnownKeys } from "@sluice/core/internal";
import { BrokerError, ProducerThrottledError } from "@sluice/pulsar";
import type {
  Client,
  ClientEvent,
  OutgoingMessage,
  Producer,
  ProducerOptions,
  ProducerThrottlingReason,
} from "@sluice/pulsar";
import { asError } from "../../as-error.ts";
import type { Message } from "../../message.ts";
import { encode, UnsendableError } from "../format.ts";
import type { OpenContext } from "../open-context.ts";
import type { Sink, SinkConnector, SinkWaiting, WriteResult } from "../sink.ts";
import { CONNECTION_KEYS, connectPulsar } from "./connection.ts";
import type { PulsarConnection } from "./connection.ts";

export interface PulsarSinkOptions
  extends
    PulsarConnection,
    Pick<
      ProducerOptions,
      | "topic"
      | "batching"
      | "compression"
      | "chunking"
      | "sendTimeoutMs"
      | "pendingMessagesMax"
      | "pendingBytesMax"
      | "partitions"
    > {}

const KNOWN: ReadonlySet<string> = new Set<keyof PulsarSinkOptions>([
  ...CONNECTION_KEYS,
  "topic",
  "batching",
  "compression",
  "chunking",
  "sendTimeoutMs",
  "pendingMessagesMax",
  "pendingBytesMax",
  "partitions",
]);

/** Errors of a broker that the same message meets again, however often it is sent. */
const FINAL: ReadonlySet<BrokerError["serverError"]> = new Set([
  "AuthorizationError",
  "IncompatibleSchema",
  "NotAllowedError",
  "TopicTerminatedError",
]);

/**
 * Sends messages to a Pulsar topic, batched unless `batching` is false. Headers become properties.
 *
 * @example
 * pulsarSink({ url: "pulsar://localhost:6650", topic: "public/default/enriched" })
 */
export function pulsarSink(options: PulsarSinkOptions): SinkConnector {
  requireKnownKeys("pulsarSink", options, KNOWN);
  return { kind: "pulsar", open: (context) => PulsarSink.open(options, context) };
}

/** A broker that has stopped reading, and said why (pause 0). */
interface Unread {
  readonly topic: string;
  readonly reason: ProducerThrottlingReason;
}

/** Sends all messages of a batch at once: the producer keeps their order and bounds what is pending. */
class PulsarSink implements Sink {
  readonly #options: PulsarSinkOptions;
  readonly #context: OpenContext;
  /** The topics that a broker does not read at present. */
  readonly #unread = new Map<string, Unread>();
  #client: Client | undefined;
  #producer: Producer | undefined;

  private constructor(options: PulsarSinkOptions, context: OpenContext) {
    this.#options = options;
    this.#context = context;
  }

  static async open(options: PulsarSinkOptions, context: OpenContext): Promise<PulsarSink> {
    const sink = new PulsarSink(options, context);
    const client = await connectPulsar(options, context, (event) => sink.#onEvent(event));
    sink.#client = client;
    try {
      sink.#producer = await client.createProducer(producerOptionsOf(options), context.signal);
    } catch (error) {
      await client.close();
      throw error;
    }
    return sink;
  }

  async write(
    messages: readonly Message[],
    { signal }: { readonly signal: AbortSignal },
  ): Promise<readonly WriteResult[] | void> {
    const producer = await this.#opened(signal);
    const results = await Promise.all(
      messages.map((message) => sent(producer, message, signal).then(() => undefined, failureOf)),
    );
    return results.some((result) => result !== undefined) ? results : undefined;
  }

  why(): SinkWaiting | undefined {
    const throttling = this.#producer?.throttling;
    if (throttling !== undefined) {
      const { topic, reason, pauseLeftMs } = throttling;
      const detail = `the broker limits ${topic} (${reason}) for ${Math.ceil(pauseLeftMs)} ms more`;
      const untilMs = this.#context.timer.now() + pauseLeftMs;
      return { reason: knownReason(reason), detail, untilMs };
    }
    const [unread] = this.#unread.values();
    if (unread === undefined) return undefined;
    const { topic, reason } = unread;
    return {
      reason: knownReason(reason),
      detail: `the broker does not read what is sent to ${topic} (${reason})`,
    };
  }

  /**
   * Messages that still wait for a receipt are those of writes that were cut off at the end of a drain: the pipeline gives
   * them back to its source. To flush them would take as long as the broker's throttle lasts, and store them twice.
   */
  async close(): Promise<void> {
    if (this.#producer !== undefined && this.#producer.pendingMessages > 0)
      await this.#producer.close({ signal: AbortSignal.abort() });
    await this.#client?.close();
  }

  /** The broker may end a producer for good, as when its topic is deleted: then there is a new one. */
  async #opened(signal: AbortSignal): Promise<Producer> {
    if (this.#client === undefined) throw new ConfigError("the sink is not open");
    if (this.#producer === undefined || this.#producer.isClosed)
      this.#producer = await this.#client.createProducer(producerOptionsOf(this.#options), signal);
    return this.#producer;
  }

  #onEvent(event: ClientEvent): void {
    if (event.type === "unthrottled") this.#unread.delete(event.topic);
    if (event.type !== "throttled" || event.pauseMs > 0) return;
    const { topic, reason } = event;
    this.#unread.set(topic, { topic, reason });
  }
}

/** A mistake in a message rejects as well: a key that is no text, a time before 1970. */
async function sent(producer: Producer, message: Message, signal: AbortSignal): Promise<void> {
  await producer.send(outgoing(message), { signal });
}

function outgoing({ value, key, headers, eventTimeMs }: Message): OutgoingMessage {
  return { data: encode(value), key, properties: headers, eventTimeMs };
}

function failureOf(reason: unknown): WriteResult {
  const error = asError(reason);
  if (error instanceof ProducerThrottledError)
    return { error, isRetriable: true, retryAfterMs: error.pauseLeftMs };
  const isFinal =
    error instanceof ConfigError ||
    error instanceof UnsendableError ||
    (error instanceof BrokerError && FINAL.has(error.serverError));
  return { error, isRetriable: !isFinal };
}

function producerOptionsOf(options: PulsarSinkOptions): ProducerOptions {
  const { topic, batching = true, compression, chunking, sendTimeoutMs } = options;
  const { pendingMessagesMax, pendingBytesMax, partitions } = options;
  return {
    topic,
    batching,
    compression,
    chunking,
    sendTimeoutMs,
    pendingMessagesMax,
    pendingBytesMax,
    partitions,
  };
}

/** A reason of a newer broker pauses like the topic's rate. */
function knownReason(reason: ProducerThrottlingReason): Reason {
  return reason === "unknown" ? "topic-rate" : reason;
}
