import { ConnectorError } from "../connector-error.ts";

/** What only a change of settings, of the brokers or of ours, can end: by name, type or message of the error. */
const PERMANENT: readonly (readonly [RegExp, string])[] = [
  [
    /SASLAuthentication|SASL_AUTHENTICATION_FAILED|ILLEGAL_SASL_STATE/,
    'mend the option sasl, e.g. { mechanism: "plain", username: "me", password: "secret" }',
  ],
  [
    /UNKNOWN_TOPIC_OR_PARTITION/,
    "create the topic first, e.g. kafka-topics.sh --create --topic orders --partitions 3",
  ],
  [
    /(?:TOPIC|GROUP|CLUSTER)_AUTHORIZATION_FAILED/,
    "give the user the right to the topic and the group",
  ],
  [/INVALID_TOPIC_EXCEPTION/, "use letters, digits, dots, - and _ in the name of the topic"],
  [
    /KafkaJSNotImplemented/,
    "register the codec of the topic's compression with kafkajs: CompressionCodecs",
  ],
  [
    /GROUP_ID_NOT_FOUND|INCONSISTENT_GROUP_PROTOCOL/,
    "use another group: members of this one have another protocol",
  ],
];

/** The group is being divided anew: what was read of partitions that were lost comes again to their new owners. */
const REBALANCING: ReadonlySet<string> = new Set([
  "REBALANCE_IN_PROGRESS",
  "ILLEGAL_GENERATION",
  "UNKNOWN_MEMBER_ID",
  "FENCED_INSTANCE_ID",
]);

/** Right after a start of the broker, or after the first use of a group. */
const COORDINATOR_LOADING: ReadonlySet<string> = new Set([
  "GROUP_LOAD_IN_PROGRESS",
  "GROUP_COORDINATOR_NOT_AVAILABLE",
  "NOT_COORDINATOR_FOR_GROUP",
]);
const TOO_LARGE: ReadonlySet<string> = new Set(["MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"]);

const MESSAGE_MAX = 200;
/** kafkajs puts the error of the last try into that of having tried too often. */
const DEPTH_MAX = 4;

interface ForeignError {
  readonly name?: unknown;
  readonly type?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
}

export function kafkaError(what: string, error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const found = wordsOf(error);
  const [, wayOut] = PERMANENT.find(([pattern]) => pattern.test(found)) ?? [];
  const message = error instanceof Error ? error.message : String(error);
  const advice = wayOut === undefined ? "" : `; ${wayOut}`;
  return new ConnectorError(`${what}: ${message.slice(0, MESSAGE_MAX)}${advice}`, {
    canHeal: wayOut === undefined,
    cause: error,
  });
}

export function isRebalancing(error: unknown): boolean {
  return hasType(error, REBALANCING);
}

export function isCoordinatorLoading(error: unknown): boolean {
  return hasType(error, COORDINATOR_LOADING);
}

export function isTooLarge(error: unknown): boolean {
  return hasType(error, TOO_LARGE);
}

function hasType(error: unknown, types: ReadonlySet<string>, depth: number = DEPTH_MAX): boolean {
  if (typeof error !== "object" || error === null || depth === 0) return false;
  const { type, cause } = error as ForeignError;
  return (typeof type === "string" && types.has(type)) || hasType(cause, types, depth - 1);
}

function wordsOf(error: unknown, depth: number = DEPTH_MAX): string {
  if (typeof error !== "object" || error === null || depth === 0) return "";
  const { name, type, message, cause } = error as ForeignError;
  const own = [name, type, message].filter((word) => typeof word === "string");
  return `${own.join(" ")} ${wordsOf(cause, depth - 1)}`;
}
