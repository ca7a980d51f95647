import { systemTimer } from "@sluice/core/system";
import { connect } from "@sluice/pulsar";
import type { Client, Producer } from "@sluice/pulsar";

/**
 * Messages that are stored and not yet at the service, while the producer runs. Four replicas have up to 1,000 each in their
 * receiver queues; with fewer than that in all, one replica could have none.
 */
const BACKLOG = 8_000;
const SENT_AT_ONCE = 200;

/** The topic with its producer: keeps a backlog for the replicas. */
export class Backlog {
  /** Ids from 0 to this, exclusively, are stored: their receipts have come. */
  stored = 0;
  readonly #client: Client;
  readonly #producer: Producer;
  readonly #arrived: () => number;
  #isStopping = false;
  readonly #running: Promise<void>;

  private constructor(client: Client, producer: Producer, arrived: () => number) {
    this.#client = client;
    this.#producer = producer;
    this.#arrived = arrived;
    this.#running = this.#run();
    this.#running.catch(() => undefined);
  }

  /** `arrived` answers how many ids the service has. Resolves when the backlog is there. */
  static async start(
    url: string,
    { topic, subscription }: { readonly topic: string; readonly subscription: string },
    arrived: () => number,
  ): Promise<Backlog> {
    const client = await connect(url);
    // The subscription exists before the first message, so that the broker keeps all of them.
    const early = await client.subscribe({ topic, subscription, type: "shared" });
    await early.close();
    // Single messages: an Apache broker acknowledges batches only as a whole by default.
    const producer = await client.createProducer({ topic, batching: false });
    const backlog = new Backlog(client, producer, arrived);
    await Promise.race([backlog.#filled(), backlog.#running]);
    return backlog;
  }

  /** Stops the producer; what is stored from then on does not change. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  async close(): Promise<void> {
    try {
      await this.stop();
    } finally {
      await this.#client.close();
    }
  }

  async #filled(): Promise<void> {
    while (this.stored < BACKLOG && !this.#isStopping) await systemTimer.sleep(10);
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      if (this.stored - this.#arrived() >= BACKLOG) {
        await systemTimer.sleep(10);
        continue;
      }
      const ids = Array.from({ length: SENT_AT_ONCE }, (_, index) => this.stored + index);
      await Promise.all(ids.map((id) => this.#producer.send({ data: bodyOf(id) })));
      this.stored += ids.length;
    }
  }
}

/** A message of 256 bytes. */
function bodyOf(id: number): string {
  const head = `{"id":${id},"text":"`;
  return `${head}${"x".repeat(256 - head.length - 2)}"}`;
}
