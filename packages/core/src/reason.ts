/**
 * Why something waits or was refused: one closed list for the wire, errors, metrics and dashboards.
 * A call that carries none of these was not limited.
 */
export const REASONS = [
  /** A rate of this process alone has no token for the call. */
  "rate",
  /** The publish limit of the topic is used up. */
  "topic-rate",
  /** The publish limit of a group of topics is used up. */
  "group-rate",
  /** The publish limit of all topics together is used up. */
  "broker-rate",
  /** A connection has as many SENDs without a receipt as it may have, or holds as many bytes. */
  "connection-pending",
  /** Clients keep as many bytes as the process may grow by. */
  "memory",
  /** This member has used its share of a limit that a fleet has together. */
  "fleet-share",
  /** This member has joined a pool and has no share yet: about two seconds, one lease and four syncs at most. */
  "fleet-joining",
  /** The pool has refused this member, because its id is taken, the pool is full or its timing differs. */
  "fleet-refused",
  /** As many calls are in flight as the concurrency limit allows. */
  "concurrency",
  /** The peer said busy, and the busy throttle has cut the rate to it. */
  "peer-busy",
  /** The peer said how long to wait, such as by `Retry-After`, and that time is not over. */
  "retry-after",
  /** The store does not answer: this member has its safe share, or none with `onStoreLoss: closed`. */
  "store-lost",
] as const;

export type Reason = (typeof REASONS)[number];
