import { ConfigError } from "@sluice/core";
import type { Clock } from "@sluice/core";
import { describeTarget, PublishLimits, SET_LIMITS_MAX } from "../ingress/limits/publish-limits.ts";
import type { PublishLimitSettings, SetLimit } from "../ingress/limits/limit-settings.ts";
import { requireRateLimit, UNLIMITED } from "../ingress/limits/rate-limit.ts";
import type { LimitTarget, RateLimit } from "../ingress/limits/rate-limit.ts";
import { parseTopicName } from "../name/topic-name.ts";
import type { BrokerObserver } from "../observe/broker-event.ts";
import { withSetAt } from "../policy/limits-record.ts";
import type { PolicyBook } from "../policy/policy-book.ts";
import { GroupBook } from "./group-book.ts";
import type { LimitSource } from "./limit-source.ts";
import {
  groupOf,
  isSameLimit,
  limitOfGroup,
  limitOfStored,
  PUBLISH_RATE,
  publishRateOf,
} from "./publish-rate.ts";
import { requireRoomForGroups, requireRoomIn } from "./room.ts";
import { keyOf, placeOf, policiesOf, requireNamespace } from "./stored-limits.ts";
import type { StoredLimit } from "./stored-limits.ts";

export interface ListedLimit {
  readonly target: LimitTarget;
  /** Without messages and bytes: none, where another level would give one. */
  readonly limit: RateLimit;
  readonly source: LimitSource;
  /** Wall time; undefined if it came with the start, or from a version that did not keep it. */
  readonly setAtMs?: number;
  /** Of a group: patterns of its topics. */
  readonly topics?: readonly string[];
}

export interface LimitBookDependencies {
  readonly limits: PublishLimits;
  /** The limits that the process was started with. */
  readonly given: PublishLimitSettings;
  readonly policies: PolicyBook;
  readonly clock: Clock;
  readonly observe: BrokerObserver;
}

/** What changes limits while the process runs. */
const BY_ADMIN = "the admin API";
const BY_FILE = "the flow file";

/**
 * The limits of publishing that hold, and from where. A limit that was set while the process ran is kept
 * in the policy book, and holds before the one that the process was started with, also after a restart;
 * when it is removed, the one of the start holds again.
 *
 * `PublishLimits` follows the policy book: whatever changes a policy, also the deletion of a topic or a
 * namespace, changes the limit at once.
 */
export class LimitBook {
  readonly groups: GroupBook;
  readonly #limits: PublishLimits;
  readonly #policies: PolicyBook;
  readonly #clock: Clock;
  readonly #observe: BrokerObserver;
  /** The limits of the start, or of the flow file since it was read again, by `keyOf`. */
  #atStart: ReadonlyMap<string, SetLimit>;
  #given: PublishLimitSettings;
  /** The policies that hold, by namespace and `keyOf`. */
  readonly #stored = new Map<string, ReadonlyMap<string, StoredLimit>>();
  /** Stored limits that cannot be applied, by `keyOf`; each is told once. */
  readonly #unapplied = new Set<string>();
  #isStarted = false;
  #by = BY_ADMIN;

