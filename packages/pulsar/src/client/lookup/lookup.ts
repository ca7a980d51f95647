import { ConfigError } from "@sluice/core";
import { parseServiceUrl } from "../../service-url.ts";
import { LOOKUP_RESULT, PARTITIONED_METADATA_RESULT } from "../../wire/constants.ts";
import type { CommandBodies } from "../../wire/command.ts";
import { ProtocolError } from "../../wire/protocol-error.ts";
import { brokerErrorOf } from "../error/broker-error.ts";
import { ConnectionError } from "../error/connection-error.ts";
import type { ConnectionTarget } from "../connection/connection-target.ts";
import type { Connection } from "../connection/connection.ts";
import type { Endpoint } from "../connection/transport.ts";

/** Redirects of one lookup. More mean that the brokers redirect in a circle. */
const HOPS_MAX = 20;

/** Partitions of one topic. Bounds the producers that a wrong answer could make a client open. */
const PARTITIONS_MAX = 100_000;

/** The addresses of a broker in an answer. */
export interface BrokerUrls {
  readonly brokerServiceUrl?: string | undefined;
  readonly brokerServiceUrlTls?: string | undefined;
}

export interface LookupOptions {
  readonly signal?: AbortSignal | undefined;
  /** Connects to the target of a redirect. */
  readonly connect: (target: ConnectionTarget) => Promise<Connection>;
}

/** Finds the broker that serves a topic: LOOKUP on `start`, then on the target of each redirect. */
export async function lookUp(
  start: Connection,
  topic: string,
  { connect, signal }: LookupOptions,
): Promise<ConnectionTarget> {
  let connection = start;
  let authoritative = false;
  for (let hop = 0; hop <= HOPS_MAX; hop++) {
    const answer = await lookUpOnce(connection, { topic, authoritative, signal });
    const target = targetOf(answer, start.target, answer.proxyThroughServiceUrl === true);
    if (answer.response === LOOKUP_RESULT.connect) return target;
    authoritative = answer.authoritative === true;
    connection = await connect(target);
  }
  throw new ConnectionError(`the lookup of ${topic} was redirected more than ${HOPS_MAX} times`);
}

/** Partitions of a topic; 0 if it is not partitioned. */
export async function countPartitions(
  connection: Connection,
  topic: string,
  signal?: AbortSignal,
): Promise<number> {
  const {
    response,
    partitions = 0,
    error,
    message,
  } = await connection.request(
    "partitionedMetadataResponse",
    (requestId) => ({ kind: "partitionedMetadata", body: { topic, requestId } }),
    { signal },
  );
  if (response === PARTITIONED_METADATA_RESULT.failed) throw brokerErrorOf(error, message);
  if (partitions > PARTITIONS_MAX)
    throw new ProtocolError(
      `the broker says that ${topic} has ${partitions} partitions; at most ${PARTITIONS_MAX} are supported`,
    );
  return partitions;
}

/**
 * The target for a broker with these URLs, seen from the target that answered: with TLS if that one
 * has TLS, and through the same proxy if the answer says so.
 */
export function targetOf(
  urls: BrokerUrls,
  { endpoint }: ConnectionTarget,
  isProxied: boolean,
): ConnectionTarget {
  const broker = endpointOf(urls, endpoint.isTls);
  // A standalone broker names itself as its proxy.
  const isItself = broker.host === endpoint.host && broker.port === endpoint.port;
  return isProxied && !isItself ? { endpoint, proxyTo: broker } : { endpoint: broker };
}

async function lookUpOnce(
  connection: Connection,
  lookup: { topic: string; authoritative: boolean; signal: AbortSignal | undefined },
): Promise<CommandBodies["lookupResponse"]> {
  const { topic, authoritative, signal } = lookup;
  const answer = await connection.request(
    "lookupResponse",
    (requestId) => ({ kind: "lookup", body: { topic, requestId, authoritative } }),
    { signal },
  );
  const { response, error, message } = answer;
  if (response === LOOKUP_RESULT.connect || response === LOOKUP_RESULT.redirect) return answer;
  throw brokerErrorOf(error, message);
}

function endpointOf(urls: BrokerUrls, isTls: boolean): Endpoint {
  const url = isTls ? urls.brokerServiceUrlTls : urls.brokerServiceUrl;
  if (url === undefined || url === "")
    throw new ConnectionError(
      `the lookup answer has no address ${isTls ? "with" : "without"} TLS; use a ${isTls ? "pulsar" : "pulsar+ssl"}:// service URL`,
    );
  const [address] = parsed(url).addresses;
  if (address === undefined) throw new ProtocolError("the lookup answer has an empty address");
  return { ...address, isTls };
}

function parsed(url: string): ReturnType<typeof parseServiceUrl> {
  try {
    return parseServiceUrl(url);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ProtocolError("the lookup answer has no valid address", { cause: error });
  }
}
