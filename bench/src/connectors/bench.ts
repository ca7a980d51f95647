import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileSink, fileSource } from "@sluice/pipeline";
import type { SinkConnector, SourceConnector } from "@sluice/pipeline";
import { kafkaSink, kafkaSource } from "@sluice/pipeline/kafka";
import { natsSink, natsSource } from "@sluice/pipeline/nats";
import { redisStreamSink, redisStreamSource } from "@sluice/pipeline/redis";
import { startRedis } from "../fleet/redis.ts";
import { machineLine, thisMachine } from "../machine.ts";
import { short } from "../numbers.ts";
import type { BenchOptions } from "../options.ts";
import { table } from "../table.ts";
import { carry } from "./carry.ts";
import type { Carried } from "./carry.ts";

const COUNT = 1_000_000;
const QUICK_COUNT = 50_000;
/** The heap may grow by a tenth while messages pass. */
const GROWTH_GOAL = 1.1;
/** Entries that the stream of Redis keeps: the reader must not fall back by more. */
const STREAM_LENGTH = 2_000_000;

interface Place {
  readonly sink: SinkConnector;
  readonly source: SourceConnector;
  close(): Promise<void>;
}

type Open = () => Promise<Place | string>;

const PLACES: Readonly<Record<string, Open>> = { file, redis, nats, kafka };

/** Whether the heap stays flat while messages go through each connector; the text to print. */
export async function benchConnectors({ quick, json }: BenchOptions): Promise<string> {
  const count = quick ? QUICK_COUNT : COUNT;
  const found = new Map<string, Carried | string>();
  for (const [name, open] of Object.entries(PLACES)) {
    const place = await open();
    if (typeof place === "string") {
      found.set(name, place);
      continue;
    }
    try {
      found.set(name, await carry(place, count));
    } finally {
      await place.close();
    }
  }
  const machine = thisMachine();
  if (json)
    return JSON.stringify({
      bench: "connectors",
      machine,
      count,
      cases: Object.fromEntries(found),
    });
  const rows = [...found].map(([name, carried]) =>
    typeof carried === "string"
      ? [name, carried, "", "", ""]
      : [
          name,
          `${short(carried.perSecond / 1000)} k`,
          `${carried.heapMb.toFixed(1)} MB`,
          short(carried.growth),
          carried.growth <= GROWTH_GOAL ? "met" : "missed",
        ],
  );
  const heading = [`${count} messages`, "a second", "heap", `growth, ≤ ${GROWTH_GOAL}`, ""];
  return `${machineLine(machine)}\n\n${table(heading, rows)}`;
}

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

async function redis(): Promise<Place> {
  const server = await startRedis();
  const settings = { url: `redis://127.0.0.1:${server.port}`, stream: "bench" };
  return {
    sink: redisStreamSink({ ...settings, lengthMax: STREAM_LENGTH }),
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
