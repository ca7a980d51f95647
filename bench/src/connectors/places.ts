import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  fileSink,
  fileSource,
  httpSink,
  httpSource,
  pulsarSink,
  pulsarSource,
} from "@sluice/pipeline";
import type { SinkConnector, SourceConnector } from "@sluice/pipeline";
import { kafkaSink, kafkaSource } from "@sluice/pipeline/kafka";
import { natsSink, natsSource } from "@sluice/pipeline/nats";
import { redisStreamSink, redisStreamSource } from "@sluice/pipeline/redis";
import { startRedis } from "../fleet/redis.ts";
import { freePort } from "../free-port.ts";
import { SluiceProcess } from "../replicas/sluice-process.ts";

/** Where messages go and come from again. */
interface Place {
  readonly sink: SinkConnector;
  readonly source: SourceConnector;
  close(): Promise<void>;
}

/** A text says why there is none. */
type Open = () => Promise<Place | string>;

export const PLACES: Readonly<Record<string, Open>> = { file, http, pulsar, redis, nats, kafka };

async function file(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-bench-"));
  const path = join(folder, "lines");
  const checkpoint = join(folder, "checkpoint");
  return {
    sink: fileSink({ path }),
    source: fileSource({ path, checkpoint, follow: true, pollMs: 10 }),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Sink and source in one process, with requests of 1,000 messages. */
async function http(): Promise<Place> {
  const listen = `127.0.0.1:${await freePort()}`;
  return {
    sink: httpSink({ url: `http://${listen}/`, batch: { messagesMax: 1_000 } }),
    source: httpSource({ listen, bufferMax: 10_000 }),
    close: () => Promise.resolve(),
  };
}

/** A broker in a process of its own. */
async function pulsar(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-bench-"));
  const args = ["broker", "--listen", "pulsar://127.0.0.1:0", "--data", folder];
  const broker = SluiceProcess.start(args);
  const { urls } = (await broker.ready()) as { readonly urls: readonly string[] };
  const settings = { url: urls[0] ?? "", topic: "bench" };
  return {
    sink: pulsarSink(settings),
    source: pulsarSource({ ...settings, subscription: "bench" }),
    async close(): Promise<void> {
      await broker.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function redis(): Promise<Place> {
  const server = await startRedis();
  const settings = { url: `redis://127.0.0.1:${server.port}`, stream: "bench" };
  return {
    // All entries are kept: the writer may be ahead by any number.
    sink: redisStreamSink(settings),
    source: redisStreamSource({ ...settings, group: "bench" }),
    close: () => server.stop(),
  };
}

/** The stream `bench` with the subject `bench` must exist. */
function nats(): Promise<Place | string> {
  const servers = process.env["BENCH_NATS"];
  if (servers === undefined)
    return Promise.resolve(
      "skipped: set BENCH_NATS to the address of a server with a stream bench",
    );
  return Promise.resolve({
    sink: natsSink({ servers, subject: "bench" }),
    source: natsSource({ servers, stream: "bench", consumer: `bench-${process.pid}`, from: "end" }),
    close: () => Promise.resolve(),
  });
}

/** The topic `bench` must exist, and be empty. */
function kafka(): Promise<Place | string> {
  const broker = process.env["BENCH_KAFKA"];
  if (broker === undefined)
    return Promise.resolve(
      "skipped: set BENCH_KAFKA to the address of a broker with a topic bench",
    );
  const settings = { brokers: [broker], topic: "bench" };
  return Promise.resolve({
    sink: kafkaSink(settings),
    source: kafkaSource({ ...settings, group: `bench-${process.pid}` }),
    close: () => Promise.resolve(),
  });
}
