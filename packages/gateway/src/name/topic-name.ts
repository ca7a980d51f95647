import { ConfigError } from "@sluice/core";
import { formatTopicName, parseTopicName as partsOf } from "@sluice/pulsar/sim";
import type { TopicName as TopicParts } from "@sluice/pulsar/wire";
import { RefusalError } from "../refusal/refusal-error.ts";
import { nameFlaw } from "../storage/file/name-flaw.ts";

/** A topic's name in its parts. */
export interface TopicName {
  /** "persistent://tenant/namespace/name", with "-partition-3" if it is a partition. */
  readonly full: string;
  readonly isPersistent: boolean;
  /** "tenant/namespace". */
  readonly namespace: string;
  /** Of a partition: the topic that it is part of, and its number. */
  readonly partition: { readonly of: string; readonly index: number } | undefined;
}

// A control character in a name would end up in log lines.
const CONTROL = /\p{Cc}/u;

/** Understands full names and the short ones that stand for `persistent://public/default/`. */
export function parseTopicName(text: string): TopicName {
  requireClientName("InvalidTopicName", "a topic's name", text);
  const parts = partsOrRefusal(text);
  const { domain, tenant, namespace, partition } = parts;
  return {
    full: formatTopicName(parts),
    isPersistent: domain === "persistent",
    namespace: `${tenant}/${namespace}`,
    partition:
      partition === undefined
        ? undefined
        : { of: formatTopicName({ ...parts, partition: undefined }), index: partition },
  };
}

function partsOrRefusal(text: string): TopicParts {
  try {
    return partsOf(text);
  } catch (error) {
    if (error instanceof ConfigError) throw new RefusalError("InvalidTopicName", error.message);
    throw error;
  }
}

/** Refuses a name of a client that cannot be stored or would forge lines of a log. */
export function requireClientName(
  error: "InvalidTopicName" | "NotAllowedError",
  what: string,
  name: string,
): void {
  const flaw = nameFlaw(name) ?? (CONTROL.test(name) ? "has a control character" : undefined);
  if (flaw !== undefined) throw new RefusalError(error, `${what} ${flaw}`);
}
