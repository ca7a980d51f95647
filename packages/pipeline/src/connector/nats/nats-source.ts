import { Fifo, requireWhole } from "@sluice/core/internal";
import type { Consumer, ConsumerInfo, ConsumerMessages, JsMsg } from "@nats-io/jetstream";
import type { Message } from "../../message.ts";
import { requireFormat, requireOneOf, requireOptions, requireText } from "../check-options.ts";
import { ConnectorError } from "../connector-error.ts";
import type { Format } from "../format.ts";
import type { OpenContext } from "../open-context.ts";
import type { ReadOptions, Source, SourceConnector } from "../source.ts";
import { pause, waitForEvent } from "../wait-for-event.ts";
import { loadNats, NATS_CONNECTION_KEYS, NatsLine, readNatsConnection } from "./nats-connection.ts";
import type { NatsConnecting, NatsConnectionOptions } from "./nats-connection.ts";
import { natsError } from "./nats-failure.ts";
import { readHeaders } from "./nats-headers.ts";

export interface NatsSourceOptions extends NatsConnectionOptions {
  /** The stream; it must exist. */
  readonly stream: string;
  /** The name of the durable pull consumer; it is created if missing. Sources with the same name share its messages. */
  readonly consumer: string;
  /** Only messages of this subject, for a consumer that is created; wildcards are allowed. Default: all of the stream. */
  readonly subject?: string | undefined;
  /** Where a consumer begins that is created. @default "beginning" */
  readonly from?: "beginning" | "end" | undefined;
  /** After this without a sign of life the server delivers a message again, ms, for a consumer that is created; 1,000 up to a day. @default 30000 */
  readonly ackWaitMs?: number | undefined;
  /** Messages that the server delivers without an acknowledgement at most, for a consumer that is created. @default 10000 */
  readonly ackPendingMax?: number | undefined;
  /** How values are read. @default "json" */
  readonly format?: Format | undefined;
}

interface NatsSettings {
  readonly stream: string;
  readonly consumer: string;
  readonly subject: string | undefined;
  readonly from: "beginning" | "end";
  readonly ackWaitMs: number;
  readonly ackPendingMax: number;
}

const WHAT = "natsSource";
const KNOWN = [
  ...NATS_CONNECTION_KEYS,
  "stream",
  "consumer",
  "subject",
  "from",
  "ackWaitMs",
  "ackPendingMax",
  "format",
];
const ACK_WAIT_MS = 30_000;
const ACK_WAIT_MIN_MS = 1000;
const ACK_WAIT_MAX_MS = 86_400_000;
const ACK_PENDING_MAX = 10_000;
/** How long one fetch stays open on the server, ms. Lowered, an idle source costs more requests. */
const FETCH_MS = 30_000;
/** Messages of one fetch at most: they may wait here until the pipeline reads them. */
const FETCH_MAX = 1000;
const NANOS_PER_MS = 1_000_000;
const CONSUMER_NOT_FOUND = 10_014;
const ACKNOWLEDGED = "+ACK";

/**
 * Messages of a JetStream stream, by a durable pull consumer. The server is told that messages in the pipeline are
 * being worked on, so that it delivers again only what a dead process held.
 *
 * @example
 * natsSource({ servers: "nats://localhost:4222", stream: "orders", consumer: "billing" });
 */
export function natsSource(options: NatsSourceOptions): SourceConnector<Buffer> {
  const example = `${WHAT}({ servers: "nats://localhost:4222", stream: "orders", consumer: "billing" })`;
  requireOptions(WHAT, options, { known: KNOWN, example });
  const { stream, consumer, subject, from = "beginning", format = "json" } = options;
  const { ackWaitMs = ACK_WAIT_MS, ackPendingMax = ACK_PENDING_MAX } = options;
  requireText(`stream of ${WHAT}`, stream, "orders");
  requireText(`consumer of ${WHAT}`, consumer, "billing");
  if (subject !== undefined) requireText(`subject of ${WHAT}`, subject, "orders.*");
  requireOneOf(`from of ${WHAT}`, from, ["beginning", "end"]);
  requireWhole(`ackWaitMs of ${WHAT}`, ackWaitMs, ACK_WAIT_MIN_MS, ACK_WAIT_MAX_MS);
  requireWhole(`ackPendingMax of ${WHAT}`, ackPendingMax, 1);
  requireFormat(WHAT, format);
  const connecting = readNatsConnection(WHAT, options);
  const settings = { stream, consumer, subject, from, ackWaitMs, ackPendingMax };
  return {
    kind: "nats",
    format,
    open: async (context) => {
      const line = await NatsLine.open(`${WHAT} ${stream}`, connecting, context);
      const source = new NatsSource(settings, connecting, { line, context });
      try {
        await source.begin();
      } catch (error) {
        await source.close();
        throw error;
      }
      return source;
    },
  };
}

