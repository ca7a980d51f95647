import { parseTopicName } from "../../topic-name.ts";
import type { Cluster } from "../lookup/cluster.ts";
import { PartitionedProducer } from "./partitioned-producer.ts";
import { settingsOf } from "./producer-options.ts";
import type { ProducerOptions } from "./producer-options.ts";
import type { Producer } from "./producer.ts";
import { PartitionRoom, SendRoom } from "./send/send-room.ts";
import { TopicProducer } from "./topic-producer.ts";

/** Resolves once the producer, or one producer per partition, is attached to its broker. */
export async function openProducer(
  cluster: Cluster,
  options: ProducerOptions,
  signal?: AbortSignal,
): Promise<Producer> {
  const settings = settingsOf(options);
  const { topic } = settings;
  const { partition } = parseTopicName(topic);
  if (partition === undefined) {
    const partitions = await cluster.partitionsOf(topic, signal);
    if (partitions > 0) return PartitionedProducer.open(cluster, settings, { partitions, signal });
  }
  const room = new PartitionRoom(new SendRoom(settings.room));
  return TopicProducer.open(cluster, settings, { topic, partition: partition ?? -1, room, signal });
}
