/** What waits, as an operator sees it: `/api/why`, `/api/state`, events, metrics and stats. */
import { systemTimer, systemWallClock } from "@sluice/core/system";
import type { Producer } from "@sluice/pulsar";
import { expect, onTestFinished, test } from "vitest";
import { EventFeed } from "../src/admin.ts";
import type { BrokerEvent } from "../src/index.ts";
import { adminScene } from "./admin-client.ts";
import type { AdminScene } from "./admin-client.ts";

const FULL = "persistent://public/default/orders";
const T = "/admin/v2/persistent/public/default/orders";

interface Flooded extends AdminScene {
  readonly events: BrokerEvent[];
}

/** Two producers of a topic that takes 50 messages a second, one of them ten times as fast as the other. */
async function flooded(): Promise<Flooded> {
  const events: BrokerEvent[] = [];
  const feed = new EventFeed(systemWallClock);
  const observe = (event: BrokerEvent): void => {
    events.push(event);
    feed.push(event);
  };
  const scene = await adminScene(
    { limits: { topics: { orders: { messages: 50 } } }, observe },
    { events: feed },
  );
  // A client that complies has nothing waiting most of the time.
  const client = await scene.connect({ throttle: false });
  const stopped = new AbortController();
  const flood = async (producer: Producer, perTick: number): Promise<void> => {
    while (!stopped.signal.aborted) {
      for (let i = 0; i < perTick; i++)
        producer.send({ data: Buffer.alloc(100) }).catch(() => undefined);
      await systemTimer.sleep(20);
    }
  };
  const options = { topic: "orders", pendingMessagesMax: 60 };
  const bulk = await client.createProducer({ ...options, name: "bulk" });
  const feedProducer = await client.createProducer({ ...options, name: "feed" });
  const floods = [flood(bulk, 10), flood(feedProducer, 1)];
  onTestFinished(async () => {
    stopped.abort();
    // What is pending goes before the client closes.
    await scene.call("PUT", "/api/limits/topic/orders", { unlimited: true });
    await Promise.all(floods);
  });
  return { ...scene, events };
}

async function until<T>(look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (let i = 0; i < 500; i++) {
    const found = await look();
    if (found !== undefined) return found;
    await systemTimer.sleep(20);
  }
  throw new Error("it did not come within 10 s");
}

test("producers that publish without waiting are told beside those that wait", async () => {
  const { call, connect } = await flooded();
  const client = await connect({ throttle: false });
  const calm = await client.createProducer({ topic: "orders", name: "calm" });
  await client.createProducer({ topic: "orders", name: "idle" });
  const names = await until(async () => {
    // Less than its even turn of 50/s among three, and nothing of it waits while the answer is made.
    await systemTimer.sleep(180);
    await calm.send({ data: Buffer.alloc(1) });
    const { json } = await call("GET", "/api/why?topic=orders");
    const { waiting } = json as { waiting: { notWaiting?: { name: string }[] }[] };
    const found = waiting.flatMap(({ notWaiting = [] }) => notWaiting.map(({ name }) => name));
    return found.includes("calm") ? found : undefined;
  });
  expect(names).not.toContain("idle");
});

test("a topic at its limit says who waits, since when, and through whose traffic", async () => {
  const { call, events } = await flooded();
  await until(() => events.find(({ kind }) => kind === "publish-throttled"));
  await systemTimer.sleep(500);
  const answer = await call("GET", "/api/why?topic=orders");
  expect(answer.json).toMatchObject({
    at: expect.stringMatching(/Z$/) as string,
    waiting: [
      {
        reason: "topic-rate",
        topic: FULL,
        limiter: "topic",
        limit: { messages: 50 },
        becauseOf: { producer: "bulk" },
        setting: {
          target: { level: "topic", name: FULL },
          path: 'gateway.limits.topics."public/default/orders"',
          source: "flow file",
        },
      },
    ],
  });
  const [why] = (answer.json as { waiting: { forMs: number; producers: { name: string }[] }[] })
    .waiting;
  expect(why?.forMs).toBeGreaterThan(100);
  expect(why?.producers.map(({ name }) => name)).toContain("bulk");
  expect((await call("GET", "/api/why?topic=other")).json).toMatchObject({ waiting: [] });
  expect((await call("GET", "/api/state")).json).toMatchObject({
    waiting: [{ topic: FULL, reason: "topic-rate", limiter: "topic" }],
  });
  expect((await call("GET", "/api/why?topic=a/b")).status).toBe(412);
});

test("metrics and stats count what had to wait, by limiter", async () => {
  const { call, events } = await flooded();
  await until(() => events.find(({ kind }) => kind === "publish-throttled"));
  const { text } = await call("GET", "/metrics");
  const labels = `cluster="standalone",namespace="public/default",topic="${FULL}",limiter="topic"`;
  expect(text).toMatch(new RegExp(`pulsar_publish_rate_limit_times\\{${labels}\\} [1-9]`));
  expect(text).toMatch(
    /sluice_publish_limited_seconds_total\{topic="[^"]+",reason="topic-rate",limiter="topic"\} 0\.\d/,
  );
  expect(text).toMatch(
    /sluice_limit_per_second\{limiter="topic",topic="[^"]+",unit="messages"\} 50\n/,
  );
  expect(text).toMatch(/sluice_limit_balance_tokens\{limiter="topic"/);
  expect(text).toMatch(/sluice_throttle_notices_total \d/);
  const stats = (await call("GET", `${T}/stats`)).json as { publishRateLimitedTimes: number };
  expect(stats.publishRateLimitedTimes).toBeGreaterThan(0);
});

test("a raised limit lets the waiting go at once, and the end of the wait is told", async () => {
  const { call, events } = await flooded();
  await until(() => events.find(({ kind }) => kind === "publish-throttled"));
  const set = await call("PUT", "/api/limits/topic/orders", { messages: "100000/s" });
  expect(set.json).toMatchObject({ from: { messages: 50 }, to: { messages: 100_000 } });
  const resumed = await until(() => events.find(({ kind }) => kind === "publish-resumed"));
  expect(resumed).toMatchObject({ topic: FULL, reason: "topic-rate", limiter: "topic" });
  const decisions = events.map(({ kind }) => kind).filter((kind) => kind !== "producer-told");
  expect(
    decisions.filter((kind) => kind.startsWith("publish-") || kind === "limit-changed"),
  ).toEqual(["publish-throttled", "limit-changed", "publish-resumed"]);
});

test("a name that nothing has is answered with the names that there are", async () => {
  const groups = { bulk: { topics: ["public/bulk/*"], messages: 5 } };
  const { call, connect } = await adminScene({ limits: { groups } });
  const client = await connect();
  await client.createProducer({ topic: "orders" });
  const typo = await call("GET", "/api/why?name=ordrs");
  expect(typo.status).toBe(404);
  expect(typo.json).toMatchObject({
    reason: 'nothing is called "ordrs"; known is bulk, public/default/orders',
  });
  for (const name of ["orders", "public/default/orders", "bulk"])
    expect((await call("GET", `/api/why?name=${name}`)).json).toMatchObject({ waiting: [] });
});
