import { requireWhole } from "@sluice/core/internal";
import { parseTopicName } from "../name/topic-name.ts";
import type { TopicName } from "../name/topic-name.ts";
import { RefusalError } from "../refusal/refusal-error.ts";
import type { SchemaRegistry } from "../schema/schema-registry.ts";
import type { BrokerStore } from "../storage/store/broker-store.ts";
import { Turns } from "../storage/turns.ts";
import { PersistentTopic } from "../topic/persistent-topic.ts";
import { orRefusal } from "../topic/refusal.ts";
import type { ResolvedSettings } from "../topic/settings.ts";
import { partitionName } from "./topic-index.ts";
import type { Topics } from "./topics.ts";

export interface PartitionedTopicsOptions {
  readonly store: BrokerStore;
  readonly schemas: SchemaRegistry;
  readonly limits: ResolvedSettings["limits"];
}

/** Topics with partitions: created, grown and deleted one after the other, and durable once done. */
export class PartitionedTopics {
  readonly #topics: Topics;
  readonly #options: PartitionedTopicsOptions;
  readonly #turns = new Turns();

  constructor(topics: Topics, options: PartitionedTopicsOptions) {
    this.#topics = topics;
    this.#options = options;
  }

  /** The names of a topic's partitions; none if it is not partitioned. */
  partitionsOf(name: TopicName): readonly TopicName[] {
    const count = name.partition === undefined ? this.#topics.index.partitionsOf(name) : 0;
    return Array.from({ length: count }, (_, index) =>
      parseTopicName(partitionName(name.full, index)),
    );
  }

  async create(name: TopicName, count: number): Promise<void> {
    requireWhole("partitions", count, 1, this.#options.limits.partitionsMax);
    await this.#turns.run(async () => {
      const { index } = this.#topics;
      if (index.partitionsOf(name) > 0 || index.lists(name)) throw exists(name);
      this.#requireRoom(count);
      await this.#save(name, count);
    });
  }

  /** Only more; durable subscriptions of partition 0 are copied to the new ones. */
  async grow(name: TopicName, count: number): Promise<void> {
    requireWhole("partitions", count, 1, this.#options.limits.partitionsMax);
    await this.#turns.run(async () => {
      const former = this.#topics.index.partitionsOf(name);
      if (former === 0)
        throw new RefusalError("NotAllowedError", `topic ${name.full} is not partitioned`);
      if (count < former)
        throw new RefusalError("NotAllowedError", `topic ${name.full} has ${former} partitions`);
      this.#requireRoom(count - former);
      await this.#copySubscriptions(name, { from: former, to: count });
      await this.#save(name, count);
    });
  }

  async delete(name: TopicName, force: boolean): Promise<void> {
    const { store, schemas } = this.#options;
    await this.#turns.run(async () => {
      const existing = this.partitionsOf(name).filter((partition) =>
        this.#topics.index.has(partition),
      );
      const removeRest = async (): Promise<void> => {
        await orRefusal(store.removePartitionCount(name.full));
        this.#topics.index.removePartitions(name);
        await schemas.delete(name.full);
      };
      await this.#topics.delete(existing, { force, removeRest });
    });
  }

  async #save(name: TopicName, count: number): Promise<void> {
    await orRefusal(this.#options.store.savePartitionCount(name.full, count));
    this.#topics.index.setPartitions(name, count);
  }

  /** Subscriptions of partition 0 begin at the start of new partitions, which have no entries yet. */
  async #copySubscriptions(
    { full }: TopicName,
    { from, to }: { readonly from: number; readonly to: number },
  ): Promise<void> {
    const first = parseTopicName(partitionName(full, 0));
    if (!first.isPersistent || !this.#topics.index.has(first)) return;
    const opened = await this.#topics.open(first, { mayCreate: false });
    if (!(opened instanceof PersistentTopic)) return;
    const names = opened.subscriptions.durableNames;
    for (let index = from; index < to; index++) {
      if (names.length === 0) return;
      const name = parseTopicName(partitionName(full, index));
      const topic = await this.#topics.open(name, { mayCreate: true, byAdministrator: true });
      if (!(topic instanceof PersistentTopic)) return;
      for (const subscription of names) await topic.subscriptions.ensure(subscription);
    }
  }

  #requireRoom(more: number): void {
    const { topicsMax } = this.#options.limits;
    if (this.#topics.index.size + more > topicsMax)
      throw new RefusalError("NotAllowedError", `there may be ${topicsMax} topics and partitions`);
  }
}

/** A topic that is not a partition of another. */
export function wholeTopic(topic: string): TopicName {
  const name = parseTopicName(topic);
  if (name.partition !== undefined)
    throw new RefusalError("NotAllowedError", `${name.full} is a partition`);
  return name;
}

export function exists({ full }: TopicName): RefusalError {
  return new RefusalError("NotAllowedError", `topic ${full} exists already`);
}
