import { ConfigError } from "@sluice/core";
import { describeTarget } from "../ingress/limits/publish-limits.ts";
import type { LimitTarget, RateLimit } from "../ingress/limits/rate-limit.ts";
import { parseTopicName } from "../name/topic-name.ts";
import type { NamespaceRecord } from "../policy/namespace-record.ts";
import type { PolicyPlace } from "../policy/policy-book.ts";
import { limitOfPublishRate, PUBLISH_RATE } from "./publish-rate.ts";
import type { PublishRateValue } from "./publish-rate.ts";

/** A limit in a policy, and what it is for. */
export interface StoredLimit {
  readonly target: LimitTarget;
  readonly limit: RateLimit;
}

/** The limits in the policies of a namespace and of its topics, by `keyOf`. */
export function policiesOf(
  namespace: string,
  { policies, topics }: NamespaceRecord,
): ReadonlyMap<string, StoredLimit> {
  const found = new Map<string, StoredLimit>();
  const add = (target: LimitTarget, value: unknown): void => {
    if (value === undefined) return;
    found.set(keyOf(target), { target, limit: limitOfPublishRate(value as PublishRateValue) });
  };
  add({ level: "namespace", name: namespace }, policies[PUBLISH_RATE]);
  for (const [name, set] of Object.entries(topics))
    add({ level: "topic", name }, set.policies[PUBLISH_RATE]);
  return found;
}

/** One text for all forms of a target's name. */
export function keyOf(target: LimitTarget): string {
  if (target.level !== "topic") return describeTarget(target);
  const { full, partition } = parseTopicName(target.name);
  return describeTarget({ level: "topic", name: partition?.of ?? full });
}

/** Where Pulsar's policy of a limit is. */
export function placeOf({
  level,
  name,
}: {
  readonly level: "namespace" | "topic";
  readonly name: string;
}): PolicyPlace {
  if (level === "namespace") return { namespace: name };
  const { namespace, full, partition } = parseTopicName(name);
  return { namespace, topic: partition?.of ?? full };
}

/** @throws ConfigError if it is no name of a namespace. */
export function requireNamespace(name: string): void {
  if (/^[-=:.\w]+\/[-=:.\w]+$/.test(name)) return;
  throw new ConfigError(
    `namespace is "${name.slice(0, 80)}"; write "tenant/namespace", such as "public/default"`,
  );
}
