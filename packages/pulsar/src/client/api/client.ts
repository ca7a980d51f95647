import { ClosedError } from "../error/closed-error.ts";
import type { Cluster } from "../lookup/cluster.ts";
import type { ConsumerOptions } from "../consumer/consumer-options.ts";
import type { Consumer } from "../consumer/consumer.ts";
import { openConsumer } from "../consumer/open-consumer.ts";
import { openProducer } from "../producer/open-producer.ts";
import type { ProducerOptions } from "../producer/producer-options.ts";
import type { Producer } from "../producer/producer.ts";
import { wellHeard } from "../connection/well-heard.ts";

/** What a client hands out and closes with itself. */
interface Closeable {
  readonly isClosed: boolean;
  close(): Promise<void>;
}

/** Producers and consumers of one cluster, over connections that they share. */
export class Client {
  readonly #cluster: Cluster;
  readonly #opened = new Set<Closeable>();
  readonly #closed = new AbortController();
  #closing: Promise<void> | undefined;

  /** See `connect`. */
  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Aborting the signal ends the attempt, and nothing of it is left. */
  createProducer(options: ProducerOptions, signal?: AbortSignal): Promise<Producer> {
    return this.#open(signal, (both) => openProducer(this.#cluster, options, both));
  }

  /** Aborting the signal ends the attempt, and nothing of it is left. */
  subscribe(options: ConsumerOptions, signal?: AbortSignal): Promise<Consumer> {
    return this.#open(signal, (both) => openConsumer(this.#cluster, options, both));
  }

  /** Closes all producers, which flush, and consumers, then the connections. Nothing is left. */
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
    const opened = await open(wellHeard(either));
    if (closed.aborted) {
      await opened.close();
      throw closed.reason;
    }
    // What its user has closed need not be remembered any longer.
    for (const each of this.#opened) if (each.isClosed) this.#opened.delete(each);
    this.#opened.add(opened);
    return opened;
  }

  async #close(): Promise<void> {
    this.#closed.abort(new ClosedError("the client is closed"));
    await Promise.allSettled([...this.#opened].map((each) => each.close()));
    this.#opened.clear();
    this.#cluster.close();
  }
}
