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

/** How often brokers may pass a question on. More is a ring. */
const HOPS_MAX = 20;

/** A cluster of more would not work, and a number that lies must not make us open so many. */
const PARTITIONS_MAX = 100_000;

/** Where a broker's answers are about, in both forms that it may give. */
export interface BrokerUrls {
  readonly brokerServiceUrl?: string | undefined;
  readonly brokerServiceUrlTls?: string | undefined;
}

export interface LookupOptions {
  readonly signal?: AbortSignal | undefined;
  /** Connects to whomever the lookup is passed on to. */
  readonly connect: (target: ConnectionTarget) => Promise<Connection>;
}

/** Finds the broker that has a topic, asking where `start` leads to first. */
export async function lookUp(
  start: Connection,
  topic: string,
  { connect, signal }: LookupOptions,
): Promise<ConnectionTarget> {
  let connection = start;
  let authoritative = false;
  for (let hop = 0; hop <= HOPS_MAX; hop++) {
    const answer = await ask(connection, { topic, authoritative, signal });
    const target = targetOf(answer, start.target, answer.proxyThroughServiceUrl === true);
    if (answer.response === LOOKUP_RESULT.connect) return target;
    authoritative = answer.authoritative === true;
    connection = await connect(target);
  }
  throw new ConnectionError(`a lookup was passed on more than ${HOPS_MAX} times`);
}

/** How many partitions a topic has; 0 if it is not partitioned. */
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
    throw new ProtocolError(`a topic of ${partitions} partitions is more than ${PARTITIONS_MAX}`);
  return partitions;
}

/**
 * The broker with these URLs, reached as `via` was: with TLS if that had it, never without, and
 * through the same proxy if there is one.
 */
export function targetOf(
  urls: BrokerUrls,
  { endpoint }: ConnectionTarget,
  isProxied: boolean,
): ConnectionTarget {
  const broker = endpointOf(urls, endpoint.isTls);
  // A broker that stands alone says that it is its own proxy.
  const isItself = broker.host === endpoint.host && broker.port === endpoint.port;
  return isProxied && !isItself ? { endpoint, proxyTo: broker } : { endpoint: broker };
}

async function ask(
  connection: Connection,
  question: { topic: string; authoritative: boolean; signal: AbortSignal | undefined },
): Promise<CommandBodies["lookupResponse"]> {
  const { topic, authoritative, signal } = question;
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
    throw new ConnectionError(`the broker has no address ${isTls ? "with" : "without"} TLS`);
  const [address] = parsed(url).addresses;
  if (address === undefined) throw new ProtocolError("a broker's address is empty");
  return { ...address, isTls };
}

function parsed(url: string): ReturnType<typeof parseServiceUrl> {
  try {
    return parseServiceUrl(url);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ProtocolError("a broker gave an address that is none", { cause: error });
  }
}
