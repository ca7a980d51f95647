import { requireOptions, requireSignal } from "../check/arguments.ts";
import { ClosedError } from "../error/closed-error.ts";
import type { Cluster } from "../lookup/cluster.ts";
import type { ConsumerOptions } from "../consumer/consumer-options.ts";
import type { Consumer } from "../consumer/consumer.ts";
import { openConsumer } from "../consumer/open-consumer.ts";
import { openProducer } from "../producer/open-producer.ts";
import type { ProducerOptions } from "../producer/producer-options.ts";
import type { Producer } from "../producer/producer.ts";

/** A producer or consumer: `close` of the client closes it too. */
interface Closeable {
  readonly isClosed: boolean;
  close(): Promise<void>;
}

/** Creates producers and consumers of one cluster. They share its connections, one per broker. */
export class Client {
  readonly #cluster: Cluster;
  readonly #opened = new Set<Closeable>();
  readonly #closed = new AbortController();
  #closing: Promise<void> | undefined;

  /** See `connect`. */
  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Resolves once attached. Aborting the signal ends the attempt and leaves nothing open. */
  async createProducer(options: ProducerOptions, signal?: AbortSignal): Promise<Producer> {
    requireOptions("the argument of createProducer", options, producerExample(options));
    requireSignal("createProducer", signal);
    return this.#open(signal, (both) => openProducer(this.#cluster, options, both));
  }

  /** Resolves once subscribed. Aborting the signal ends the attempt and leaves nothing open. */
  async subscribe(options: ConsumerOptions, signal?: AbortSignal): Promise<Consumer> {
    requireOptions("the argument of subscribe", options, consumerExample(options));
    requireSignal("subscribe", signal);
    return this.#open(signal, (both) => openConsumer(this.#cluster, options, both));
  }

  /** Closes all producers, which flush first, and all consumers, then the connections. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #open<T extends Closeable>(
    signal: AbortSignal | undefined,
    open: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const closed = this.#closed.signal;
    closed.throwIfAborted();
    const either = signal === undefined ? closed : AbortSignal.any([closed, signal]);
    const opened = await open(either);
    if (closed.aborted) {
      await opened.close();
      throw closed.reason;
    }
    // Closed producers and consumers are forgotten.
    for (const each of this.#opened) if (each.isClosed) this.#opened.delete(each);
    this.#opened.add(opened);
    return opened;
  }

  async #close(): Promise<void> {
    this.#closed.abort(new ClosedError("the client is closed; connect again"));
    await Promise.allSettled([...this.#opened].map((each) => each.close()));
    this.#opened.clear();
    this.#cluster.close();
  }
}

/** The likely meaning of a bare topic name: its example has that name. */
function producerExample(options: unknown): string {
  const topic = typeof options === "string" && options !== "" ? options : "orders";
  return `createProducer({ topic: ${JSON.stringify(topic)} })`;
}

function consumerExample(options: unknown): string {
  const topic = typeof options === "string" && options !== "" ? options : "orders";
  return `subscribe({ topic: ${JSON.stringify(topic)}, subscription: "shop" })`;
}