class NatsSource implements Source<Buffer> {
  readonly #settings: NatsSettings;
  readonly #timeoutMs: number;
  readonly #line: NatsLine;
  readonly #context: OpenContext;
  /** Messages that the server has delivered and nobody has read. */
  readonly #arrived = new Fifo<JsMsg>();
  /** Messages that were read and not acknowledged. */
  readonly #inFlight = new Map<Message, JsMsg>();
  /** Acknowledgements that the server may not have: its connection was lost. */
  readonly #unconfirmed = new Map<Message, JsMsg>();
  readonly #closing = new AbortController();
  #consumer: Consumer | undefined;
  #ackWaitMs: number;
  #fetch: ConsumerMessages | undefined;
  #failure: Error | undefined;
  #happened: () => void = () => undefined;
  #working: Promise<void> = Promise.resolve();

  constructor(
    settings: NatsSettings,
    { timeoutMs }: NatsConnecting,
    { line, context }: { readonly line: NatsLine; readonly context: OpenContext },
  ) {
    this.#settings = settings;
    this.#timeoutMs = timeoutMs;
    this.#line = line;
    this.#context = context;
    this.#ackWaitMs = settings.ackWaitMs;
    // The server forgets a fetch with its connection.
    line.onLost = () => void this.#endFetch();
  }

  async begin(): Promise<void> {
    this.#consumer = await this.#prepare();
    this.#working = this.#sayWorking();
  }

