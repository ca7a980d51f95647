import { ConfigError } from "@sluice/core";
import { requireKnownKeys } from "@sluice/core/internal";
import { parseTopicName } from "../name/topic-name.ts";
import { RefusalError } from "../refusal/refusal-error.ts";
import { TopicPattern } from "./topic-pattern.ts";

/** What a client does to a topic. Both producers and consumers may look a topic up. */
export type Action = "produce" | "consume" | "lookup";

/** What one role may do. */
export interface RoleOptions {
  /**
   * Patterns of topics to publish to, such as "public/default/*" or "persistent://shop/orders/eu-*".
   * "*" stands for any characters but "/". Partitions of a topic belong to it.
   */
  readonly produce?: readonly string[];
  /** Patterns of topics to subscribe to. */
  readonly consume?: readonly string[];
  /** May do everything, administration included. */
  readonly admin?: boolean;
}

const ROLE_KEYS: ReadonlySet<string> = new Set(["produce", "consume", "admin"]);

/** Patterns of one role and action. Each costs one match per PRODUCER, SUBSCRIBE or request. */
const PATTERNS_MAX = 1_000;

const PATTERN = /^(?:(persistent|non-persistent):\/\/)?([^/]+)\/([^/]+)\/([^/]+)$/;

interface Role {
  readonly isAdmin: boolean;
  readonly patterns: Readonly<Record<Action, readonly TopicPattern[]>>;
}

/**
 * Which roles may publish to, subscribe to and administer which topics. A role that is not named,
 * and a client without a role, may do nothing.
 */
export class Permissions {
  readonly #roles = new Map<string, Role>();
  /** By the list and the patterns, as long as the list is kept. */
  readonly #visible = new WeakMap<readonly string[], Map<object, readonly string[]>>();

  constructor(roles: Readonly<Record<string, RoleOptions>>) {
    for (const [name, options] of Object.entries(roles)) {
      requireKnownKeys(`roles.${name}`, options, ROLE_KEYS);
      const produce = compile(`roles.${name}.produce`, options.produce ?? []);
      const consume = compile(`roles.${name}.consume`, options.consume ?? []);
      const patterns = { produce, consume, lookup: [...produce, ...consume] };
      this.#roles.set(name, { isAdmin: options.admin ?? false, patterns });
    }
  }

  isAdmin(role: string | undefined): boolean {
    return this.#find(role)?.isAdmin ?? false;
  }

  /** `topic` is any form of a name; of what is no name, nothing is allowed. */
  allows(role: string | undefined, action: Action, topic: string): boolean {
    const full = fullName(topic);
    return full !== undefined && this.visible(role, action, [full]).length > 0;
  }

  /**
   * Those of these full names on which the role may act. For one list that does not change the answer
   * is found once: 10,000 names with some patterns take milliseconds.
   */
  visible(role: string | undefined, action: Action, topics: readonly string[]): readonly string[] {
    const found = this.#find(role);
    if (found === undefined) return [];
    if (found.isAdmin) return topics;
    const patterns = found.patterns[action];
    const known = this.#visible.get(topics)?.get(patterns);
    if (known !== undefined) return known;
    const visible = Object.freeze(
      topics.filter((topic) => patterns.some((pattern) => pattern.matches(topic))),
    );
    if (!Object.isFrozen(topics)) return visible;
    const lists = this.#visible.get(topics) ?? new Map<object, readonly string[]>();
    this.#visible.set(topics, lists.set(patterns, visible));
    return visible;
  }

  #find(role: string | undefined): Role | undefined {
    return role === undefined ? undefined : this.#roles.get(role);
  }
}

function fullName(topic: string): string | undefined {
  try {
    return parseTopicName(topic).full;
  } catch (error) {
    if (error instanceof RefusalError) return undefined;
    throw error;
  }
}

function compile(key: string, patterns: readonly string[]): readonly TopicPattern[] {
  const isList: boolean = Array.isArray(patterns);
  if (!isList || patterns.length > PATTERNS_MAX)
    throw new ConfigError(`${key} must be a list of at most ${PATTERNS_MAX} patterns`);
  return patterns.map((pattern) => {
    const [, domain, ...parts] = PATTERN.exec(pattern) ?? [];
    if (parts.length === 0)
      throw new ConfigError(
        `${key} has "${pattern}"; a pattern is "tenant/namespace/topic", such as "public/default/*"`,
      );
    return new TopicPattern(domain, parts);
  });
}
