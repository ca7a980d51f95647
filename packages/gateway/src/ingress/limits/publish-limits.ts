import { ConfigError } from "@sluice/core";
import { requireKnownKeys } from "@sluice/core/internal";
import { LimitGroups } from "./limit-groups.ts";
import { LimitLevel } from "./limit-level.ts";
import type { MakeTokens } from "./level-tokens.ts";
import type {
  LevelState,
  LimitGroup,
  PublishLimitSettings,
  SetLimit,
  SharedTarget,
} from "./limit-settings.ts";
import { configuredTopic, limitedTopic } from "./limited-topic.ts";
import { requireRateLimit } from "./rate-limit.ts";
import type { LimitTarget, RateLimit } from "./rate-limit.ts";
import { NO_LEVELS, TopicLimits } from "./topic-limits.ts";
import type { LevelSource, LimitedTopic } from "./topic-limits.ts";

/** The bucket of one topic. */
interface TopicLevel {
  readonly level: LimitLevel;
  readonly topic: LimitedTopic;
}

const GROUP_KEYS: ReadonlySet<string> = new Set(["topics", "messages", "bytes", "shared"]);
const NAMESPACE = /^[^/]+\/[^/]+$/;

/** Limits that were set for single topics and namespaces. One takes some hundred bytes. */
export const SET_LIMITS_MAX = 100_000;

/** Buckets are looked through for full ones when their number has doubled, and not below this. */
const SWEEP_MIN = 1_024;

/**
 * All limits of publishing: of topics, groups and the broker. What is published is charged at each
 * level that its topic has.
 *
 * The rate of a topic is the one that was set for it, else its namespace's, else the default; each
 * topic has its own bucket, which its partitions share. The bucket of a topic that is full is
 * forgotten, because a new one would be full as well.
 */
export class PublishLimits implements LevelSource {
  readonly #broker = new LimitLevel("broker", "broker-rate");
  readonly #groups = new LimitGroups();
  readonly #namespaces = new Map<string, RateLimit>();
  readonly #topics = new Map<string, RateLimit>();
  #default: RateLimit | undefined;
  readonly #topicLevels = new Map<string, TopicLevel>();
  #sweepAt: number = SWEEP_MIN;
  #version = 0;
  readonly #listeners = new Set<(nowMs: number) => void>();

  constructor(settings: PublishLimitSettings = {}, nowMs: number = 0) {
    const { broker, groups = {}, namespaces = {}, topics = {}, topicDefault } = settings;
    if (broker !== undefined) {
      const { shared: _, ...limit } = broker;
      this.set({ level: "broker" }, limit, nowMs);
    }
    if (topicDefault !== undefined) this.set({ level: "default" }, topicDefault, nowMs);
    for (const [name, { topics: patterns, shared: _, ...limit }] of Object.entries(groups)) {
      requireKnownKeys(`limits.groups.${name}`, groups[name] ?? {}, GROUP_KEYS);
      this.setGroup(name, patterns, nowMs);
      this.set({ level: "group", name }, limit, nowMs);
    }
    for (const [name, limit] of Object.entries(namespaces))
      this.set({ level: "namespace", name }, limit, nowMs);
    for (const [name, limit] of Object.entries(topics))
      this.set({ level: "topic", name }, limit, nowMs);
  }

  get version(): number {
    return this.#version;
  }

  /** Topics that a limit was set for. */
  get setTopics(): number {
    return this.#topics.size;
  }

  /** Topics that have a bucket now. */
  get topicBuckets(): number {
    return this.#topicLevels.size;
  }

  /** `topic` is any form of a name; all partitions of a topic have the same limits. */
  limitsOf(topic: string): TopicLimits {
    return new TopicLimits(limitedTopic(topic), this);
  }

