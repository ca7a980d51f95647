import { resolve } from "node:path";
import { blackhole, fileSink, httpSink, pulsarSink, stdoutSink } from "@sluice/pipeline";
import type {
  HttpBatchOptions,
  HttpRequestOptions,
  HttpSinkOptions,
  SinkConnector,
} from "@sluice/pipeline";
import type { RequestBlock } from "../../flow/pipeline/request-field.ts";
import {
  kafkaConnectionOf,
  natsConnectionOf,
  pulsarConnectionOf,
  redisUrlOf,
  tokenIn,
} from "./connector-options.ts";
import type { Make } from "./connector-options.ts";
import { shownUrl } from "./shown-url.ts";

/** Sinks by their names in a flow file. Client libraries are loaded when a flow needs them. */
export const SINKS: Readonly<Record<string, Make<SinkConnector>>> = {
  blackhole: () => blackhole(),
  file: ({ path, sync }, { folder }) =>
    fileSink({ path: resolve(folder, path as string), sync: sync as boolean | undefined }),
  stdout: () => stdoutSink(),
  http: async (options, { folder, gates, vertex }) => {
    const token = await tokenIn(folder, options["tokenFile"]);
    const url = options["url"] as string;
    const name = options["name"] as string | undefined;
    return httpSink({
      url,
      name,
      method: options["method"] as HttpSinkOptions["method"],
      headers: {
        ...(options["headers"] as Readonly<Record<string, string>> | undefined),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      batch: batchOf(options["batch"] as BatchBlock | undefined),
      request: requestOf((options["request"] as RequestBlock | undefined) ?? {}),
      observers: gates.observer(vertex, name ?? shownUrl(url)),
    });
  },
  pulsar: async (options, world) =>
    pulsarSink({
      ...(await pulsarConnectionOf(options, world)),
      topic: options["topic"] as string,
    }),
  redis: async (options, world) => {
    const { redisStreamSink } = await import("@sluice/pipeline/redis");
    return redisStreamSink({
      url: await redisUrlOf(options, world),
      stream: options["stream"] as string,
      lengthMax: options["lengthMax"] as number | undefined,
      field: options["field"] as string | undefined,
    });
  },
  nats: async (options, world) => {
    const { natsSink } = await import("@sluice/pipeline/nats");
    return natsSink({
      ...(await natsConnectionOf(options, world)),
      subject: options["subject"] as string,
      deduplicate: options["deduplicate"] as boolean | undefined,
    });
  },
  kafka: async (options, world) => {
    const { kafkaSink } = await import("@sluice/pipeline/kafka");
    return kafkaSink({
      ...(await kafkaConnectionOf(options, world)),
      topic: options["topic"] as string,
    });
  },
};

interface BatchBlock {
  readonly format?: HttpBatchOptions["format"];
  readonly messages?: number | undefined;
  readonly bytes?: number | undefined;
}

function batchOf(batch: BatchBlock | undefined): HttpBatchOptions | undefined {
  return batch && { format: batch.format, messagesMax: batch.messages, bytesMax: batch.bytes };
}

function requestOf(block: RequestBlock): HttpRequestOptions {
  const { concurrency, rate, rates, cost, busy, timeout, attempts } = block;
  return {
    concurrency: concurrencyOf(concurrency),
    rate,
    rates,
    cost: cost && ((messages) => costOf(cost, messages.length)),
    busy: busy === undefined || busy.rule === "off" ? busy && "off" : { rule: busy.rule },
    timeoutMs: timeout,
    retry: attempts,
  };
}

function costOf(cost: NonNullable<RequestBlock["cost"]>, messages: number): Record<string, number> {
  const tokens = Object.entries(cost).map(([name, each]) => [
    name,
    each === "messages" ? messages : each,
  ]);
  return Object.fromEntries(tokens) as Record<string, number>;
}

function concurrencyOf(given: RequestBlock["concurrency"]): HttpRequestOptions["concurrency"] {
  if (typeof given !== "object") return given;
  const { algorithm, initial, max } = given;
  return {
    ...(algorithm !== undefined && { algorithm }),
    ...(initial !== undefined && { initialLimit: initial }),
    ...(max !== undefined && { maxLimit: max }),
  };
}
