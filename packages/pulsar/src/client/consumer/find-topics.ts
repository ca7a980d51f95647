import { ConfigError } from "@sluice/core";
import { parseTopicName, partitionTopicName } from "../../topic-name.ts";
import type { TopicName } from "../../topic-name.ts";
import { TOPICS_MODE } from "../../wire/constants.ts";
import type { Cluster } from "../lookup/cluster.ts";
import { TOPICS_MAX } from "./consumer-options.ts";
import type { TopicSelection } from "./consumer-options.ts";
import { inGroups } from "../wait/in-groups.ts";

/** The topics to subscribe to: every partition of a partitioned topic, or the topic itself. */
export async function findTopics(
  cluster: Cluster,
  selection: TopicSelection,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  if (selection.kind === "pattern")
    return requireNotTooMany(await topicsLike(cluster, selection, signal));
  const found: string[] = [];
  await inGroups(selection.topics, async (topic) => {
    for (const part of await partsOf(cluster, topic, signal)) found.push(part);
  });
  return requireNotTooMany(found);
}

function requireNotTooMany(topics: readonly string[]): readonly string[] {
  if (topics.length <= TOPICS_MAX) return topics;
  throw new ConfigError(
    `a consumer of ${topics.length} topics and partitions is too large; at most ${TOPICS_MAX}`,
  );
}

async function partsOf(
  cluster: Cluster,
  topic: string,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  if (parseTopicName(topic).partition !== undefined) return [topic];
  const partitions = await cluster.partitionsOf(topic, signal);
  if (partitions === 0) return [topic];
  return Array.from({ length: partitions }, (_, index) => partitionTopicName(topic, index));
}

async function topicsLike(
  cluster: Cluster,
  { namespace, pattern }: Extract<TopicSelection, { readonly kind: "pattern" }>,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const service = await cluster.service(signal);
  const mode = TOPICS_MODE.persistent;
  const { topics = [] } = await service.request(
    "getTopicsOfNamespaceResponse",
    (requestId) => ({ kind: "getTopicsOfNamespace", body: { requestId, namespace, mode } }),
    { signal },
  );
  return topics.filter((topic) => {
    const localName = nameOf(topic)?.localName;
    // Pulsar's system topics begin with two underscores.
    return localName !== undefined && !localName.startsWith("__") && pattern.test(localName);
  });
}

/** Undefined for names that Pulsar no longer accepts; old clusters may have some. */
function nameOf(topic: string): TopicName | undefined {
  try {
    return parseTopicName(topic);
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}
