import { resolve } from "node:path";
import { fileSource, generator, httpSource, pulsarSource, stdinSource } from "@sluice/pipeline";
import type {
  Format,
  HttpSourceOptions,
  PulsarSourceOptions,
  SourceConnector,
} from "@sluice/pipeline";
import {
  kafkaConnectionOf,
  natsConnectionOf,
  pathIn,
  pulsarConnectionOf,
  redisUrlOf,
  tokenIn,
} from "./connector-options.ts";
import type { ConnectorWorld, Make, Options } from "./connector-options.ts";

/** Messages of a generator that has no end. */
const ENDLESS: number = Number.MAX_SAFE_INTEGER;

/** Sources by their names in a flow file. Client libraries are loaded when a flow needs them. */
export const SOURCES: Readonly<Record<string, Make<SourceConnector>>> = {
  generator: ({ rate, count, values }) =>
    generator<unknown>({
      values: (values as readonly unknown[] | undefined) ?? ((index: number) => ({ n: index })),
      ratePerSecond: rate as number | undefined,
      // A list alone would end with its last value.
      count: (count as number | undefined) ?? (values === undefined ? undefined : ENDLESS),
    }),
  file: ({ path, checkpoint, follow, lineMax, format }, { folder }) =>
    fileSource({
      path: resolve(folder, path as string),
      checkpoint: pathIn(folder, checkpoint),
      follow: follow as boolean | undefined,
      lineMaxBytes: lineMax as number | undefined,
      format: formatOf(format),
    }),
  stdin: ({ format, lineMax }) =>
    stdinSource({ format: formatOf(format), lineMaxBytes: lineMax as number | undefined }),
  http: async (options, { folder }) =>
    httpSource({
      listen: options["listen"] as string,
      path: options["path"] as string | undefined,
      respond: options["respond"] as HttpSourceOptions["respond"],
      format: formatOf(options["format"]),
      maxBodyBytes: options["maxBody"] as number | undefined,
      bufferMax: options["buffer"] as number | undefined,
      timeoutMs: options["timeout"] as number | undefined,
      token: await tokenIn(folder, options["tokenFile"]),
      allowAnonymous: options["allowAnonymous"] as boolean | undefined,
    }),
  pulsar: async (options, world) =>
    pulsarSource({
      ...(await pulsarConnectionOf(options, world)),
      topic: options["topic"] as string,
      subscription: options["subscription"] as string,
      type: options["type"] as PulsarSourceOptions["type"],
      initialPosition: options["initialPosition"] as PulsarSourceOptions["initialPosition"],
      adminUrl: options["adminUrl"] as string | undefined,
      backlog: gatewayBacklogOf(options, world),
      format: formatOf(options["format"]),
    }),
  redis: async (options, world) => {
    const { redisStreamSource } = await import("@sluice/pipeline/redis");
    return redisStreamSource({
      url: await redisUrlOf(options, world),
      stream: options["stream"] as string,
      group: options["group"] as string,
      consumer: options["consumer"] as string | undefined,
      from: startOf(options),
      claimIdleMs: options["claimIdle"] as number | undefined,
      field: options["field"] as string | undefined,
      format: formatOf(options["format"]),
    });
  },
  nats: async (options, world) => {
    const { natsSource } = await import("@sluice/pipeline/nats");
    return natsSource({
      ...(await natsConnectionOf(options, world)),
      stream: options["stream"] as string,
      consumer: options["consumer"] as string,
      subject: options["subject"] as string | undefined,
      from: startOf(options),
      ackWaitMs: options["ackWait"] as number | undefined,
      format: formatOf(options["format"]),
    });
  },
  kafka: async (options, world) => {
    const { kafkaSource } = await import("@sluice/pipeline/kafka");
    return kafkaSource({
      ...(await kafkaConnectionOf(options, world)),
      topic: options["topic"] as string,
      group: options["group"] as string,
      from: startOf(options),
      format: formatOf(options["format"]),
    });
  },
};

/** Where a new group or consumer begins. */
function startOf({ from }: Options): "beginning" | "end" | undefined {
  return from as "beginning" | "end" | undefined;
}

/** Of a source that reads from the gateway of the same file. */
function gatewayBacklogOf(
  { url, subscription }: Options,
  { gatewayBacklog }: ConnectorWorld,
): PulsarSourceOptions["backlog"] {
  if (url !== undefined || gatewayBacklog === undefined) return undefined;
  return (topics) => gatewayBacklog(topics, subscription as string);
}

function formatOf(format: Options[string]): Format {
  return (format as Format | undefined) ?? "json";
}
