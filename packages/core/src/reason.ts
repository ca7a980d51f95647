/**
 * Why something waits or was refused: one closed list for the wire, errors, metrics and dashboard.
 * A caller that sees none of these was not limited.
 */
export const REASONS = [
  "topic-rate",
  "group-rate",
  "broker-rate",
  "connection-pending",
  "memory",
  "fleet-share",
  "fleet-joining",
  "fleet-refused",
  "concurrency",
  "peer-busy",
  "retry-after",
  "store-lost",
] as const;

export type Reason = (typeof REASONS)[number];
