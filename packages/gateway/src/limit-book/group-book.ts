import { ConfigError } from "@sluice/core";
import type { PublishLimitSettings } from "../ingress/limits/limit-settings.ts";
import { withSetAt } from "../policy/limits-record.ts";
import type { LimitsRecord, ResourceGroup } from "../policy/limits-record.ts";
import type { PolicyBook } from "../policy/policy-book.ts";
import { groupOf, RESOURCE_GROUP } from "./publish-rate.ts";

/** All groups of topics: those of the start with their patterns, and Pulsar's resource groups with their namespaces. */
export class GroupBook {
  /** The groups of the flow file. */
  #given: NonNullable<PublishLimitSettings["groups"]>;
  readonly #policies: PolicyBook;

  constructor({ groups = {} }: PublishLimitSettings, policies: PolicyBook) {
    this.#given = groups;
    this.#policies = policies;
  }

  /** Other groups of the flow file, from now on. */
  reload({ groups = {} }: PublishLimitSettings): void {
    this.#given = groups;
  }

  /** By name. */
  all(): ReadonlyMap<string, ResourceGroup> {
    const atStart = Object.entries(this.#given).map(
      ([name, limit]) => [name, groupOf(limit)] as const,
    );
    return new Map([...atStart, ...Object.entries(this.#policies.limits.groups)]);
  }

  isOfStart(name: string): boolean {
    return Object.hasOwn(this.#given, name);
  }

  /** What was stored of a group while the process ran. */
  stored(name: string): ResourceGroup | undefined {
    const { groups } = this.#policies.limits;
    return Object.hasOwn(groups, name) ? groups[name] : undefined;
  }

  /** Namespaces whose topics are in the group, beside its patterns. */
  namespacesOf(group: string): readonly string[] {
    return this.assigned().get(group) ?? [];
  }

  /** The namespaces of each resource group. */
  assigned(): ReadonlyMap<string, readonly string[]> {
    const found = new Map<string, string[]>();
    for (const namespace of this.#policies.namespaces()) {
      const group = this.#policies.recordOf(namespace).policies[RESOURCE_GROUP];
      if (typeof group !== "string") continue;
      const known = found.get(group);
      if (known === undefined) found.set(group, [namespace]);
      else known.push(namespace);
    }
    return found;
  }

  /** Patterns of the start. */
  patternsOf(name: string): readonly string[] {
    return this.isOfStart(name) ? (this.#given[name]?.topics ?? []) : [];
  }

  /** Undefined removes it. */
  save(name: string, group: ResourceGroup | undefined): Promise<void> {
    return this.#policies.changeLimits((limits, atMs) =>
      withSetAt(withGroup(limits, name, group), `group ${name}`, group && atMs),
    );
  }

  /** @throws ConfigError if there is no such group. */
  require(name: string): void {
    const names = [...this.all().keys()];
    if (names.includes(name)) return;
    const known = names.slice(0, 10).join(", ") || "none";
    throw new ConfigError(
      `there is no group "${name}" (there are: ${known}); name its topics in gateway.limits.groups of the flow file, or create a resource group`,
    );
  }
}

function withGroup(
  limits: LimitsRecord,
  name: string,
  group: ResourceGroup | undefined,
): LimitsRecord {
  const { [name]: _, ...others } = limits.groups;
  return { ...limits, groups: group === undefined ? others : { ...others, [name]: group } };
}
