import type { Cluster } from "../lookup/cluster.ts";
import { consumerSettingsOf } from "./consumer-options.ts";
import type { ConsumerOptions } from "./consumer-options.ts";
import { Consumer } from "./consumer.ts";

/** Resolves once all topics are subscribed. */
export async function openConsumer(
  cluster: Cluster,
  options: ConsumerOptions,
  signal?: AbortSignal,
): Promise<Consumer> {
  return Consumer.open(cluster, consumerSettingsOf(options), signal);
}
