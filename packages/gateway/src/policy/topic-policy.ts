import type { TopicName } from "../name/topic-name.ts";

/** What Pulsar does when a backlog is over its quota. */
export type BacklogQuotaAction =
  | "producer_request_hold"
  | "producer_exception"
  | "consumer_backlog_eviction";

export interface BacklogQuota {
  /** Bytes of the backlog; undefined is no limit. */
  readonly sizeMaxBytes: number | undefined;
  /** Age of the oldest message of the backlog; undefined is no limit. */
  readonly ageMaxMs: number | undefined;
  readonly action: BacklogQuotaAction;
}

/** The settings of one topic: its own, else its namespace's, else the broker's. */
export interface TopicPolicy {
  /** Messages older than this count as acknowledged; undefined keeps them. */
  readonly messageTtlMs: number | undefined;
  readonly backlogQuota: BacklogQuota | undefined;
  /** Whether entries that a producer sends again are left out; false unless given. */
  readonly deduplication?: boolean | undefined;
  /** Of what all subscriptions have consumed; undefined is the broker's setting. */
  readonly retention?: { readonly ageMaxMs: number; readonly sizeMaxBytes: number } | undefined;
}

/** Asked anew whenever a policy is applied, so that a change holds at once. */
export interface TopicPolicies {
  of(topic: TopicName): TopicPolicy;
}
