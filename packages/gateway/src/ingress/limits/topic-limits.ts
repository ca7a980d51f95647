import type { LimitLevel } from "./limit-level.ts";

/** Where the levels of a topic come from. `version` changes whenever an answer may have changed. */
export interface LevelSource {
  readonly version: number;
  levelsOf(topic: LimitedTopic, nowMs: number): readonly LimitLevel[];
}

/** A topic as the limits know it. */
export interface LimitedTopic {
  /** The full name, without "-partition-N". */
  readonly key: string;
  /** "tenant/namespace". */
  readonly namespace: string;
  /** Topics that Pulsar keeps for itself have only a limit that was set for them by name. */
  readonly isSystem: boolean;
}

/** One for all topics without limits: each producer keeps its topic's list. */
export const NO_LEVELS: readonly LimitLevel[] = [];

/** The limits that hold for one topic. Stays right through all changes of them. */
export class TopicLimits {
  readonly topic: LimitedTopic;
  readonly #source: LevelSource;
  #version = -1;
  #levels: readonly LimitLevel[] = NO_LEVELS;

  constructor(topic: LimitedTopic, source: LevelSource) {
    this.topic = topic;
    this.#source = source;
  }

  /** Topic, groups, broker; only those that have a limit. The same list until it has other levels. */
  levelsAt(nowMs: number): readonly LimitLevel[] {
    if (this.#version !== this.#source.version) {
      const levels = this.#source.levelsOf(this.topic, nowMs);
      if (!isSame(levels, this.#levels)) this.#levels = levels;
      this.#version = this.#source.version;
    }
    return this.#levels;
  }
}

function isSame(levels: readonly LimitLevel[], others: readonly LimitLevel[]): boolean {
  return levels.length === others.length && levels.every((level, i) => level === others[i]);
}
