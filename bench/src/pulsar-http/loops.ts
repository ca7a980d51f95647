import { setTimeout as sleep } from "node:timers/promises";
import { httpSink, pipeline, pulsarSource } from "@sluice/pipeline";
import { connect } from "@sluice/pulsar";
import { Pool } from "undici";

/** Where messages come from and go to. */
export interface Ends {
  readonly brokerUrl: string;
  readonly topic: string;
  /** One of its own for each run: its backlog is the whole topic. */
  readonly subscription: string;
  readonly serviceUrl: string;
  /** Messages of the topic. */
  readonly count: number;
}

/** What a run took. */
export interface Run {
  readonly wallMs: number;
  readonly cpuMs: number;
}

interface Order {
  readonly id: number;
  readonly text: string;
}

/** Requests in flight, the same for both. */
const IN_FLIGHT = 32;

/** Between two looks at the counts, which take CPU from the pipeline: every 2 ms, 2 to 3 % of it. */
const POLL_MS = 10;

/** The body of a message: 1 KiB of JSON. */
export function orderOf(id: number): string {
  const head = `{"id":${id},"text":"`;
  return `${head}${"x".repeat(1024 - head.length - 2)}"}`;
}

/** What a user writes by hand: workers that each receive, map, post and acknowledge. */
export async function handWritten(ends: Ends): Promise<Run> {
  const { brokerUrl, topic, subscription, serviceUrl, count } = ends;
  const client = await connect(brokerUrl);
  const consumer = await client.subscribe({
    topic,
    subscription,
    type: "shared",
    initialPosition: "earliest",
  });
  const pool = new Pool(serviceUrl, { connections: IN_FLIGHT });
  let begun = 0;
  const worker = async (): Promise<void> => {
    while (begun < count) {
      begun++;
      const message = await consumer.receive();
      const { id, text } = JSON.parse(message.data.toString()) as Order;
      const body = JSON.stringify({ id, text, isSeen: true });
      const headers = { "content-type": "application/json" };
      const answer = await pool.request({ method: "POST", path: "/", body, headers });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`);
      await consumer.ack(message);
    }
  };
  const run = await measured(async () => {
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  });
  await client.close();
  await pool.close();
  return run;
}

/** The same with a pipeline. */
export function withPipeline(concurrency: "adaptive" | typeof IN_FLIGHT = IN_FLIGHT) {
  return async (ends: Ends): Promise<Run> => {
    const { brokerUrl, topic, subscription, serviceUrl, count } = ends;
    const built = pipeline("bench")
      .source(pulsarSource<Order>({ url: brokerUrl, topic, subscription, format: "json" }))
      .map(({ value: { id, text } }) => ({ value: { id, text, isSeen: true } }))
      .sink(httpSink({ url: serviceUrl, request: { concurrency } }));
    const running = await built.start();
    const run = await measured(async () => {
      while (running.state().vertices.at(-1)?.counts.written !== count) await sleep(POLL_MS);
    });
    const { unacknowledged } = await running.stop();
    if (unacknowledged !== 0) throw new Error(`${unacknowledged} messages were not acknowledged`);
    return run;
  };
}

async function measured(work: () => Promise<void>): Promise<Run> {
  const startMs = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { wallMs: performance.now() - startMs, cpuMs: (user + system) / 1000 };
}
