/** Whole pipelines on real sockets: Pulsar → map → HTTP, and HTTP → map → Pulsar, with faults on both sides. */
import { startBroker } from "@sluice/gateway";
import type { RunningBroker } from "@sluice/gateway";
import { connect } from "@sluice/pulsar";
import type { Client } from "@sluice/pulsar";
import { systemTimer } from "@sluice/core/system";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  httpSink,
  httpSource,
  mapCommand,
  mapThreads,
  pipeline,
  pulsarSink,
  pulsarSource,
} from "../src/index.ts";
import type { PipelineEvent, RunningPipeline } from "../src/index.ts";
import { MemorySink } from "../src/testing.ts";
import { until } from "./connector-scene.ts";
import { ok, startService } from "./loopback-service.ts";
import type { Answer, LoopbackService } from "./loopback-service.ts";

interface Order {
  readonly n: number;
}

let broker: RunningBroker;
let client: Client;
let service: LoopbackService;
const running: RunningPipeline[] = [];

beforeEach(async () => {
  broker = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory" });
  client = await connect(broker.url);
  service = await startService();
});

afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
  await client.close();
  await broker.close();
  await service.close();
});

async function publish(count: number): Promise<void> {
  const producer = await client.createProducer({ topic: "orders", batching: true });
  await Promise.all(
    Array.from({ length: count }, (_, n) => producer.send({ data: JSON.stringify({ n }) })),
  );
  await producer.close();
}

const orders = (): ReturnType<typeof pulsarSource<Order>> =>
  pulsarSource<Order>({
    url: broker.url,
    topic: "orders",
    subscription: "shop",
    format: "json",
  });

test("every message reaches a service that answers 429, 503 and resets, and poison goes to the dead letters", async () => {
  const taken = new Set<number>();
  let requests = 0;
  const faulty: Answer = ({ body }, response) => {
    const { n } = JSON.parse(body) as Order;
    requests++;
    if (n === 13) response.writeHead(422).end("unlucky");
    else if (requests % 50 === 7) response.writeHead(429, { "Retry-After": "0" }).end();
    else if (requests % 50 === 17) response.writeHead(503).end();
    else if (requests % 50 === 27) response.socket?.resetAndDestroy();
    else {
      taken.add(n);
      response.end();
    }
  };
  service.answerBy(faulty);
  const dead = new MemorySink();
  const started = await pipeline("orders", { deadLetter: dead, retry: { backoffMs: 10 } })
    .source(orders())
    .map(({ value }) => ({ value }))
    .sink(httpSink({ url: service.url }))
    .start();
  running.push(started);
  await publish(300);
  await until("299 messages", () => taken.size === 299);
  await until("all are acknowledged", () => started.state().unacknowledged === 0);
  expect(taken.has(13)).toBe(false);
  expect(dead.values).toEqual([{ n: 13 }]);
});

test("the pipeline says that its sink waits for the service, and why", async () => {
  service.answerBy(() => undefined);
  const events: PipelineEvent[] = [];
  const started = await pipeline("orders", { drainMs: 100 })
    .source(orders())
    .sink(httpSink({ url: service.url, request: { concurrency: 2 } }))
    .start({ observe: (event) => events.push(event) });
  running.push(started);
  await publish(10);
  await until("the sink waits", () => started.state().vertices.at(-1)?.waiting !== undefined);
  expect(started.state().vertices.at(-1)?.waiting).toMatchObject({
    reason: "concurrency",
    detail: expect.stringMatching(/^2 of 2 requests to 127\.0\.0\.1:\d+ are in flight/) as string,
  });
});

test("a stop gives back what the service has not taken, and the next run delivers it", async () => {
  service.answerBy(() => undefined);
  const build = (): Promise<RunningPipeline> =>
    pipeline("orders", { drainMs: 50 })
      .source(orders())
      .sink(httpSink({ url: service.url }))
      .start();
  const first = await build();
  await publish(5);
  await until("requests are in flight", () => service.inFlight > 0);
  const { unacknowledged } = await first.stop();
  expect(unacknowledged).toBe(5);
  const taken = new Set<string>();
  service.answerBy((request, response) => {
    taken.add(request.body);
    ok(request, response);
  });
  running.push(await build());
  await until("all are delivered", () => taken.size === 5);
});

test("an ingest endpoint tells its clients of the vertex's rate by 429, and everything arrives once", async () => {
  const events: PipelineEvent[] = [];
  const started = await pipeline("ingest")
    .source(httpSource<Order>({ listen: "127.0.0.1:0", bufferMax: 10 }), {
      limits: { rateLimit: { max: 40, min: 40 } },
    })
    .map(
      mapThreads<Order, Order>({
        module: new URL("maps/map-each.mjs", import.meta.url),
        threads: 2,
      }),
    )
    .sink(pulsarSink({ url: broker.url, topic: "orders" }))
    .start({ observe: (event) => events.push(event) });
  running.push(started);
  const told = events.flatMap((event) => (event.kind === "connector" ? [event.event.text] : []));
  const [, url = ""] = /at (\S+)$/.exec(told[0] ?? "") ?? [];
  const consumer = await client.subscribe({
    topic: "orders",
    subscription: "check",
    initialPosition: "earliest",
  });
  const statuses = new Map<number, number>();
  const deliver = async (n: number): Promise<void> => {
    for (;;) {
      const response = await fetch(url, { method: "POST", body: JSON.stringify({ n }) });
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      if (response.status === 200) return;
      await systemTimer.sleep(Number(response.headers.get("retry-after")) * 1000);
    }
  };
  await Promise.all(Array.from({ length: 80 }, (_, n) => deliver(n)));
  expect(statuses.get(200)).toBe(80);
  expect(statuses.get(429)).toBeGreaterThan(0);
  expect(new Set(statuses.keys())).toEqual(new Set([200, 429]));
  const received = new Set<number>();
  for (let count = 0; count < 80; count++) {
    const { data } = await consumer.receive();
    received.add((JSON.parse(data.toString()) as Order).n);
  }
  expect(received.size).toBe(80);
});

test("a map in a child process that crashes on one message loses none of the others", async () => {
  const script = `
    const lines = require("node:readline").createInterface({ input: process.stdin });
    lines.on("line", (line) => {
      const { id, value } = JSON.parse(line);
      if (value.n === 7) process.exit(1);
      console.log(JSON.stringify({ id, outputs: [{ value }] }));
    });`;
  const taken = new Set<string>();
  service.answerBy((request, response) => {
    taken.add(request.body);
    ok(request, response);
  });
  const dead = new MemorySink();
  const started = await pipeline("orders", {
    deadLetter: dead,
    retry: { attempts: 2, backoffMs: 10 },
  })
    .source(orders())
    .map(mapCommand({ command: process.execPath, args: ["-e", script], restartMaxMs: 100 }))
    .sink(httpSink({ url: service.url }))
    .start();
  running.push(started);
  await publish(40);
  await until("39 messages", () => taken.size === 39);
  await until("all are acknowledged", () => started.state().unacknowledged === 0);
  expect(dead.values).toEqual([{ n: 7 }]);
});
