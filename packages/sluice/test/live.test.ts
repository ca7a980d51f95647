import { systemTimer, systemWallClock } from "@sluice/core/system";
import { startBroker } from "@sluice/gateway";
import { EventFeed, startAdmin } from "@sluice/gateway/admin";
import { connect } from "@sluice/pulsar";
import { expect, onTestFinished, test } from "vitest";
import { openDashboard } from "../src/live/dashboard.ts";
import type { LiveHello, LiveMessages, LiveTopicDetail } from "../src/live/live-message.ts";
import { SAMPLE_FORMAT, unpackSample } from "../src/live/packed-sample.ts";

const TOKEN = "a-token-of-some-length";

function onError(error: unknown): never {
  throw error;
}

/** A broker with its administration and dashboard, as `sluice broker --admin` serves them. */
async function scene(
  admin: { readonly token?: string; readonly readWithoutToken?: boolean } = {},
): Promise<{ readonly url: string; readonly brokerUrl: string }> {
  const events = new EventFeed(systemWallClock);
  const broker = await startBroker({
    listen: "pulsar://127.0.0.1:0",
    data: "memory",
    limits: { topics: { "public/default/orders": { messages: 50 } } },
    observe: (event) => events.push(event),
  });
  const dashboard = openDashboard(
    { gateway: broker, pipelines: undefined, shared: undefined, placeOf: () => undefined },
    {
      timer: systemTimer,
      wallClock: systemWallClock,
      events,
      onError,
      version: "0.0.0-test",
      title: { flow: "test" },
    },
  );
  const { routes } = dashboard;
  const running = await startAdmin({
    listen: "127.0.0.1:0",
    broker,
    events,
    version: "0.0.0-test",
    routes,
    ...admin,
  });
  onTestFinished(async () => {
    await dashboard.close();
    await running.close();
    await broker.close();
  });
  return { url: running.url, brokerUrl: broker.url };
}

/** Messages of a stream, as far as it has been read. */
class Reader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #rest = "";

  constructor(response: Response) {
    if (response.body === null) throw new Error("the answer has no body");
    this.#reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    onTestFinished(() => this.#reader.cancel());
  }

  /** The next message of this name that fits. */
  async next<K extends keyof LiveMessages>(
    name: K,
    fits: (message: LiveMessages[K]) => boolean = () => true,
  ): Promise<LiveMessages[K]> {
    for (;;) {
      const end = this.#rest.indexOf("\n\n");
      if (end === -1) {
        const { value, done } = await this.#reader.read();
        if (done) throw new Error(`the stream ended before ${name}`);
        this.#rest += this.#decoder.decode(value, { stream: true });
        continue;
      }
      const text = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + 2);
      if (!text.startsWith(`event: ${name}\n`)) continue;
      const message = JSON.parse(text.slice(text.indexOf("data: ") + 6)) as LiveMessages[K];
      if (fits(message)) return message;
    }
  }
}

test("a page sees what a real producer gets, what it waits for, and the topic that it looks at", async () => {
  const { url, brokerUrl } = await scene();
  const client = await connect(brokerUrl);
  onTestFinished(() => client.close());
  const producer = await client.createProducer({ topic: "orders", name: "bulk" });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const sending = (async () => {
    while (!stop.signal.aborted) {
      await Promise.all(
        Array.from({ length: 50 }, () => producer.send({ data: Buffer.from("x") })),
      );
    }
  })().catch(() => undefined);
  const reader = new Reader(await fetch(`${url}/api/live?topic=public/default/orders`));
  expect(await reader.next("hello")).toMatchObject({
    flow: "test",
    format: SAMPLE_FORMAT,
    canChange: true,
    sampleMs: 500,
  });
  const packed = await reader.next("sample", (one) => unpackSample(one).waits.length > 0);
  const sample = unpackSample(packed);
  expect(sample.gateway?.topics[0]).toMatchObject({
    name: "public/default/orders",
    limit: { messages: 50 },
    producers: 1,
    waiting: 1,
    reason: "topic-rate",
  });
  expect(sample.gateway?.producers[0]).toMatchObject({ name: "bulk", isAskedAtLeast: true });
  expect(sample.waits[0]).toMatchObject({
    kind: "publish",
    topics: ["public/default/orders"],
    why: { reason: "topic-rate", producers: [{ name: "bulk" }] },
  });
  expect(JSON.stringify(packed).length).toBeLessThan(4_096);
  const detail: LiveTopicDetail = await reader.next("topic", ({ turns }) => turns.length > 0);
  expect(detail).toMatchObject({ setting: { level: "topic" }, rows: [{ name: "bulk" }] });
  expect(detail.rows[0]?.waitP99Ms).toBeGreaterThan(0);
  // The change was told while the reader looked for the sample: a page that comes now finds it among the latest.
  const later = new Reader(await fetch(`${url}/api/live`));
  expect((await later.next("changes")).map(({ kind }) => kind)).toContain("publish-throttled");
  stop.abort();
  await sending;
});

