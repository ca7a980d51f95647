import { ConfigError } from "@sluice/core";
import { parseTopicName } from "../../name/topic-name.ts";
import { RefusalError } from "../../refusal/refusal-error.ts";
import type { LimitedTopic } from "./topic-limits.ts";

const SYSTEM_NAMESPACE = "pulsar/system";

/** @throws RefusalError if it is no name of a topic. */
export function limitedTopic(name: string): LimitedTopic {
  const { full, namespace, partition } = parseTopicName(name);
  const key = partition?.of ?? full;
  const local = key.slice(key.lastIndexOf("/") + 1);
  return { key, namespace, isSystem: namespace === SYSTEM_NAMESPACE || local.startsWith("__") };
}

/** The key of a topic that an operator names. A pattern would be the limit of a topic that nobody publishes to. */
export function configuredTopic(name: string): string {
  if (name.includes("*"))
    throw new ConfigError(
      `topic "${name}" is a pattern; a limit of a topic names one topic. Use a group with this pattern, or a namespace`,
    );
  try {
    return limitedTopic(name).key;
  } catch (error) {
    if (error instanceof RefusalError) throw new ConfigError(error.message);
    throw error;
  }
}
