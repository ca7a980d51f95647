import { ConfigError } from "@sluice/core";
import { GROUPS_MAX, PATTERNS_MAX } from "../ingress/limits/limit-groups.ts";
import type { PublishLimitSettings } from "../ingress/limits/limit-settings.ts";
import { SET_LIMITS_MAX } from "../ingress/limits/publish-limits.ts";
import type { PublishLimits } from "../ingress/limits/publish-limits.ts";
import type { LimitsRecord } from "../policy/limits-record.ts";
import type { NamespaceRecord } from "../policy/namespace-record.ts";
import type { PolicyBook } from "../policy/policy-book.ts";
import type { GroupBook } from "./group-book.ts";
import { RESOURCE_GROUP } from "./publish-rate.ts";
import { policiesOf } from "./stored-limits.ts";

/**
 * What is stored must be applicable, or each later change would fail and the broker would not start. A
 * change that does not add to what is too much already is taken.
 *
 * @throws ConfigError if there are too many groups.
 */
export function requireRoomForGroups(
  book: GroupBook,
  given: PublishLimitSettings,
  { groups }: LimitsRecord,
): void {
  const names = new Set([...Object.keys(given.groups ?? {}), ...Object.keys(groups)]);
  if (names.size <= Math.max(GROUPS_MAX, book.all().size)) return;
  throw new ConfigError(
    `there are ${GROUPS_MAX} groups, the maximum, those of the flow file included; remove one first`,
  );
}

/** @throws ConfigError if the group has too many namespaces, or too many topics have limits. */
export function requireRoomIn(
  book: GroupBook,
  {
    limits,
    given,
    policies,
  }: {
    readonly limits: PublishLimits;
    readonly given: PublishLimitSettings;
    readonly policies: PolicyBook;
  },
  { namespace, record }: { readonly namespace: string; readonly record: NamespaceRecord },
): void {
  const former = policies.recordOf(namespace).policies[RESOURCE_GROUP];
  const group = record.policies[RESOURCE_GROUP];
  const { groups = {} } = given;
  if (typeof group === "string" && group !== former) {
    const atStart = Object.hasOwn(groups, group) ? (groups[group]?.topics.length ?? 0) : 0;
    if (atStart + book.namespacesOf(group).length >= PATTERNS_MAX)
      throw new ConfigError(
        `group "${group}" has ${PATTERNS_MAX} namespaces and patterns, the maximum; remove one first`,
      );
  }
  let added = 0;
  for (const { target } of policiesOf(namespace, record).values())
    if (target.level === "topic" && limits.get(target) === undefined) added++;
  if (added > 0 && limits.setTopics + added > SET_LIMITS_MAX)
    throw new ConfigError(
      `${SET_LIMITS_MAX} topics have a limit of their own, the maximum; remove one, or set one for the namespace`,
    );
}
