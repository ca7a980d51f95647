/** Rates of deliveries and of SUBSCRIBE over Pulsar's own paths. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SUB_TYPE } from "@sluice/pulsar/wire";
import { describe, expect, onTestFinished, test } from "vitest";
import { startAdmin } from "../src/admin.ts";
import { startBroker } from "../src/index.ts";
import type { RunningBroker } from "../src/index.ts";
import { adminScene } from "./admin-client.ts";
import { RawClient } from "./raw-client.ts";
import { entryOf } from "./session-driver.ts";

const T = "/admin/v2/persistent/public/default/t";
const N = "/admin/v2/namespaces/public/default";
const RATE = {
  dispatchThrottlingRateInMsg: 10,
  dispatchThrottlingRateInByte: 1_000,
  relativeToPublishRate: false,
  ratePeriodInSecond: 2,
};
const NONE = {
  dispatchThrottlingRateInMsg: 0,
  dispatchThrottlingRateInByte: 0,
  relativeToPublishRate: false,
  ratePeriodInSecond: 1,
};

describe.each([
  ["of a topic", `${T}/dispatchRate`],
  ["of a topic's subscriptions", `${T}/subscriptionDispatchRate`],
  ["of one subscription", `${T}/s/dispatchRate`],
  ["of a namespace", `${N}/dispatchRate`],
  ["of a namespace's subscriptions", `${N}/subscriptionDispatchRate`],
])("the dispatch rate %s", (_, path) => {
  test("is unset, is replaced as a whole, stays by null, and is removed", async () => {
    const { call } = await adminScene();
    await call("PUT", T);
    expect(await call("GET", path)).toMatchObject({ status: 200, text: "" });
    expect((await call("GET", `${path}?applied=true`)).json).toEqual(NONE);
    expect((await call("POST", path, RATE)).status).toBe(204);
    expect((await call("GET", path)).json).toEqual(RATE);
    await call("POST", path, { dispatchThrottlingRateInMsg: 5 });
    const five = {
      dispatchThrottlingRateInMsg: 5,
      dispatchThrottlingRateInByte: -1,
      relativeToPublishRate: false,
      ratePeriodInSecond: 1,
    };
    expect((await call("GET", path)).json).toEqual(five);
    expect((await call("POST", path, "null")).status).toBe(204);
    expect((await call("GET", path)).json).toEqual(five);
    expect((await call("DELETE", path)).status).toBe(204);
    expect((await call("GET", path)).text).toBe("");
  });

  test("refuses what it cannot be, and says why", async () => {
    const { call } = await adminScene();
    await call("PUT", T);
    expect(await call("POST", path, { ...RATE, relativeToPublishRate: true })).toMatchObject({
      status: 405,
      json: { reason: expect.stringMatching(/relativeToPublishRate is not supported/) as string },
    });
    for (const wrong of [
      { dispatchThrottlingRateInMsg: "x" },
      { dispatchThrottlingRateInMsg: 0.5 },
      { ratePeriodInSecond: 0 },
      { ratePeriodInSecond: 2 ** 53 },
      [],
    ])
      expect((await call("POST", path, wrong)).status).toBe(400);
    expect((await call("GET", path)).text).toBe("");
  });
});

test("what applies is the topic's rate, its namespace's, or that of the flow file", async () => {
  const { call } = await adminScene({
    limits: {
      dispatch: {
        topicDefault: { messages: 7 },
        subscriptions: { t: { s: { messages: 8 } } },
        subscriptionDefault: { messages: 9 },
      },
      subscribe: { default: { subscribes: 3, periodMs: 5_000 } },
    },
  });
  await call("PUT", T);
  const applied = async (path: string, field = "dispatchThrottlingRateInMsg"): Promise<unknown> =>
    ((await call("GET", `${path}?applied=true`)).json as Record<string, unknown>)[field];
  expect(await applied(`${T}/dispatchRate`)).toBe(7);
  expect(await applied(`${T}/subscriptionDispatchRate`)).toBe(9);
  expect([await applied(`${T}/s/dispatchRate`), await applied(`${T}/other/dispatchRate`)]).toEqual([
    8, 9,
  ]);
  await call("POST", `${N}/dispatchRate`, RATE);
  expect(await applied(`${T}/dispatchRate`)).toBe(10);
  await call("POST", `${T}/dispatchRate`, { dispatchThrottlingRateInMsg: -1 });
  expect(await applied(`${T}/dispatchRate`)).toBe(-1);
  await call("DELETE", `${T}/dispatchRate`);
  expect(await applied(`${T}/dispatchRate`)).toBe(10);
  await call("DELETE", `${N}/dispatchRate`);
  expect(await applied(`${T}/dispatchRate`)).toBe(7);
  expect(await applied(`${T}/subscribeRate`, "subscribeThrottlingRatePerConsumer")).toBe(3);
});

test("a subscribe rate is unset, set and removed, for topics and namespaces", async () => {
  const { call } = await adminScene();
  await call("PUT", T);
  for (const path of [`${T}/subscribeRate`, `${N}/subscribeRate`]) {
    expect(await call("GET", path)).toMatchObject({ status: 200, text: "" });
    const rate = { subscribeThrottlingRatePerConsumer: 5, ratePeriodInSecond: 30 };
    expect((await call("GET", `${path}?applied=true`)).json).toEqual({
      ...rate,
      subscribeThrottlingRatePerConsumer: 0,
    });
    expect((await call("POST", path, { subscribeThrottlingRatePerConsumer: 5 })).status).toBe(204);
    expect((await call("GET", path)).json).toEqual(rate);
    expect((await call("DELETE", path)).status).toBe(204);
    expect((await call("GET", path)).text).toBe("");
  }
});

test("rates of several subscriptions that are set at once are all kept, whatever their names are", async () => {
  const { call } = await adminScene();
  await call("PUT", T);
  const names = ["a", "b", "__proto__", "constructor", "c"];
  await Promise.all(names.map((name) => call("POST", `${T}/${name}/dispatchRate`, RATE)));
  for (const name of names)
    expect((await call("GET", `${T}/${name}/dispatchRate`)).json).toEqual(RATE);
  await call("DELETE", `${T}/b/dispatchRate`);
  expect((await call("GET", `${T}/b/dispatchRate`)).text).toBe("");
  expect((await call("GET", `${T}/toString/dispatchRate`)).text).toBe("");
});

/** Messages that a new subscription of `t` gets at once: `expected` are awaited, then what follows within five round trips. */
async function gets(
  broker: RunningBroker,
  subscription: string,
  expected: number,
): Promise<number> {
  const client = await RawClient.connected(broker.port);
  try {
    const request = { topic: "t", subscription, subType: SUB_TYPE.shared, consumerId: 1n };
    client.send("subscribe", { ...request, requestId: 1n, initialPosition: 1 });
    await client.next("success");
    client.send("flow", { consumerId: 1n, messagePermits: 1_000 });
    let count = 0;
    for (let quiet = 0; quiet < 5 || count < expected; quiet++) {
      client.send("ping", {});
      for (;;) {
        const { command } = await client.nextAny();
        if (command.kind === "pong") break;
        if (command.kind !== "message") continue;
        count++;
        quiet = 0;
      }
    }
    return count;
  } finally {
    client.close();
  }
}