  constructor({ limits, given, policies, clock, observe }: LimitBookDependencies) {
    this.#limits = limits;
    this.#policies = policies;
    this.#clock = clock;
    this.#observe = observe;
    this.#given = given;
    this.groups = new GroupBook(given, policies);
    this.#atStart = byKey(limits.list());
    this.#syncLimits();
    for (const namespace of policies.namespaces()) this.#syncNamespace(namespace);
    this.#syncGroups();
    this.#isStarted = true;
    policies.addCheck((next) => {
      if ("limits" in next) requireRoomForGroups(this.groups, this.#given, next.limits);
      else requireRoomIn(this.groups, { limits, given: this.#given, policies }, next);
    });
    policies.onChange((what) => {
      if (what === "limits") this.#syncLimits();
      else this.#syncNamespace(what.namespace);
      this.#syncGroups();
    });
  }

  list(): readonly ListedLimit[] {
    const topics = new Map(this.#limits.groups().map((group) => [group.name, group.topics]));
    return [...this.#limits.list(), ...this.#liftedLimits()].map(({ target, limit }) => ({
      target,
      limit,
      ...this.#originOf(target),
      ...(target.level === "group" && { topics: topics.get(target.name) ?? [] }),
    }));
  }

  get(target: LimitTarget): ListedLimit | undefined {
    const limit = this.#limits.get(target) ?? this.#liftedLimit(target);
    return limit && { target, limit, ...this.#originOf(target) };
  }

  /** The limit that gives a topic its own rate: the topic's, its namespace's, or the default. */
  ofTopic(topic: string): ListedLimit | undefined {
    const { namespace } = parseTopicName(topic);
    return (
      this.get({ level: "topic", name: topic }) ??
      this.get({ level: "namespace", name: namespace }) ??
      this.get({ level: "default" })
    );
  }

  /** Durable before it holds. @throws ConfigError if the target or the limit is wrong. */
  async set(target: LimitTarget, given: RateLimit): Promise<void> {
    const limit = requireRateLimit(`the limit of ${describeTarget(target)}`, given);
    await this.#store(target, limit);
  }

  /**
   * Other limits of the flow file hold from now on, where none was set while the process ran. All of them, or none:
   * `shared` cannot change.
   *
   * @throws ConfigError if one of them is wrong, or there are too many; then nothing has changed.
   */
  reload(given: PublishLimitSettings): void {
    const next = byKey(new PublishLimits(given).list());
    requireRoomForGroups(this.groups, given, this.#policies.limits);
    const stored = [...this.#stored.values()].flatMap((limits) => [...limits]);
    const ofTopics = [...next, ...stored].filter(([, { target }]) => target.level === "topic");
    const topics = new Set(ofTopics.map(([key]) => key));
    if (topics.size > SET_LIMITS_MAX)
      throw new ConfigError(
        `${topics.size} topics of the file and of policies have a limit of their own, more than ${SET_LIMITS_MAX}, the maximum; set one for a namespace`,
      );
    const former = this.#atStart;
    this.#atStart = next;
    this.#given = given;
    this.groups.reload(given);
    this.#by = BY_FILE;
    this.#syncLimits();
    // What is gone first: the new ones may need its room.
    for (const [key, { target }] of [...former, ...next])
      if (target.level === "namespace" || target.level === "topic")
        this.#apply(target, this.#storedOf(target, key));
    this.#syncGroups();
    this.#by = BY_ADMIN;
  }

  /**
   * The limit that the process was started with holds again, or none. Answers which.
   *
   * @throws ConfigError if only the start has given it: then it can be replaced, but not removed.
   */
  async unset(target: LimitTarget): Promise<RateLimit | undefined> {
    const atStart = this.#atStart.get(keyOf(target))?.limit;
    if (this.get(target)?.source === "flow file")
      throw new ConfigError(
        `the limit of ${describeTarget(target)} is in the settings that the gateway was started with; set another one, or remove it there`,
      );
    await this.#store(target, undefined);
    return atStart;
  }

  /**
   * `UNLIMITED` if that was set for the broker, or for a group of the start. `PublishLimits` does not know it
   * there, because no other level gives the broker or a group a limit.
   */
  #liftedLimit(target: LimitTarget): RateLimit | undefined {
    const { broker } = this.#policies.limits;
    if (target.level === "broker") return broker && limitOfStored(broker);
    if (target.level !== "group" || !this.groups.isOfStart(target.name)) return undefined;
    const group = this.groups.stored(target.name);
    return group && limitOfGroup(group);
  }

  #liftedLimits(): readonly StoredLimit[] {
    const named = Object.keys(this.#policies.limits.groups);
    const targets: readonly LimitTarget[] = [
      { level: "broker" },
      ...named.map((name) => ({ level: "group", name }) as const),
    ];
    return targets.flatMap((target) => {
      const limit = this.#limits.get(target) === undefined ? this.#liftedLimit(target) : undefined;
      return limit === undefined ? [] : [{ target, limit }];
    });
  }

  #originOf(target: LimitTarget): Pick<ListedLimit, "source" | "setAtMs"> {
    const source = this.#sourceOf(target);
    const atMs = source === "flow file" ? undefined : this.#setAtMs(target);
    return { source, ...(atMs !== undefined && { setAtMs: atMs }) };
  }

  #setAtMs(target: LimitTarget): number | undefined {
    const { limits } = this.#policies;
    if (target.level === "namespace" || target.level === "topic")
      return this.#policies.policiesAt(placeOf(target)).setAt?.[PUBLISH_RATE];
    return limits.setAt?.["name" in target ? `group ${target.name}` : target.level];
  }

  #sourceOf(target: LimitTarget): LimitSource {
    const { broker, topicDefault } = this.#policies.limits;
    switch (target.level) {
      case "broker":
        return broker === undefined ? "flow file" : "live";
      case "default":
        return topicDefault === undefined ? "flow file" : "live";
      case "group":
        if (this.groups.stored(target.name) === undefined) return "flow file";
        return this.groups.isOfStart(target.name) ? "live" : "policy";
      case "namespace":
        return this.#stored.get(target.name)?.has(keyOf(target)) ? "policy" : "flow file";
      case "topic": {
        const { namespace } = parseTopicName(target.name);
        return this.#stored.get(namespace)?.has(keyOf(target)) ? "policy" : "flow file";
      }
    }
  }

  async #store(target: LimitTarget, limit: RateLimit | undefined): Promise<void> {
    const policies = this.#policies;
    const value = limit && publishRateOf(limit);
    switch (target.level) {
      case "broker":
        return policies.changeLimits((all, atMs) =>
          withSetAt({ ...all, broker: limit }, target.level, limit && atMs),
        );
      case "default":
        return policies.changeLimits((all, atMs) =>
          withSetAt({ ...all, topicDefault: limit }, target.level, limit && atMs),
        );
      case "group": {
        this.groups.require(target.name);
        const isKept = limit !== undefined || !this.groups.isOfStart(target.name);
        return this.groups.save(target.name, isKept ? groupOf(limit ?? {}) : undefined);
      }
      case "namespace":
        requireNamespace(target.name);
        return policies.setPolicy(placeOf(target), PUBLISH_RATE, value);
      case "topic":
        return policies.setPolicy(placeOf(target), PUBLISH_RATE, value);
    }
  }

