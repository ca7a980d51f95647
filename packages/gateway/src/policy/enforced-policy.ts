import type { BacklogQuota, BacklogQuotaAction, TopicPolicy } from "./topic-policy.ts";
import type { PolicyValues } from "./namespace-record.ts";

/** The policies that the broker acts on, by Pulsar's REST names. */
export const MESSAGE_TTL = "messageTTL";
export const BACKLOG_QUOTA = "backlogQuota";
export const RETENTION = "retention";
export const DEDUPLICATION = "deduplication";

/** Both of Pulsar's types of backlog quota. */
export const BACKLOG_QUOTA_TYPES = ["destination_storage", "message_age"] as const;
export type BacklogQuotaType = (typeof BACKLOG_QUOTA_TYPES)[number];

export const BACKLOG_QUOTA_ACTIONS: readonly BacklogQuotaAction[] = [
  "producer_request_hold",
  "producer_exception",
  "consumer_backlog_eviction",
];

/** One backlog quota as Pulsar writes it: bytes, seconds, -1 for no limit. */
export interface BacklogQuotaValue {
  readonly limit: number;
  readonly limitSize: number;
  readonly limitTime: number;
  readonly policy: BacklogQuotaAction;
}

export type BacklogQuotaMap = Readonly<Partial<Record<BacklogQuotaType, BacklogQuotaValue>>>;

export interface RetentionValue {
  /** Minutes; -1 keeps for ever. */
  readonly retentionTimeInMinutes: number;
  /** MiB; -1 is without limit. */
  readonly retentionSizeInMB: number;
}

const MINUTE_MS = 60_000;
const MEBIBYTE = 1024 * 1024;

/**
 * What the broker does for a topic: its own value of each policy, else its namespace's. The two types
 * of backlog quota are policies of their own, as in Pulsar.
 */
export function enforcedPolicy(topic: PolicyValues, namespace: PolicyValues): TopicPolicy {
  const effective = { ...namespace, ...topic };
  return {
    messageTtlMs: messageTtlMs(effective[MESSAGE_TTL] as number | undefined),
    backlogQuota: backlogQuota({ ...quotasOf(namespace), ...quotasOf(topic) }),
    deduplication: effective[DEDUPLICATION] as boolean | undefined,
    retention: retention(effective[RETENTION] as RetentionValue | undefined),
  };
}

/** 0 seconds are no TTL, also where the broker has one. */
function messageTtlMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

function quotasOf(policies: PolicyValues): BacklogQuotaMap | undefined {
  return policies[BACKLOG_QUOTA] as BacklogQuotaMap | undefined;
}

function backlogQuota({
  destination_storage: size,
  message_age: age,
}: BacklogQuotaMap): BacklogQuota | undefined {
  const action = size?.policy ?? age?.policy;
  if (action === undefined) return undefined;
  return {
    sizeMaxBytes: limited(size?.limitSize, 1),
    ageMaxMs: limited(age?.limitTime, 1000),
    action,
  };
}

function limited(value = -1, unit: number): number | undefined {
  return value >= 0 ? value * unit : undefined;
}

/** The broker's own retention as Pulsar writes it, rounded up to whole units. */
export function retentionValueOf({
  ageMaxMs,
  sizeMaxBytes,
}: NonNullable<TopicPolicy["retention"]>): RetentionValue {
  return {
    retentionTimeInMinutes: inUnits(ageMaxMs, MINUTE_MS),
    retentionSizeInMB: inUnits(sizeMaxBytes, MEBIBYTE),
  };
}

function inUnits(value: number, unit: number): number {
  return value === Infinity ? -1 : Math.ceil(value / unit);
}

function retention(value: RetentionValue | undefined): TopicPolicy["retention"] {
  if (value === undefined) return undefined;
  return {
    ageMaxMs: limited(value.retentionTimeInMinutes, MINUTE_MS) ?? Infinity,
    sizeMaxBytes: limited(value.retentionSizeInMB, MEBIBYTE) ?? Infinity,
  };
}
