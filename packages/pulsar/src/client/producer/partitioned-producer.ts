import { SluiceError } from "@sluice/core";
import { partitionTopicName } from "../../topic-name.ts";
import { requireSignalOptions } from "../check/arguments.ts";
import { Alarm } from "../wait/alarm.ts";
import { ClosedError } from "../error/closed-error.ts";
import type { Cluster } from "../lookup/cluster.ts";
import { inGroups } from "../wait/in-groups.ts";
import type { MessageId } from "../message/message-id.ts";
import { requireMessage } from "./send/outgoing-message.ts";
import type { OutgoingMessage } from "./send/outgoing-message.ts";
import type { ProducerSettings } from "./producer-options.ts";
import type { CloseOptions, Producer, ProducerStats, SendOptions } from "./producer.ts";
import { Router } from "./router.ts";
import type { RoutedPartitions } from "./router.ts";
import { PartitionRoom, SendRoom } from "./send/send-room.ts";
import type { Throttling } from "./throttle/producer-throttle.ts";
import { TopicProducer } from "./topic-producer.ts";

/**
 * One producer per partition of a topic, and the router that chooses between them. All share one
 * `SendRoom`: the pending messages are bounded for any number of partitions, and a stuck partition
 * leaves room for the others.
 */
export class PartitionedProducer implements Producer {
  readonly topic: string;
  readonly #cluster: Cluster;
  readonly #settings: ProducerSettings;
  readonly #room: SendRoom;
  readonly #router: Router;
  readonly #updateAlarm: Alarm;
  readonly #closed = new AbortController();
  #producers: readonly TopicProducer[] = [];
  #routed: RoutedPartitions = routedOf([]);
  #updating: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  private constructor(cluster: Cluster, settings: ProducerSettings, startAt: number) {
    const { route, keyHash } = settings.partitions;
    this.topic = settings.topic;
    this.#cluster = cluster;
    this.#settings = settings;
    this.#room = new SendRoom(settings.room);
    this.#router = new Router({ route, keyHash, startAt });
    this.#updateAlarm = new Alarm(cluster.timer, () => {
      this.#updating = this.#update();
    });
  }

  /** Resolves once all partitions are attached. If one of them fails, all are closed again. */
  static async open(
    cluster: Cluster,
    settings: ProducerSettings,
    {
      partitions,
      signal,
    }: { readonly partitions: number; readonly signal?: AbortSignal | undefined },
  ): Promise<PartitionedProducer> {
    const startAt = Math.floor(cluster.random.next() * partitions);
    const producer = new PartitionedProducer(cluster, settings, startAt);
    await producer.#grow(partitions, signal);
    producer.#armUpdate();
    return producer;
  }

  get name(): string {
    return this.#settings.name ?? this.#producers[0]?.name ?? "";
  }

  get lastSequenceId(): bigint {
    return this.#producers.reduce((highest, { lastSequenceId }) => {
      return lastSequenceId > highest ? lastSequenceId : highest;
    }, -1n);
  }

  get pendingMessages(): number {
    return this.#room.messages;
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  get isThrottled(): boolean {
    return this.#producers.some(({ isThrottled }) => isThrottled);
  }

  get throttling(): Throttling | undefined {
    const pauses = this.#producers.flatMap(({ throttling }) => throttling ?? []);
    return pauses.reduce<Throttling | undefined>(
      (last, each) => (each.pauseLeftMs > (last?.pauseLeftMs ?? 0) ? each : last),
      undefined,
    );
  }

  get partitions(): number {
    return this.#producers.length;
  }

  async send(message: OutgoingMessage, options?: SendOptions): Promise<MessageId> {
    if (this.isClosed) throw this.#closedError();
    requireMessage(message);
    const producer = this.#producers[this.#router.choose(message, this.#routed)];
    if (producer === undefined)
      throw new ClosedError(`the producer of ${this.topic} has no partition`);
    return producer.send(message, options);
  }

  stats(): ProducerStats {
    const throttledMs: Record<string, number> = {};
    for (const producer of this.#producers)
      for (const [reason, ms] of Object.entries(producer.stats().throttledMs))
        throttledMs[reason] = (throttledMs[reason] ?? 0) + ms;
    return { throttledMs };
  }

  async flush(): Promise<void> {
    await Promise.all(this.#producers.map((producer) => producer.flush()));
  }

  async close(options?: CloseOptions): Promise<void> {
    requireSignalOptions("close({ signal })", options);
    this.#closing ??= this.#close(options);
    await this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #closedError(): ClosedError {
    return new ClosedError(`the producer of ${this.topic} is closed; create another`);
  }

  async #close(options: CloseOptions | undefined): Promise<void> {
    this.#closed.abort(this.#closedError());
    this.#updateAlarm.clear();
    await this.#updating;
    await Promise.all(this.#producers.map((producer) => producer.close(options)));
  }

  #armUpdate(): void {
    if (this.#closed.signal.aborted) return;
    this.#updateAlarm.set(this.#cluster.timer.now() + this.#settings.partitions.updateMs);
  }

  /** Looks for added partitions. Pulsar never removes partitions. */
  async #update(): Promise<void> {
    const { signal } = this.#closed;
    try {
      const partitions = await this.#cluster.partitionsOf(this.topic, signal);
      if (partitions > this.#producers.length) await this.#grow(partitions, signal);
    } catch (error) {
      // The known partitions go on; the next update may succeed.
      if (!(error instanceof SluiceError)) throw error;
    }
    this.#armUpdate();
  }

  async #grow(partitions: number, signal: AbortSignal | undefined): Promise<void> {
    const known = this.#producers.length;
    const fresh = Array.from({ length: partitions - known }, (_, index) => known + index);
    this.#room.partitions = partitions;
    const opened: { readonly partition: number; readonly producer: TopicProducer }[] = [];
    try {
      await inGroups(fresh, async (partition) => {
        opened.push({ partition, producer: await this.#open(partition, signal) });
      });
    } catch (error) {
      await inGroups(opened, ({ producer }) => producer.close());
      throw error;
    }
    opened.sort((one, other) => one.partition - other.partition);
    this.#producers = [...this.#producers, ...opened.map(({ producer }) => producer)];
    this.#routed = routedOf(this.#producers);
  }

  #open(partition: number, signal: AbortSignal | undefined): Promise<TopicProducer> {
    const topic = partitionTopicName(this.topic, partition);
    return TopicProducer.open(this.#cluster, this.#settings, {
      topic,
      partition,
      room: new PartitionRoom(this.#room),
      signal,
    });
  }
}

/** Made once for each number of partitions, not for each message. */
function routedOf(producers: readonly TopicProducer[]): RoutedPartitions {
  return {
    count: producers.length,
    stateOf: (partition) => producers[partition]?.state ?? "full",
    pauseLeftMs: (partition) => producers[partition]?.pauseLeftMs ?? 0,
  };
}
