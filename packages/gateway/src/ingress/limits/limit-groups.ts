import { ConfigError } from "@sluice/core";
import { parseGroupPattern } from "../../name/topic-pattern.ts";
import type { TopicPattern } from "../../name/topic-pattern.ts";
import { LimitLevel } from "./limit-level.ts";
import type { LimitGroup } from "./limit-settings.ts";

/** Groups are matched with each topic that is published to: some hundreds take microseconds. */
export const GROUPS_MAX = 1_000;
export const PATTERNS_MAX = 1_000;

interface Group {
  readonly level: LimitLevel;
  topics: readonly string[];
  patterns: readonly TopicPattern[];
}

/** Groups of topics, each with one limit for all of them. */
export class LimitGroups {
  readonly #groups = new Map<string, Group>();

  list(): readonly LimitGroup[] {
    return [...this.#groups].map(([name, { level, topics }]) => ({
      name,
      topics,
      limit: level.isLimited ? level.limit : undefined,
    }));
  }

  levels(): readonly LimitLevel[] {
    return [...this.#groups.values()].map(({ level }) => level);
  }

  find(name: string): LimitLevel | undefined {
    return this.#groups.get(name)?.level;
  }

  /** @throws ConfigError if there is no such group. */
  level(name: string): LimitLevel {
    const level = this.find(name);
    if (level !== undefined) return level;
    const known = [...this.#groups.keys()].slice(0, 10).join(", ") || "none";
    throw new ConfigError(
      `there is no group "${name}" (there are: ${known}); name its topics first`,
    );
  }

  /** The levels of the groups that a topic is in and that have a limit, in the order of the groups. */
  levelsOf(topic: string): readonly LimitLevel[] {
    const levels: LimitLevel[] = [];
    for (const { level, patterns } of this.#groups.values())
      if (level.isLimited && patterns.some((pattern) => pattern.matches(topic))) levels.push(level);
    return levels;
  }

  set(name: string, topics: readonly string[]): void {
    const isList: boolean = Array.isArray(topics);
    if (!isList || topics.length > PATTERNS_MAX)
      throw new ConfigError(
        `groups.${name}.topics must be a list of at most ${PATTERNS_MAX} patterns, such as ["public/analytics/*"]`,
      );
    const patterns = topics.map((text) => parseGroupPattern(`groups.${name}.topics`, text));
    const group = this.#groups.get(name);
    if (group === undefined && this.#groups.size >= GROUPS_MAX)
      throw new ConfigError(`there are ${GROUPS_MAX} groups, the maximum; remove one first`);
    if (group === undefined) {
      const level = new LimitLevel(`group ${name}`, "group-rate");
      this.#groups.set(name, { level, topics: [...topics], patterns });
    } else {
      group.topics = [...topics];
      group.patterns = patterns;
    }
  }

  /** False if there was none. */
  remove(name: string, nowMs: number): boolean {
    const level = this.find(name);
    this.#groups.delete(name);
    // What waits for it goes on.
    level?.setLimit({}, nowMs);
    return level !== undefined;
  }
}
