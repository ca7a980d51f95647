import { ConfigError } from "@sluice/core";
import { requireDuration, requireKnownKeys, requireWhole } from "@sluice/core/internal";

/** How long entries are kept after all subscriptions have consumed them. */
interface RetentionSettings {
  /** `Infinity` is for ever; 0, the default, not at all. */
  readonly ageMaxMs?: number;
  /** `Infinity` is without limit; 0, the default, nothing. */
  readonly sizeMaxBytes?: number;
}

/** Bounds. What is beyond them is refused, or waits. */
interface BrokerLimits {
  /** Topics, each partition counted. */
  readonly topicsMax?: number;
  /** Topics whose files are open; the idlest are unloaded first. Topics in use are not counted out. */
  readonly openTopicsMax?: number;
  readonly partitionsMax?: number;
  readonly producersPerTopicMax?: number;
  readonly subscriptionsPerTopicMax?: number;
  /** Subscriptions of all topics that are open; each takes 2 KiB. */
  readonly subscriptionsMax?: number;
  readonly consumersPerSubscriptionMax?: number;
  /** Messages that a consumer of a shared subscription may have without acknowledging them. */
  readonly unackedPerConsumerMax?: number;
  /** The same for all consumers of a subscription together. */
  readonly unackedPerSubscriptionMax?: number;
  /** Delayed entries that a shared subscription keeps track of; at the bound it reads no further. */
  readonly delayedPerSubscriptionMax?: number;
  /** Entries that a subscription reads at once, and may hold before they are delivered. */
  readonly readEntriesMax?: number;
  /** Their bytes; one entry may be larger. */
  readonly readBytesMax?: number;
}

export interface BrokerSettings {
  /** Whether a topic is made when it is first used; true if absent. */
  readonly autoCreateTopics?: boolean;
  /** How long messages are kept that all subscriptions have consumed. Default: not at all. */
  readonly retention?: RetentionSettings;
  /**
   * After this time a message counts as acknowledged by every subscription; 0, the default, is never. Namespaces and
   * topics may have their own, as Pulsar's policy `messageTTL`.
   */
  readonly messageTtlMs?: number;
  /** Default: those of `docs/reference/broker.md`, under Bounds. */
  readonly limits?: BrokerLimits;
  /** A crash forgets the acknowledgements of this time. Default: 1000. */
  readonly cursorSaveMs?: number;
  /** How often retention and message TTL are applied. Default: 60 000. */
  readonly tidyMs?: number;
  /** How often backlog quotas are checked; a size also when so much was published. Default: 5000. */
  readonly quotaCheckMs?: number;
  /** A topic without producers and consumers for this time is unloaded and its files are closed. Default: 300 000. */
  readonly idleUnloadMs?: number;
  /** A topic whose storage failed is refused for this time; then the next client opens it again. Default: 30 000. */
  readonly stoppedRetryMs?: number;
}

export interface ResolvedSettings extends Required<BrokerSettings> {
  readonly retention: Required<RetentionSettings>;
  readonly limits: Required<BrokerLimits>;
}

/** Unacknowledged messages and retention are Pulsar's. */
const DEFAULTS: ResolvedSettings = {
  autoCreateTopics: true,
  retention: { ageMaxMs: 0, sizeMaxBytes: 0 },
  messageTtlMs: 0,
  limits: {
    topicsMax: 10_000,
    openTopicsMax: 1_000,
    partitionsMax: 1_000,
    producersPerTopicMax: 10_000,
    subscriptionsPerTopicMax: 1_000,
    subscriptionsMax: 50_000,
    consumersPerSubscriptionMax: 1_000,
    unackedPerConsumerMax: 50_000,
    unackedPerSubscriptionMax: 200_000,
    delayedPerSubscriptionMax: 50_000,
    readEntriesMax: 1_000,
    readBytesMax: 1024 * 1024,
  },
  cursorSaveMs: 1_000,
  tidyMs: 60_000,
  quotaCheckMs: 5_000,
  idleUnloadMs: 300_000,
  stoppedRetryMs: 30_000,
};

export function resolveSettings(settings: BrokerSettings): ResolvedSettings {
  requireKnownKeys("broker", settings, new Set(Object.keys(DEFAULTS)));
  const { retention = {}, limits = {} } = settings;
  requireKnownKeys("broker.retention", retention, new Set(Object.keys(DEFAULTS.retention)));
  requireKnownKeys("broker.limits", limits, new Set(Object.keys(DEFAULTS.limits)));
  const resolved: ResolvedSettings = {
    ...DEFAULTS,
    ...settings,
    retention: { ...DEFAULTS.retention, ...retention },
    limits: { ...DEFAULTS.limits, ...limits },
  };
  for (const [name, value] of Object.entries(resolved.limits)) requireWhole(name, value, 1);
  for (const [name, value] of Object.entries(resolved.retention))
    if (!(value >= 0)) throw new ConfigError(`${name} is ${value}; it must not be negative`);
  requireDuration("messageTtlMs", resolved.messageTtlMs, 0);
  requireDuration("cursorSaveMs", resolved.cursorSaveMs, 1);
  requireDuration("tidyMs", resolved.tidyMs, 1);
  requireDuration("quotaCheckMs", resolved.quotaCheckMs, 1);
  requireDuration("idleUnloadMs", resolved.idleUnloadMs, 1);
  requireDuration("stoppedRetryMs", resolved.stoppedRetryMs, 1);
  return resolved;
}
