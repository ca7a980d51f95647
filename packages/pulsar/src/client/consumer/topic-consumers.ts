import { SluiceError } from "@sluice/core";
import { Alarm } from "../wait/alarm.ts";
import type { Cluster } from "../lookup/cluster.ts";
import { MessageId } from "../message/message-id.ts";
import type { ConsumerSettings } from "./consumer-options.ts";
import { findTopics } from "./find-topics.ts";
import { inGroups } from "../wait/in-groups.ts";
import type { Received } from "./receive/incoming-entry.ts";
import { TopicConsumer } from "./topic-consumer.ts";
import type { TopicConsumerListener } from "./topic-consumer.ts";

export interface TopicConsumersListener {
  /** A message may be ready to take. */
  onReady(): void;
  /** A named topic ended for good. */
  onEnded(error: SluiceError): void;
}

/**
 * The consumers of all topics and partitions of a subscription. Messages are taken in round robin
 * over the topics that have some. New topics are found by polling; deleted topics of a pattern are
 * dropped.
 */
export class TopicConsumers implements TopicConsumerListener {
  readonly #cluster: Cluster;
  readonly #settings: ConsumerSettings;
  readonly #listener: TopicConsumersListener;
  readonly #byTopic = new Map<string, TopicConsumer>();
  /** Consumers that may have a message, in round-robin order. */
  readonly #ready = new Set<TopicConsumer>();
  readonly #refreshAlarm: Alarm;
  readonly #stopping = new AbortController();
  #refreshing: Promise<void> | undefined;
  #isPaused = false;

  constructor(cluster: Cluster, settings: ConsumerSettings, listener: TopicConsumersListener) {
    this.#cluster = cluster;
    this.#settings = settings;
    this.#listener = listener;
    this.#refreshAlarm = new Alarm(cluster.timer, () => {
      this.#refreshing = this.#refresh();
    });
  }

  get all(): readonly TopicConsumer[] {
    return [...this.#byTopic.values()];
  }

  /** Undefined unless there is exactly one. */
  get only(): TopicConsumer | undefined {
    return this.#byTopic.size === 1 ? this.all[0] : undefined;
  }

  get(topic: string): TopicConsumer | undefined {
    return this.#byTopic.get(topic);
  }

  async start(signal?: AbortSignal): Promise<void> {
    const topics = await findTopics(this.#cluster, this.#settings.selection, signal);
    try {
      await this.#add(topics, this.#settings, signal);
    } catch (error) {
      await this.close();
      throw error;
    }
    this.#planRefresh();
  }

  take(): Received | undefined {
    for (const consumer of this.#ready) {
      this.#ready.delete(consumer);
      const received = consumer.take();
      if (received === undefined) continue;
      this.#ready.add(consumer);
      return received;
    }
    return undefined;
  }

  pause(): void {
    this.#isPaused = true;
    for (const consumer of this.#byTopic.values()) consumer.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const consumer of this.#byTopic.values()) consumer.resume();
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    this.#refreshAlarm.clear();
    await this.#refreshing;
    await inGroups(this.all, (consumer) => this.#remove(consumer));
  }

  onReady(consumer: TopicConsumer): void {
    this.#ready.add(consumer);
    this.#listener.onReady();
  }

  onEnded(consumer: TopicConsumer, error: SluiceError): void {
    // A topic that matches a pattern may be deleted at any time.
    if (this.#settings.selection.kind === "pattern") void this.#remove(consumer);
    else this.#listener.onEnded(error);
  }

  /** Looks for new topics and partitions. Failures are retried at the next refresh. */
  async #refresh(): Promise<void> {
    const { signal } = this.#stopping;
    const { selection } = this.#settings;
    try {
      const topics = await findTopics(this.#cluster, selection, signal);
      const found = new Set(topics);
      const gone = this.all.filter(({ topic }) => !found.has(topic));
      // Named topics are kept even if the broker does not list them now.
      if (selection.kind === "pattern") await inGroups(gone, (each) => this.#remove(each));
      await this.#add(topics, this.#late(), signal);
    } catch (error) {
      if (!(error instanceof SluiceError) && !signal.aborted) throw error;
    }
    this.#planRefresh();
  }

  async #add(
    topics: readonly string[],
    settings: ConsumerSettings,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const fresh = topics.filter((topic) => !this.#byTopic.has(topic));
    const queueSize = this.#queueSize(this.#byTopic.size + fresh.length);
    await inGroups(fresh, async (topic) => {
      const consumer = new TopicConsumer(this.#cluster, settings, {
        topic,
        queueSize,
        listener: this,
      });
      if (this.#isPaused) consumer.pause();
      this.#byTopic.set(topic, consumer);
      try {
        await consumer.start(signal);
      } catch (error) {
        await this.#remove(consumer);
        throw error;
      }
    });
  }

  async #remove(consumer: TopicConsumer): Promise<void> {
    this.#byTopic.delete(consumer.topic);
    this.#ready.delete(consumer);
    await consumer.close();
  }

  /** A topic created after the subscription is consumed from its first message. */
  #late(): ConsumerSettings {
    const { isDurable } = this.#settings;
    const startMessageId = isDurable ? undefined : MessageId.earliest;
    return { ...this.#settings, initialPosition: "earliest", startMessageId };
  }

  /** New topics get an equal part of `receiverQueueTotal`; existing ones keep theirs. */
  #queueSize(count: number): number {
    const { receiverQueueSize, receiverQueueTotal } = this.#settings;
    return Math.max(1, Math.min(receiverQueueSize, Math.floor(receiverQueueTotal / count)));
  }

  #planRefresh(): void {
    if (this.#stopping.signal.aborted) return;
    this.#refreshAlarm.set(this.#cluster.timer.now() + this.#settings.topicsRefreshMs);
  }
}
