/**
 * Pulsar's enum values by name. Values without a name may come from a newer peer and are passed
 * through.
 */

export const SERVER_ERROR = {
  UnknownError: 0,
  MetadataError: 1,
  PersistenceError: 2,
  AuthenticationError: 3,
  AuthorizationError: 4,
  ConsumerBusy: 5,
  ServiceNotReady: 6,
  ProducerBlockedQuotaExceededError: 7,
  ProducerBlockedQuotaExceededException: 8,
  ChecksumError: 9,
  UnsupportedVersionError: 10,
  TopicNotFound: 11,
  SubscriptionNotFound: 12,
  ConsumerNotFound: 13,
  TooManyRequests: 14,
  TopicTerminatedError: 15,
  ProducerBusy: 16,
  InvalidTopicName: 17,
  IncompatibleSchema: 18,
  ConsumerAssignError: 19,
  TransactionCoordinatorNotFound: 20,
  InvalidTxnStatus: 21,
  NotAllowedError: 22,
  TransactionConflict: 23,
  TransactionNotFound: 24,
  ProducerFenced: 25,
} as const;

export type ServerErrorName = keyof typeof SERVER_ERROR;

const SERVER_ERROR_NAMES: ReadonlyMap<number, ServerErrorName> = new Map(
  (Object.keys(SERVER_ERROR) as ServerErrorName[]).map((name) => [SERVER_ERROR[name], name]),
);

/** `UnknownError` for values of a newer peer. */
export function serverErrorName(error: number): ServerErrorName {
  return SERVER_ERROR_NAMES.get(error) ?? "UnknownError";
}

export const SUB_TYPE = { exclusive: 0, shared: 1, failover: 2, keyShared: 3 } as const;

export const ACK_TYPE = { individual: 0, cumulative: 1 } as const;

export const INITIAL_POSITION = { latest: 0, earliest: 1 } as const;

export const ACCESS_MODE = {
  shared: 0,
  exclusive: 1,
  waitForExclusive: 2,
  exclusiveWithFencing: 3,
} as const;

export const LOOKUP_RESULT = { redirect: 0, connect: 1, failed: 2 } as const;

export const PARTITIONED_METADATA_RESULT = { success: 0, failed: 1 } as const;

export const TOPICS_MODE = { persistent: 0, nonPersistent: 1, all: 2 } as const;

/** The protocol version of this package. With an older peer, the peer's version is used. */
export const PROTOCOL_VERSION = 21;

/** Pulsar's value for "no id" where a 64-bit id is required. */
export const NO_ID: bigint = 2n ** 64n - 1n;

/** Ledger and entry id of the position before the first message. */
export const EARLIEST_ID: bigint = 2n ** 64n - 1n;

/** Ledger and entry id of the position after the last message. */
export const LATEST_ID: bigint = 2n ** 63n - 1n;