  /** From now on. Balances stay, debts included, and what waits is looked at again at once. */
  set(target: LimitTarget, given: RateLimit, nowMs: number): void {
    const limit = requireRateLimit(`the limit of ${describeTarget(target)}`, given);
    if (target.level === "topic") configuredTopic(target.name);
    const isNew = this.get(target) === undefined;
    switch (target.level) {
      case "broker":
        this.#broker.setLimit(limit, nowMs);
        break;
      case "group":
        this.#groups.level(target.name).setLimit(limit, nowMs);
        break;
      case "namespace":
        if (!NAMESPACE.test(target.name))
          throw new ConfigError(
            `namespace is "${target.name}"; write "tenant/namespace", such as "public/default"`,
          );
        setBounded(this.#namespaces, target.name, limit);
        break;
      case "topic":
        setBounded(this.#topics, configuredTopic(target.name), limit);
        break;
      case "default":
        this.#default = limit;
    }
    this.#changed(isNew, nowMs);
  }

  /** Removes a limit; a group stays, without one. */
  unset(target: LimitTarget, nowMs: number): void {
    if (this.get(target) === undefined) return;
    switch (target.level) {
      case "broker":
        this.#broker.setLimit({}, nowMs);
        break;
      case "group":
        this.#groups.level(target.name).setLimit({}, nowMs);
        break;
      case "namespace":
        this.#namespaces.delete(target.name);
        break;
      case "topic":
        this.#topics.delete(limitedTopic(target.name).key);
        break;
      case "default":
        this.#default = undefined;
    }
    this.#changed(true, nowMs);
  }

  /** The limit that was set for exactly this; undefined if none was. */
  get(target: LimitTarget): RateLimit | undefined {
    switch (target.level) {
      case "broker":
        return limitOf(this.#broker);
      case "group": {
        const level = this.#groups.find(target.name);
        return level && limitOf(level);
      }
      case "namespace":
        return this.#namespaces.get(target.name);
      case "topic":
        return this.#topics.get(limitedTopic(target.name).key);
      case "default":
        return this.#default;
    }
  }

  /** All limits that are set. */
  list(): readonly SetLimit[] {
    const found: SetLimit[] = [];
    const add = (target: LimitTarget, limit: RateLimit | undefined): void => {
      if (limit !== undefined) found.push({ target, limit });
    };
    add({ level: "broker" }, limitOf(this.#broker));
    for (const { name, limit } of this.#groups.list()) add({ level: "group", name }, limit);
    add({ level: "default" }, this.#default);
    for (const [name, limit] of this.#namespaces) add({ level: "namespace", name }, limit);
    for (const [name, limit] of this.#topics) add({ level: "topic", name }, limit);
    return found;
  }

  groups(): readonly LimitGroup[] {
    return this.#groups.list();
  }

  /** Makes a group, or gives it other topics. Its limit, if it has one, stays. */
  setGroup(name: string, topics: readonly string[], nowMs: number): void {
    this.#groups.set(name, topics);
    this.#changed(true, nowMs);
  }

  removeGroup(name: string, nowMs: number): void {
    if (this.#groups.remove(name, nowMs)) this.#changed(true, nowMs);
  }

  /** The tokens of a group, or of the broker, come from these sources from now on. */
  setTokens(target: SharedTarget, makeTokens: MakeTokens, nowMs: number): void {
    const level = target.level === "broker" ? this.#broker : this.#groups.level(target.name);
    level.setTokens(makeTokens, nowMs);
    this.wake(nowMs);
  }

  /** Whether something waits for a group's limit, or for the broker's. */
  isWaiting(target: SharedTarget): boolean {
    const level = target.level === "broker" ? this.#broker : this.#groups.find(target.name);
    return level !== undefined && level.waiting > 0;
  }

  /** More tokens may be there than was known: what waits is looked at again at once. */
  wake(nowMs: number): void {
    for (const listener of this.#listeners) listener(nowMs);
  }

  /** Calls the listener after every change; answers how to stop that. */
  onChange(listener: (nowMs: number) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** The limiters that have a bucket now: broker, groups, topics. */
  *levelStates(nowMs: number): Generator<LevelState> {
    for (const level of [this.#broker, ...this.#groups.levels()])
      if (level.isLimited) yield stateOf(level, undefined, nowMs);
    for (const [topic, { level }] of this.#topicLevels) yield stateOf(level, topic, nowMs);
  }

  /** For `TopicLimits` only. */
  levelsOf(topic: LimitedTopic, nowMs: number): readonly LimitLevel[] {
    const levels: LimitLevel[] = [];
    const rate = this.#rateOf(topic);
    if (rate !== undefined) levels.push(this.#topicLevel(topic, rate, nowMs));
    if (!topic.isSystem) {
      levels.push(...this.#groups.levelsOf(topic.key));
      if (this.#broker.isLimited) levels.push(this.#broker);
    }
    return levels.length === 0 ? NO_LEVELS : levels;
  }

  #rateOf({ key, namespace, isSystem }: LimitedTopic): RateLimit | undefined {
    const own = this.#topics.get(key);
    if (own !== undefined || isSystem) return own;
    return this.#namespaces.get(namespace) ?? this.#default;
  }

  #topicLevel(topic: LimitedTopic, rate: RateLimit, nowMs: number): LimitLevel {
    const existing = this.#topicLevels.get(topic.key);
    if (existing !== undefined) return existing.level;
    if (this.#topicLevels.size >= this.#sweepAt) this.#sweep(nowMs);
    const level = new LimitLevel("topic", "topic-rate");
    level.setLimit(rate, nowMs);
    this.#topicLevels.set(topic.key, { level, topic });
    return level;
  }

  /** A `TopicLimits` that still refers to a forgotten bucket takes the new one when `version` changes. */
  #sweep(nowMs: number): void {
    for (const [key, { level }] of this.#topicLevels)
      if (level.isFresh(nowMs)) this.#topicLevels.delete(key);
    this.#sweepAt = Math.max(SWEEP_MIN, 2 * this.#topicLevels.size);
    this.#version++;
  }

  /** `isOther`: topics may have other levels now; else only rates have changed. */
  #changed(isOther: boolean, nowMs: number): void {
    for (const [key, { level, topic }] of this.#topicLevels) {
      const rate = this.#rateOf(topic);
      if (rate !== level.limit) level.setLimit(rate ?? {}, nowMs);
      if (rate === undefined) this.#topicLevels.delete(key);
    }
    if (isOther) this.#version++;
    for (const listener of this.#listeners) listener(nowMs);
  }
}

function stateOf(level: LimitLevel, topic: string | undefined, nowMs: number): LevelState {
  return { limiter: level.name, topic, limit: level.limit, balance: level.balance(nowMs) };
}

function limitOf(level: LimitLevel): RateLimit | undefined {
  return level.isLimited ? level.limit : undefined;
}

function setBounded(limits: Map<string, RateLimit>, name: string, limit: RateLimit): void {
  if (!limits.has(name) && limits.size >= SET_LIMITS_MAX)
    throw new ConfigError(
      `${SET_LIMITS_MAX} limits are set, the maximum; remove one, or set one for a namespace`,
    );
  limits.set(name, limit);
}

/** Such as "topic public/default/orders". */
export function describeTarget(target: LimitTarget): string {
  return "name" in target ? `${target.level} ${target.name}` : `the ${target.level}`;
}
