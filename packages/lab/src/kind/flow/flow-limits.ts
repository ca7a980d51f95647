import type { LimitsBlock } from "../../file/limits/limits.ts";
import type { Problem } from "../../file/problem.ts";
import { fullName, fullPattern } from "./flow-names.ts";

export const NO_LIMITS: LimitsBlock = { topics: {}, groups: {}, connection: {} };

/** Keys of the block that mean nothing here: producers alone, and one gateway, are simulated. */
export function problemsOfLimits({ dispatch, subscribe, broker, groups }: LimitsBlock): Problem[] {
  const ofConsumers = { dispatch, subscribe };
  const shared = Object.entries({ ...groups }).filter(([, group]) => group.shared === true);
  return [
    ...Object.entries(ofConsumers)
      .filter(([, given]) => given !== undefined)
      .map(([key]) => problem([key], "the scenario has no consumers")),
    ...(broker?.shared === true ? [problem(["broker", "shared"], ONE_GATEWAY)] : []),
    ...shared.map(([name]) => problem(["groups", name, "shared"], ONE_GATEWAY)),
  ];
}

function problem(path: readonly string[], why: string): Problem {
  const message = `has no effect: ${why}; remove it`;
  return { path: ["limits", ...path], message, isMissing: false };
}

const ONE_GATEWAY = "the scenario has one gateway";

/** The block with full names of topics, as a gateway knows them. */
export function withFullNames(given: LimitsBlock): LimitsBlock {
  const groups = Object.entries(given.groups).map(
    ([name, group]) => [name, { ...group, topics: group.topics.map(fullPattern) }] as const,
  );
  return { ...given, topics: byFullName(given.topics), groups: Object.fromEntries(groups) };
}

export function byFullName<T>(topics: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(topics).map(([topic, limit]) => [full(topic), limit]));
}

/** The schema has accepted the name. */
export function full(topic: string): string {
  return fullName(topic) ?? topic;
}
