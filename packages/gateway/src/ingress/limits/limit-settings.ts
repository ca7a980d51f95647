import type { LimitTarget, RateLimit } from "./rate-limit.ts";

/** A group of topics that share one limit. */
export interface GroupLimit extends RateLimit {
  /** Patterns such as "public/analytics/*"; "public/analytics" and "public" stand for all their topics. */
  readonly topics: readonly string[];
  /** All gateways of one store share the rate; needs `store`. */
  readonly shared?: boolean | undefined;
}

/** The limit of the whole gateway. */
interface BrokerLimit extends RateLimit {
  /** All gateways of one store share the rate; needs `store`. */
  readonly shared?: boolean | undefined;
}

/** The limits to start with. */
export interface PublishLimitSettings {
  /** Of all topics together. */
  readonly broker?: BrokerLimit | undefined;
  /** Of the topics of each group together; a topic may be in several. */
  readonly groups?: Readonly<Record<string, GroupLimit>> | undefined;
  /** Of each topic of a namespace, by "tenant/namespace". */
  readonly namespaces?: Readonly<Record<string, RateLimit>> | undefined;
  /** Of single topics. */
  readonly topics?: Readonly<Record<string, RateLimit>> | undefined;
  /** Of each topic that has no other. */
  readonly topicDefault?: RateLimit | undefined;
}

/** A limit that several gateways can share. */
export type SharedTarget = Extract<LimitTarget, { readonly level: "broker" | "group" }>;

/** A limit, and what it was set for. */
export interface SetLimit {
  readonly target: LimitTarget;
  readonly limit: RateLimit;
}

/** What a limiter has left. */
export interface LevelState {
  /** "topic", "group analytics" or "broker". */
  readonly limiter: string;
  /** Of a topic's own limiter: the full name. */
  readonly topic: string | undefined;
  readonly limit: RateLimit;
  /** Tokens; negative in debt. */
  readonly balance: RateLimit;
}

export interface LimitGroup {
  readonly name: string;
  readonly topics: readonly string[];
  /** Undefined while the group has no limit. */
  readonly limit: RateLimit | undefined;
}
