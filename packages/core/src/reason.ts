/**
 * Why something waits or was refused: one closed list for the wire, errors, metrics and dashboards.
 * A call that carries none of these was not limited.
 */
export const REASONS = [
  /** A rate limit of this process alone. */
  "rate",
  "topic-rate",
  "group-rate",
  "broker-rate",
  "connection-pending",
  "memory",
  /** This member's share of a limit that a fleet has together. */
  "fleet-share",
  "concurrency",
  "peer-busy",
  "retry-after",
  "store-lost",
] as const;

export type Reason = (typeof REASONS)[number];