test("a rate holds at once, after the topic was unloaded, after a restart, and until its topic is deleted", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-dispatch-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const rate = { dispatchThrottlingRateInMsg: 5, ratePeriodInSecond: 3_600 };
  const open = async (): Promise<{
    broker: RunningBroker;
    call: (method: string, path: string, body?: unknown) => Promise<Response>;
    close: () => Promise<void>;
  }> => {
    const broker = await startBroker({ listen: "pulsar://127.0.0.1:0", data: { folder } });
    const admin = await startAdmin({ listen: "127.0.0.1:0", broker, version: "0" });
    return {
      broker,
      call: (method, path, body) =>
        fetch(admin.url + path, {
          method,
          headers: { "content-type": "application/json" },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      close: async () => {
        await admin.close();
        await broker.close();
      },
    };
  };
  const first = await open();
  const producer = await RawClient.connected(first.broker.port);
  producer.send("producer", { topic: "t", producerId: 1n, requestId: 1n });
  await producer.next("producerSuccess");
  for (let i = 0n; i < 20n; i++)
    producer.send("send", { producerId: 1n, sequenceId: i }, entryOf("x"));
  for (let i = 0; i < 20; i++) await producer.next("sendReceipt");
  producer.close();
  expect(await gets(first.broker, "free", 20)).toBe(20);
  await first.call("POST", `${T}/subscriptionDispatchRate`, rate);
  expect(await gets(first.broker, "a", 5)).toBe(5);
  await first.call("PUT", `${T}/unload`);
  expect(await gets(first.broker, "b", 5)).toBe(5);
  const stats = (await (await first.call("GET", `${T}/stats`)).json()) as {
    subscriptions: Record<string, Record<string, number>>;
  };
  expect(stats.subscriptions["b"]).toMatchObject({
    dispatchThrottledMsgEventsBySubscriptionLimit: expect.any(Number) as number,
    dispatchThrottledBytesEventsBySubscriptionLimit: 0,
    dispatchThrottledMsgEventsByTopicLimit: 0,
    dispatchThrottledBytesEventsByTopicLimit: 0,
    dispatchThrottledMsgEventsByBrokerLimit: 0,
    dispatchThrottledBytesEventsByBrokerLimit: 0,
  });
  expect(
    stats.subscriptions["b"]?.["dispatchThrottledMsgEventsBySubscriptionLimit"],
  ).toBeGreaterThan(0);
  await first.close();
  const second = await open();
  expect(await gets(second.broker, "c", 5)).toBe(5);
  await second.call("DELETE", `${T}?force=true`);
  expect(second.broker.administered.dispatch.limits.list()).toEqual([]);
  await second.close();
});