  #storedOf(
    target: Extract<LimitTarget, { level: "namespace" | "topic" }>,
    key: string,
  ): RateLimit | undefined {
    const { name, level } = target;
    const namespace = level === "namespace" ? name : parseTopicName(name).namespace;
    return this.#stored.get(namespace)?.get(key)?.limit;
  }

  #syncLimits(): void {
    const { broker, topicDefault } = this.#policies.limits;
    this.#apply({ level: "broker" }, broker && limitOfStored(broker));
    this.#apply({ level: "default" }, topicDefault && limitOfStored(topicDefault));
  }

  #syncNamespace(namespace: string): void {
    const former = this.#stored.get(namespace) ?? new Map<string, StoredLimit>();
    const wanted = policiesOf(namespace, this.#policies.recordOf(namespace));
    if (wanted.size === 0) this.#stored.delete(namespace);
    else this.#stored.set(namespace, wanted);
    for (const [key, { target }] of former) if (!wanted.has(key)) this.#apply(target, undefined);
    for (const { target, limit } of wanted.values()) this.#apply(target, limit);
  }

  #syncGroups(): void {
    const wanted = this.groups.all();
    const nowMs = this.#clock.now();
    const former = new Map(this.#limits.groups().map((group) => [group.name, group]));
    for (const name of former.keys()) if (!wanted.has(name)) this.#limits.removeGroup(name, nowMs);
    const assigned = this.groups.assigned();
    for (const [name, group] of wanted) {
      const topics = [...this.groups.patternsOf(name), ...(assigned.get(name) ?? [])];
      const hasChanged = topics.join(" ") !== former.get(name)?.topics.join(" ");
      const set = (): void => this.#limits.setGroup(name, topics, nowMs);
      if (hasChanged && !this.#attempt({ level: "group", name }, set)) continue;
      const limit = limitOfGroup(group);
      this.#apply({ level: "group", name }, limit === UNLIMITED ? undefined : limit);
    }
  }

  /**
   * A stored limit that `PublishLimits` refuses is left out and told once: another flow file may have used
   * up the room, and a broker that did not start would help nobody.
   */
  #attempt(target: LimitTarget, change: () => void): boolean {
    const key = keyOf(target);
    try {
      change();
      this.#unapplied.delete(key);
      return true;
    } catch (cause) {
      if (!(cause instanceof ConfigError)) throw cause;
      if (this.#unapplied.has(key)) return false;
      this.#unapplied.add(key);
      const error = new ConfigError(`the stored limit of ${key} is left out: ${cause.message}`);
      this.#observe({ kind: "error", error });
      return false;
    }
  }

  /** The limit that is stored, else that of the start, holds from now on. */
  #apply(target: LimitTarget, stored: RateLimit | undefined): void {
    const limit =
      stored ?? (target.level === "group" ? undefined : this.#atStart.get(keyOf(target))?.limit);
    const former = this.#limits.get(target);
    if (isSameLimit(target, former, limit)) return;
    const nowMs = this.#clock.now();
    const change = (): void =>
      limit === undefined
        ? this.#limits.unset(target, nowMs)
        : this.#limits.set(target, limit, nowMs);
    if (this.#attempt(target, change) && this.#isStarted)
      this.#observe({
        kind: "limit-changed",
        target: describeTarget(target),
        from: former,
        to: limit,
        by: this.#by,
      });
  }
}

function byKey(limits: readonly SetLimit[]): ReadonlyMap<string, SetLimit> {
  return new Map(limits.map((one) => [keyOf(one.target), one]));
}
