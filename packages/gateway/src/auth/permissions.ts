import { ConfigError } from "@sluice/core";
import { requireKnownKeys } from "@sluice/core/internal";
import { parseTopicName } from "../name/topic-name.ts";
import type { TopicName } from "../name/topic-name.ts";
import { RefusalError } from "../refusal/refusal-error.ts";
import { parseTopicPattern } from "../name/topic-pattern.ts";
import type { TopicPattern } from "../name/topic-pattern.ts";

/** What a client does to a topic. Both producers and consumers may look a topic up. */
export type Action = "produce" | "consume" | "lookup";

/** What one role may do. */
export interface RoleOptions {
  /**
   * Patterns of topics to publish to, such as "public/default/*" or "persistent://shop/orders/eu-*".
   * "*" stands for any characters but "/". Partitions of a topic belong to it. Default: none.
   */
  readonly produce?: readonly string[];
  /** Patterns of topics to subscribe to. Default: none. */
  readonly consume?: readonly string[];
  /** May do everything, administration included. Default: false. */
  readonly admin?: boolean;
}

const ROLE_KEYS: ReadonlySet<string> = new Set(["produce", "consume", "admin"]);

/** Patterns of one role and action. Each costs one match per PRODUCER, SUBSCRIBE or request. */
const PATTERNS_MAX = 1_000;

/**
 * Answers to `visible` that are kept per list, the oldest dropped first. A list of 10,000 names takes
 * 80 KB for each.
 */
const KEPT_ANSWERS_MAX = 64;

interface Role {
  readonly isAdmin: boolean;
  readonly patterns: Readonly<Record<Action, readonly TopicPattern[]>>;
}

/** The rights that were granted through the administration while the broker runs. */
export interface Grants {
  /** Changes with every grant and revocation, because answers are kept. */
  readonly grantsVersion: number;
  isGranted(role: string, action: Action, topic: TopicName): boolean;
}

const NO_GRANTS: Grants = { grantsVersion: 0, isGranted: () => false };

interface KeptAnswer {
  readonly version: number;
  readonly topics: readonly string[];
}

/**
 * Which roles may publish to, subscribe to and administer which topics: the union of the configured
 * roles and of what was granted. A role with neither, and a client without a role, may do nothing.
 */
export class Permissions {
  readonly #options: Readonly<Record<string, RoleOptions>>;
  readonly #roles = new Map<string, Role>();
  readonly #grants: Grants;
  /** By the list, then by action and role, as long as the list lives. */
  readonly #kept = new WeakMap<readonly string[], Map<string, KeptAnswer>>();

  constructor(roles: Readonly<Record<string, RoleOptions>>, grants: Grants = NO_GRANTS) {
    this.#options = roles;
    this.#grants = grants;
    for (const [name, options] of Object.entries(roles)) {
      requireKnownKeys(`roles.${name}`, options, ROLE_KEYS);
      const produce = compile(`roles.${name}.produce`, options.produce ?? []);
      const consume = compile(`roles.${name}.consume`, options.consume ?? []);
      const patterns = { produce, consume, lookup: [...produce, ...consume] };
      this.#roles.set(name, { isAdmin: options.admin ?? false, patterns });
    }
  }

  /** The same roles with grants: wrong roles are refused before the data, which has the grants, is opened. */
  with(grants: Grants): Permissions {
    return new Permissions(this.#options, grants);
  }

  isAdmin(role: string | undefined): boolean {
    return this.#find(role)?.isAdmin ?? false;
  }

  /** `topic` is any form of a name; of what is no name, nothing is allowed. */
  allows(role: string | undefined, action: Action, topic: string): boolean {
    const name = nameOf(topic);
    return name !== undefined && role !== undefined && this.#allows(role, action, name.full);
  }

  /**
   * Those of these full names on which the role may act. For a frozen list the answer is kept until a
   * right is granted or revoked: 10,000 names with some patterns take milliseconds.
   */
  visible(role: string | undefined, action: Action, topics: readonly string[]): readonly string[] {
    if (role === undefined) return [];
    if (this.isAdmin(role)) return topics;
    const key = `${action} ${role}`;
    const { grantsVersion: version } = this.#grants;
    const known = this.#kept.get(topics)?.get(key);
    if (known?.version === version) return known.topics;
    const visible = Object.freeze(topics.filter((topic) => this.#allows(role, action, topic)));
    if (Object.isFrozen(topics)) this.#keep(topics, key, { version, topics: visible });
    return visible;
  }

  #allows(role: string, action: Action, full: string): boolean {
    const found = this.#find(role);
    if (found?.isAdmin === true) return true;
    if (found?.patterns[action].some((pattern) => pattern.matches(full)) === true) return true;
    const name = nameOf(full);
    return name !== undefined && this.#grants.isGranted(role, action, name);
  }

  #keep(topics: readonly string[], key: string, answer: KeptAnswer): void {
    const answers = this.#kept.get(topics) ?? new Map<string, KeptAnswer>();
    this.#kept.set(topics, answers);
    answers.delete(key);
    answers.set(key, answer);
    if (answers.size <= KEPT_ANSWERS_MAX) return;
    for (const oldest of answers.keys()) {
      answers.delete(oldest);
      return;
    }
  }

  #find(role: string | undefined): Role | undefined {
    return role === undefined ? undefined : this.#roles.get(role);
  }
}

function nameOf(topic: string): TopicName | undefined {
  try {
    return parseTopicName(topic);
  } catch (error) {
    if (error instanceof RefusalError) return undefined;
    throw error;
  }
}

function compile(key: string, patterns: readonly string[]): readonly TopicPattern[] {
  const isList: boolean = Array.isArray(patterns);
  if (!isList || patterns.length > PATTERNS_MAX)
    throw new ConfigError(`${key} must be a list of at most ${PATTERNS_MAX} patterns`);
  return patterns.map((pattern) => parseTopicPattern(key, pattern));
}