test("a page that comes later is sent the samples from before", async () => {
  const { url } = await scene();
  await systemTimer.sleep(1_200);
  const reader = new Reader(await fetch(`${url}/api/live`));
  expect((await reader.next("past")).length).toBeGreaterThanOrEqual(2);
});

test("more pages than there is room for are told so, and the others go on", async () => {
  const { url } = await scene();
  const answers = await Promise.all(Array.from({ length: 60 }, () => fetch(`${url}/api/live`)));
  const served = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 503);
  expect([served.length, refused.length]).toEqual([32, 28]);
  expect(await refused[0]?.text()).toContain("32 pages read /api/live already");
  // A connection that is kept would be one less for the others.
  expect(refused.map(({ headers }) => headers.get("connection"))).not.toContain("keep-alive");
  const [first] = served.map((answer) => new Reader(answer));
  await first?.next("sample");
});

test("with readWithoutToken a page reads without the token, and may not change", async () => {
  const { url } = await scene({ token: TOKEN, readWithoutToken: true });
  const helloOf = async (headers: Record<string, string>): Promise<LiveHello> =>
    new Reader(await fetch(`${url}/api/live`, { headers })).next("hello");
  expect(await helloOf({})).toMatchObject({ canChange: false });
  expect(await helloOf({ authorization: `Bearer ${TOKEN}` })).toMatchObject({ canChange: true });
  const body = { method: "PUT", body: "{}", headers: { "content-type": "application/json" } };
  expect((await fetch(`${url}/api/limits/broker`, body)).status).toBe(401);
  expect((await fetch(`${url}/admin/v2/clusters`)).status).toBe(401);
});

test("by default the stream needs the token, and the page's own files do not", async () => {
  const { url } = await scene({ token: TOKEN });
  expect((await fetch(`${url}/api/live`)).status).toBe(401);
  expect((await fetch(url)).status).not.toBe(401);
});

test("a page of another origin reads no stream and changes no limit", async () => {
  const { url } = await scene();
  for (const headers of [
    { origin: "http://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ] as Record<string, string>[]) {
    expect((await fetch(`${url}/api/live`, { headers })).status).toBe(403);
    const change = { method: "PUT", body: '{"messages":"1/s"}' };
    const type = { "content-type": "application/json" };
    const changed = await fetch(`${url}/api/limits/broker`, {
      ...change,
      headers: { ...headers, ...type },
    });
    expect(changed.status).toBe(403);
  }
  const form = { "content-type": "text/plain" };
  const simple = await fetch(`${url}/api/limits/broker`, {
    method: "PUT",
    body: "{}",
    headers: form,
  });
  expect(simple.status).toBe(415);
});

test("a page looks at a topic with the longest name that there can be", async () => {
  const { url, brokerUrl } = await scene();
  const client = await connect(brokerUrl);
  onTestFinished(() => client.close());
  const topic = `public/default/${"n".repeat(990)}`;
  await client.createProducer({ topic });
  const reader = new Reader(await fetch(`${url}/api/live?topic=${topic}`));
  expect((await reader.next("topic")).isMissing).toBeUndefined();
});

test("a query that is too long or not known is refused", async () => {
  const { url } = await scene();
  expect((await fetch(`${url}/api/live?topic=${"x".repeat(4_097)}`)).status).toBe(400);
  expect((await fetch(`${url}/api/live?topic=${"x".repeat(40_000)}`)).status).toBe(431);
  expect((await fetch(`${url}/api/live?topics=x`)).status).toBe(400);
});
