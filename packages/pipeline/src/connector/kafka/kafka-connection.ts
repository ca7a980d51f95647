import { ConfigError } from "@sluice/core";
import { requireWhole } from "@sluice/core/internal";
import type { Kafka, KafkaConfig, logLevel, Partitioners, RetryOptions } from "kafkajs";
import { shown } from "../check-options.ts";
import { loadLibrary } from "../load-library.ts";
import { kafkaError } from "./kafka-failure.ts";

/** Where Kafka is. */
export interface KafkaConnectionOptions {
  /** Addresses of brokers, e.g. `["localhost:9092"]`; the others are discovered. */
  readonly brokers: readonly string[];
  /** As kafkajs has it: mechanism, username, password. Default: no login. */
  readonly sasl?: KafkaConfig["sasl"] | undefined;
  /** As kafkajs has it: `true`, or options of `tls.connect`. Default: no TLS. */
  readonly ssl?: KafkaConfig["ssl"] | undefined;
  /** For each request, ms; 1,000 to 60,000. @default 10000 */
  readonly timeoutMs?: number | undefined;
}

export const KAFKA_CONNECTION_KEYS: readonly string[] = ["brokers", "sasl", "ssl", "timeoutMs"];

const TIMEOUT_MS = 10_000;
const TIMEOUT_MIN_MS = 1000;
const TIMEOUT_MAX_MS = 60_000;
/** The client library tries again by itself; beyond that, the pipeline does, with its own backoff. */
export const KAFKA_RETRY: Required<
  Pick<RetryOptions, "retries" | "initialRetryTime" | "maxRetryTime">
> = { retries: 3, initialRetryTime: 100, maxRetryTime: 2000 };

/** What is used of the library. */
interface Library {
  readonly Kafka: typeof Kafka;
  readonly Partitioners: typeof Partitioners;
  readonly logLevel: typeof logLevel;
}

export interface KafkaClient {
  readonly kafka: Kafka;
  readonly library: Library;
  readonly timeoutMs: number;
}

/** Answers a function that makes a client by the checked options; it connects to nothing yet. */
export function readKafkaConnection(
  what: string,
  options: KafkaConnectionOptions,
): (clientId: string) => Promise<KafkaClient> {
  const { brokers, sasl, ssl, timeoutMs = TIMEOUT_MS } = options;
  requireWhole(`timeoutMs of ${what}`, timeoutMs, TIMEOUT_MIN_MS, TIMEOUT_MAX_MS);
  const list: readonly unknown[] = Array.isArray(brokers) ? brokers : [];
  const wrong = list.find((each) => typeof each !== "string" || !/^.+:\d+$/.test(each));
  if (list.length === 0 || wrong !== undefined)
    throw new ConfigError(
      `brokers of ${what} is ${shown(wrong ?? brokers)}; use a list of host and port, e.g. ["localhost:9092"]`,
    );
  return async (clientId) => {
    const library: Library = await loadLibrary(what, "kafkajs", () => import("kafkajs"));
    const kafka = new library.Kafka({
      // Only these characters are allowed everywhere.
      clientId: clientId.replaceAll(/[^\w.-]/g, "-"),
      brokers: [...brokers],
      connectionTimeout: timeoutMs,
      requestTimeout: timeoutMs,
      authenticationTimeout: timeoutMs,
      retry: KAFKA_RETRY,
      // Errors come as rejections and events; nothing is written to the console.
      logLevel: library.logLevel.NOTHING,
      ...(sasl !== undefined && { sasl }),
      ...(ssl !== undefined && { ssl }),
    });
    return { kafka, library, timeoutMs };
  };
}

/** The ids of a topic's partitions; rejects with the way out if there is no such topic. */
export async function partitionsOf(
  what: string,
  { kafka }: KafkaClient,
  topic: string,
): Promise<{ readonly partitionId: number; readonly leader: number }[]> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return topics.flatMap(({ partitions }) => partitions);
  } catch (error) {
    throw kafkaError(what, error);
  } finally {
    await admin.disconnect();
  }
}
