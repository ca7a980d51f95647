/** Limits of publishing, of deliveries and of SUBSCRIBE at every level, changed over HTTP, for both backends. */
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { startAdmin } from "../src/admin.ts";
import type { AdministrableGateway, StartBrokerOptions } from "../src/index.ts";
import { adminScene } from "./admin-client.ts";
import { endScene, startFront, startUpstream } from "./gateway-scene.ts";

const LIMITS: NonNullable<StartBrokerOptions["limits"]> = {
  topics: { orders: { messages: 1_000 } },
  dispatch: { topics: { orders: { messages: 100 } } },
  subscribe: { topics: { orders: { subscribes: 5 } } },
};

const FULL = "persistent://public/default/orders";
const PLACES: Readonly<Record<string, string>> = {
  "gateway limits topics orders": "flow.yaml:7",
  "gateway limits dispatch topics orders": "flow.yaml:9",
};

type Call = (
  method: string,
  path: string,
  body?: object,
) => Promise<{ readonly status: number; readonly json: unknown }>;

async function administer(broker: AdministrableGateway): Promise<Call> {
  const admin = await startAdmin({
    listen: "127.0.0.1:0",
    broker,
    version: "0",
    placeOf: (path) => PLACES[path.join(" ")],
  });
  onTestFinished(() => admin.close());
  return async (method, path, body) => {
    const response = await fetch(admin.url + path, {
      method,
      ...(body !== undefined && {
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    });
    return { status: response.status, json: await response.json() };
  };
}

const BACKENDS: readonly (readonly [string, () => Promise<AdministrableGateway>])[] = [
  ["the embedded broker", () => startUpstream({ limits: LIMITS })],
  [
    "a gateway in front of a cluster",
    async () => (await startFront("pulsar://127.0.0.1:1", { limits: LIMITS })).gateway,
  ],
];

afterEach(endScene);

const PER_SECOND = { messages: 7 };
const SUBSCRIBES = { subscribes: 3, periodMs: 60_000 };

describe.each(BACKENDS)("%s", (_, start) => {
  test.each([
    ["broker", PER_SECOND, "live"],
    ["default", PER_SECOND, "live"],
    ["namespace/shop/eu", PER_SECOND, "policy"],
    ["topic/shop/eu/t", PER_SECOND, "policy"],
    ["publish/topic/shop/eu/t", PER_SECOND, "policy"],
    ["dispatch/broker", PER_SECOND, "live"],
    ["dispatch/default", PER_SECOND, "live"],
    ["dispatch/subscription-default", PER_SECOND, "live"],
    ["dispatch/namespace/shop/eu", PER_SECOND, "policy"],
    ["dispatch/namespace-subscriptions/shop/eu", PER_SECOND, "policy"],
    ["dispatch/topic/shop/eu/t", PER_SECOND, "policy"],
    ["dispatch/topic-subscriptions/shop/eu/t", PER_SECOND, "policy"],
    ["dispatch/subscription/shop/eu/t/billing", PER_SECOND, "policy"],
    ["subscribe/default", SUBSCRIBES, "live"],
    ["subscribe/namespace/shop/eu", SUBSCRIBES, "policy"],
    ["subscribe/topic/shop/eu/t", SUBSCRIBES, "policy"],
  ])(
    "has no limit of %s, takes one, lists it with its time, and removes it",
    async (path, rate, source) => {
      const call = await administer(await start());
      const url = `/api/limits/${path}`;
      expect((await call("GET", url)).status).toBe(404);
      expect(await call("PUT", url, rate)).toMatchObject({
        status: 200,
        json: { from: null, to: rate },
      });
      const kept = { ...rate, source, setAt: expect.stringMatching(/Z$/) as string };
      expect((await call("GET", url)).json).toMatchObject(kept);
      const all = (await call("GET", "/api/limits")).json as Record<string, readonly object[]>;
      expect(Object.values(all).flat()).toContainEqual(expect.objectContaining(kept));
      expect((await call("PUT", url, { unlimited: true })).status).toBe(200);
      expect((await call("DELETE", url)).json).toMatchObject({ to: null });
      expect((await call("GET", url)).status).toBe(404);
    },
  );

  test("says the line of a limit that the flow file has, and the full name of its topic", async () => {
    const call = await administer(await start());
    expect((await call("GET", "/api/limits")).json).toMatchObject({
      limits: [{ name: FULL, source: "flow file", place: "flow.yaml:7" }],
      dispatch: [{ level: "topic", name: FULL, source: "flow file", place: "flow.yaml:9" }],
      subscribe: [{ level: "topic", name: FULL, subscribes: 5, periodMs: 30_000 }],
    });
    const changed = { messages: "5/s" };
    await call("PUT", "/api/limits/dispatch/topic/orders", changed);
    expect((await call("GET", "/api/limits/dispatch/topic/orders")).json).not.toHaveProperty(
      "place",
    );
    expect((await call("DELETE", "/api/limits/dispatch/topic/orders")).json).toMatchObject({
      from: { messages: 5 },
      to: { messages: 100 },
    });
    expect(await call("DELETE", "/api/limits/dispatch/topic/orders")).toMatchObject({
      status: 409,
      json: {
        reason: expect.stringContaining('dispatch.topics."public/default/orders"') as string,
      },
    });
  });

  test.each([
    ["GET", "/api/limits/dispatch/group/g", 405, /a group has no limit of deliveries; set one for/],
    ["PUT", "/api/limits/subscribe/broker", 405, /a broker has no limit of SUBSCRIBE/],
    [
      "GET",
      "/api/limits/dispatch/subscription/orders",
      404,
      /write broker, default, subscription-/,
    ],
    ["GET", "/api/limits/subscribe/subscription/a/b", 404, /write default, namespace/],
    [
      "PUT",
      "/api/limits/subscribe/default",
      400,
      /expected \{"subscribes": 10, "periodMs": 30000\}/,
    ],
    ["PUT", "/api/limits/dispatch/broker", 400, /expected \{"messages": "1000\/s"/],
    ["GET", "/api/why?topc=x", 400, /the query has "topc".*did you mean topic\? known: topic/],
    ["GET", "/api/limits?level=topic", 400, /"level".*known: none/],
    ["GET", "/api/state?topic=x", 400, /"topic".*known: none/],
  ])("refuses %s %s by name", async (method, path, status, reason) => {
    const call = await administer(await start());
    const answer = await call(method, path, method === "PUT" ? {} : undefined);
    expect([answer.status, answer.json]).toEqual([
      status,
      { reason: expect.stringMatching(reason) as string },
    ]);
  });
});

const MOST = 2 ** 53 - 1;

test.each([
  ["dispatchRate", "dispatchThrottlingRateInMsg", 1_000_000_000],
  ["subscribeRate", "subscribeThrottlingRatePerConsumer", 1],
])(
  "the largest %s is taken and holds; a larger one is refused and changes nothing",
  async (name, key, ratePeriodInSecond) => {
    const { call, errors } = await adminScene();
    const path = `/admin/v2/namespaces/public/default/${name}`;
    const largest = { [key]: MOST, ratePeriodInSecond };
    expect((await call("POST", path, largest)).status).toBe(204);
    expect(JSON.parse((await call("GET", path)).text)).toMatchObject(largest);
    const larger = await call("POST", path, { [key]: 2 ** 53, ratePeriodInSecond });
    expect([larger.status, larger.text]).toEqual([400, expect.stringContaining(key)]);
    const longer = await call("POST", path, { [key]: 1, ratePeriodInSecond: 2 ** 53 });
    expect([longer.status, longer.text]).toEqual([400, expect.stringContaining("ratePeriod")]);
    expect(JSON.parse((await call("GET", path)).text)).toMatchObject(largest);
    // Later changes of the namespace still hold.
    const ttl = await call("POST", "/admin/v2/namespaces/public/default/messageTTL", 60);
    expect(ttl.status).toBe(204);
    expect(errors).toEqual([]);
  },
);