  async read(
    countMax: number,
    { signal, waitMs }: ReadOptions,
  ): Promise<readonly Message<Buffer>[]> {
    const { timer } = this.#context;
    const untilMs = timer.now() + waitMs;
    for (;;) {
      const messages = this.#take(countMax);
      if (messages.length > 0) return messages;
      this.#line.requireConnected();
      const failure = this.#failure;
      this.#failure = undefined;
      if (failure !== undefined) throw failure;
      if (this.#fetch === undefined) await this.#begin(Math.min(countMax, FETCH_MAX));
      const leftMs = untilMs - timer.now();
      // What the server has comes within a round trip, also if the caller does not wait.
      if (signal.aborted || leftMs <= 0) {
        if (waitMs <= 0 && this.#arrived.length === 0) await this.#line.flush();
        return this.#take(countMax);
      }
      if (this.#arrived.length === 0)
        await waitForEvent((happened) => this.#subscribe(happened), { timer, ms: leftMs, signal });
    }
  }

  async ack(messages: readonly Message<Buffer>[]): Promise<void> {
    for (const message of messages) {
      const delivered = this.#inFlight.get(message);
      if (delivered === undefined) continue;
      this.#inFlight.delete(message);
      this.#unconfirmed.set(message, delivered);
    }
    this.#line.requireConnected();
    const sent = [...this.#unconfirmed];
    for (const [, delivered] of sent) this.#respond(delivered);
    await this.#line.flush();
    for (const [message] of sent) this.#unconfirmed.delete(message);
  }

  async nack(messages: readonly Message<Buffer>[]): Promise<void> {
    for (const message of messages) {
      this.#inFlight.get(message)?.nak();
      this.#inFlight.delete(message);
    }
    await this.#line.flush();
  }

  async backlog(): Promise<number | undefined> {
    const info = await this.#consumer?.info().catch((error: unknown) => {
      throw natsError(`${WHAT} ${this.#settings.stream}`, error);
    });
    return info?.num_pending;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#working;
    await this.#endFetch();
    try {
      for (let each = this.#arrived.shift(); each !== undefined; each = this.#arrived.shift())
        each.nak();
      for (const delivered of this.#inFlight.values()) delivered.nak();
      await this.#line.flush();
    } catch {
      // The server delivers them again after the ack wait.
    }
    await this.#line.close();
  }

  #subscribe(happened: () => void): () => void {
    this.#happened = happened;
    return () => (this.#happened = () => undefined);
  }

  #take(countMax: number): Message<Buffer>[] {
    const messages: Message<Buffer>[] = [];
    while (messages.length < countMax) {
      const delivered = this.#arrived.shift();
      if (delivered === undefined) break;
      const { data } = delivered;
      const message = {
        id: `${this.#settings.stream}:${delivered.seq}`,
        value: Buffer.from(data.buffer, data.byteOffset, data.length),
        ...readHeaders(delivered.headers),
      };
      this.#inFlight.set(message, delivered);
      messages.push(message);
    }
    return messages;
  }

  async #begin(count: number): Promise<void> {
    try {
      this.#consumer ??= await this.#prepare();
      const fetch = await this.#consumer.fetch({ max_messages: count, expires: FETCH_MS });
      this.#fetch = fetch;
      void this.#receive(fetch);
    } catch (error) {
      this.#consumer = undefined;
      throw natsError(`${WHAT} ${this.#settings.stream}`, error);
    }
  }

  async #receive(fetch: ConsumerMessages): Promise<void> {
    try {
      for await (const delivered of fetch) {
        this.#arrived.push(delivered);
        // A read takes all that came with one packet, not each message by itself.
        if (fetch.getPending() === 0) this.#happened();
      }
    } catch (error) {
      // The consumer may have gone: the next read looks, and creates it again.
      this.#consumer = undefined;
      if (this.#fetch === fetch)
        this.#failure = natsError(`${WHAT} ${this.#settings.stream}`, error);
    }
    if (this.#fetch === fetch) this.#fetch = undefined;
    this.#happened();
  }

  async #endFetch(): Promise<void> {
    const fetch = this.#fetch;
    this.#fetch = undefined;
    this.#happened();
    await fetch?.close();
  }

  /** The consumer as the server has it; created if missing. */
  async #prepare(): Promise<Consumer> {
    const { stream, consumer: name, subject, from, ackWaitMs, ackPendingMax } = this.#settings;
    const what = `${WHAT} ${stream}`;
    const library = await loadNats(WHAT, () => import("@nats-io/jetstream"));
    const { client } = this.#line;
    try {
      const manager = await library.jetstreamManager(client, { timeout: this.#timeoutMs });
      let info: ConsumerInfo;
      try {
        info = await manager.consumers.info(stream, name);
      } catch (error) {
        if (!isConsumerMissing(error)) throw error;
        info = await manager.consumers.add(stream, {
          durable_name: name,
          ack_policy: library.AckPolicy.Explicit,
          ack_wait: ackWaitMs * NANOS_PER_MS,
          max_ack_pending: ackPendingMax,
          deliver_policy:
            from === "beginning" ? library.DeliverPolicy.All : library.DeliverPolicy.New,
          ...(subject !== undefined && { filter_subject: subject }),
        });
      }
      const { config } = info;
      if (config.ack_policy !== library.AckPolicy.Explicit || config.deliver_subject !== undefined)
        throw new ConnectorError(
          `${what}: the consumer ${name} has the ack policy ${config.ack_policy}${config.deliver_subject === undefined ? "" : " and pushes"}; expected a pull consumer with explicit acknowledgements; use another name`,
          { canHeal: false },
        );
      this.#ackWaitMs = (config.ack_wait ?? ackWaitMs * NANOS_PER_MS) / NANOS_PER_MS;
      const streams = library.jetstream(client, { timeout: this.#timeoutMs });
      return await streams.consumers.get(stream, name);
    } catch (error) {
      throw natsError(what, error);
    }
  }

  /** Extends the ack wait of everything that is held here, three times within it. */
  async #sayWorking(): Promise<void> {
    const { signal } = this.#closing;
    for (;;) {
      await pause(this.#context.timer, this.#ackWaitMs / 3, signal);
      if (signal.aborted) return;
      try {
        for (const delivered of this.#inFlight.values()) delivered.working();
        for (let at = 0; at < this.#arrived.length; at++) this.#arrived.at(at)?.working();
      } catch {
        // The connection is closed; reads tell of it.
      }
    }
  }

  /** By hand: `JsMsg.ack` sends once only, also if the connection was lost before the server had it. */
  #respond(delivered: JsMsg): void {
    const { reply } = delivered as JsMsg & { readonly reply?: string };
    if (reply === undefined || reply === "") delivered.ack();
    else this.#line.client.publish(reply, ACKNOWLEDGED);
  }
}

function isConsumerMissing(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return code === CONSUMER_NOT_FOUND;
}
