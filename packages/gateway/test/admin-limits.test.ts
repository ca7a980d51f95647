/** Limits of publishing over HTTP: our own paths, and Pulsar's. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemWallClock } from "@sluice/core/system";
import { describe, expect, onTestFinished, test } from "vitest";
import { EventFeed, startAdmin } from "../src/admin.ts";
import { startBroker } from "../src/index.ts";
import { adminScene } from "./admin-client.ts";

const T = "/admin/v2/persistent/public/default/orders";
const N = "/admin/v2/namespaces/public/default";
const ORDERS = "/api/limits/topic/public%2Fdefault%2Forders";
const LIMITS = {
  broker: { messages: 50_000 },
  groups: { analytics: { topics: ["public/analytics/*"], messages: 5_000 } },
  topics: { orders: { messages: 1_000, bytes: 10_000_000 } },
};

describe("/api/limits", () => {
  test.each(["broker", "group/analytics"])(
    "takes {unlimited: true} of %s back with DELETE, and the flow file's limit holds again",
    async (target) => {
      const { call } = await adminScene({ limits: LIMITS });
      const before = await call("GET", `/api/limits/${target}`);
      await call("PUT", `/api/limits/${target}`, { unlimited: true });
      const lifted = await call("GET", `/api/limits/${target}`);
      expect(lifted.json).toMatchObject({ messages: null, bytes: null, source: "live" });
      expect((await call("DELETE", `/api/limits/${target}`)).status).toBe(200);
      expect((await call("GET", `/api/limits/${target}`)).json).toEqual(before.json);
    },
  );

  test("lists every limit with where it comes from and where it is set", async () => {
    const { call } = await adminScene({ limits: LIMITS });
    await call("PUT", "/api/limits/default", { bytes: "1MB/s" });
    await call("PUT", "/api/limits/namespace/public/default", { messages: 10 });
    const flow = { source: "flow file" };
    expect((await call("GET", "/api/limits")).json).toEqual({
      limits: [
        {
          level: "broker",
          messages: 50_000,
          bytes: null,
          ...flow,
          setting: "gateway.limits.broker",
        },
        {
          level: "group",
          name: "analytics",
          messages: 5_000,
          bytes: null,
          ...flow,
          setting: "gateway.limits.groups.analytics",
          topics: ["public/analytics/*"],
        },
        {
          level: "default",
          messages: null,
          bytes: 1_000_000,
          source: "live",
          setting: "gateway.limits.topicDefault",
          setAt: expect.stringMatching(/Z$/) as string,
        },
        {
          level: "namespace",
          name: "public/default",
          messages: 10,
          bytes: null,
          source: "policy",
          setting: 'gateway.limits.namespaces."public/default"',
          setAt: expect.stringMatching(/Z$/) as string,
        },
        {
          level: "topic",
          name: "persistent://public/default/orders",
          messages: 1_000,
          bytes: 10_000_000,
          ...flow,
          setting: 'gateway.limits.topics."public/default/orders"',
        },
      ],
      dispatch: [],
      subscribe: [],
      leftOut: 0,
    });
  });

  test("lists the limits of deliveries with where they come from and where they are set", async () => {
    const { call } = await adminScene({
      limits: {
        dispatch: {
          broker: { bytes: 1_000_000 },
          subscriptions: { orders: { billing: { messages: 5 } } },
        },
      },
    });
    await call("POST", `${N}/dispatchRate`, {
      dispatchThrottlingRateInMsg: 9,
      ratePeriodInSecond: 3,
    });
    expect((await call("GET", "/api/limits")).json).toMatchObject({
      dispatch: [
        {
          level: "broker",
          messages: null,
          bytes: 1_000_000,
          periodMs: 1_000,
          source: "flow file",
          setting: "gateway.limits.dispatch.broker",
        },
        {
          level: "subscription",
          topic: "persistent://public/default/orders",
          name: "billing",
          messages: 5,
          source: "flow file",
          setting: 'gateway.limits.dispatch.subscriptions."public/default/orders".billing',
        },
        {
          level: "namespace",
          name: "public/default",
          messages: 9,
          periodMs: 3_000,
          source: "policy",
        },
      ],
    });
  });

  test("sets and removes a limit, and answers what was before", async () => {
    const { call } = await adminScene({ limits: LIMITS });
    expect(await call("PUT", ORDERS, { messages: "3300/s" })).toMatchObject({
      status: 200,
      json: {
        level: "topic",
        name: "persistent://public/default/orders",
        from: { messages: 1_000, bytes: 10_000_000 },
        to: { messages: 3_300 },
      },
    });
    // The same topic by the parts of its name.
    const path = "/api/limits/topic/public/default/orders";
    expect((await call("GET", path)).json).toMatchObject({ messages: 3_300, source: "policy" });
    expect((await call("DELETE", path)).json).toMatchObject({ to: { messages: 1_000 } });
    expect(await call("DELETE", path)).toMatchObject({
      status: 409,
      json: { reason: expect.stringMatching(/flow file.*set another one/) as string },
    });
    await call("PUT", path, { unlimited: true });
    expect((await call("GET", path)).json).toMatchObject({ messages: null, bytes: null });
    expect((await call("GET", "/api/limits/topic/none")).status).toBe(404);
  });

  test.each([
    [
      "/api/limits/topic/t",
      { messages: "100/min" },
      /whole number of messages per second, such as 1\/s or 2\/s/,
    ],
    ["/api/limits/topic/t", { messages: 0 }, /messages is 0; it must be a whole number from 1/],
    ["/api/limits/topic/t", { messages: 1.5 }, /messages is 1.5/],
    ["/api/limits/topic/t", { message: 1 }, /"message" is not known here; expected \{"messages"/],
    ["/api/limits/topic/t", {}, /the body is \{\}; expected/],
    ["/api/limits/topic/t", { messages: 1, unlimited: true }, /expected/],
    ["/api/limits/topic/t", [], /must be a JSON object/],
    ["/api/limits/group/none", { messages: 1 }, /no group "none" \(there are: analytics\)/],
    ["/api/limits/namespace/x", { messages: 1 }, /tenant\/namespace/],
  ])("PUT %s with %j says what is expected", async (path, body, reason) => {
    const { call, errors } = await adminScene({ limits: LIMITS });
    expect(await call("PUT", path, body)).toMatchObject({
      status: 400,
      json: { reason: expect.stringMatching(reason) as string },
    });
    expect(errors).toEqual([]);
  });

  test("levels that do not exist are refused with those that do", async () => {
    const { call } = await adminScene();
    for (const path of ["/api/limits/cluster", "/api/limits/broker/x", "/api/limits/topic"])
      expect((await call("PUT", path, { messages: 1 })).json).toEqual({
        reason: expect.stringMatching(/write broker, default, group\/NAME/) as string,
      });
  });

  test("a change is an event and survives a restart and the unloading of its topic", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-limits-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const seen: string[] = [];
    for (const run of ["first", "second"]) {
      const broker = await startBroker({
        listen: "pulsar://127.0.0.1:0",
        data: { folder },
        limits: LIMITS,
        observe: ({ kind }) => seen.push(kind),
      });
      const admin = await startAdmin({ listen: "127.0.0.1:0", broker, version: "0" });
      const get = async (path: string): Promise<unknown> => (await fetch(admin.url + path)).json();
      if (run === "first") {
        for (const path of [ORDERS, "/api/limits/broker"])
          await fetch(admin.url + path, {
            method: "PUT",
            headers: { "content-type": "application/json" },
            body: '{"messages": 7}',
          });
        await fetch(admin.url + T, { method: "PUT" });
        await fetch(`${admin.url}${T}/unload`, { method: "PUT" });
      }
      expect(await get(ORDERS)).toMatchObject({ messages: 7 });
      expect(await get("/api/limits/broker")).toMatchObject({ messages: 7 });
      expect(await get(`${T}/publishRate`)).toEqual({
        publishThrottlingRateInMsg: 7,
        publishThrottlingRateInByte: -1,
      });
      await admin.close();
      await broker.close();
    }
    expect(seen).toEqual(["limit-changed", "limit-changed"]);
  });
});

describe("publish rates of Pulsar's tools", () => {
  test("of a topic: unset is 204, POST replaces all of it, DELETE gives it back", async () => {
    const { call } = await adminScene();
    await call("PUT", T);
    expect(await call("GET", `${T}/publishRate`)).toMatchObject({ status: 204, text: "" });
    const rate = { publishThrottlingRateInMsg: 100, publishThrottlingRateInByte: 1_000 };
    expect((await call("POST", `${T}/publishRate`, rate)).status).toBe(204);
    expect((await call("GET", `${T}/publishRate`)).json).toEqual(rate);
    expect((await call("GET", ORDERS)).json).toMatchObject({ messages: 100, bytes: 1_000 });
    await call("POST", `${T}/publishRate`, { publishThrottlingRateInMsg: "5" });
    expect((await call("GET", ORDERS)).json).toMatchObject({ messages: 5, bytes: null });
    expect((await call("POST", `${T}/publishRate`, "null")).status).toBe(204);
    expect((await call("GET", ORDERS)).json).toMatchObject({ messages: 5 });
    expect((await call("DELETE", `${T}/publishRate`)).status).toBe(204);
    expect((await call("GET", ORDERS)).status).toBe(404);
    expect((await call("POST", `${T}-2/publishRate`, rate)).status).toBe(404);
  });

  test("of a namespace: each of its topics has it; a topic without a limit stays so", async () => {
    const { call } = await adminScene();
    expect(await call("GET", `${N}/publishRate`)).toMatchObject({ status: 200, text: "" });
    const rate = { publishThrottlingRateInMsg: 10, publishThrottlingRateInByte: -1 };
    expect((await call("POST", `${N}/publishRate`, rate)).status).toBe(204);
    expect((await call("GET", `${N}/publishRate`)).json).toEqual(rate);
    await call("PUT", T);
    const none = { publishThrottlingRateInMsg: 0, publishThrottlingRateInByte: -5 };
    await call("POST", `${T}/publishRate`, none);
    expect((await call("GET", ORDERS)).json).toMatchObject({ messages: null, bytes: null });
    await call("DELETE", T);
    expect((await call("GET", ORDERS)).status).toBe(404);
    expect(
      (await call("POST", `${N}/publishRate`, { publishThrottlingRateInMsg: "x" })).status,
    ).toBe(400);
  });
});

describe("resource groups of Pulsar's tools", () => {
  const G = "/admin/v2/resourcegroups";
  const NONE = { dispatchRateInMsgs: -1, dispatchRateInBytes: -1 };

  test("are created, merged, assigned and deleted", async () => {
    const { call } = await adminScene();
    expect((await call("GET", G)).json).toEqual([]);
    expect((await call("PUT", `${G}/tenants`, { publishRateInMsgs: 100 })).status).toBe(204);
    expect(
      (await call("PUT", `${G}/tenants`, { publishRateInBytes: 2_000, publishRateInMsgs: null }))
        .status,
    ).toBe(204);
    expect((await call("GET", `${G}/tenants`)).json).toEqual({
      publishRateInMsgs: 100,
      publishRateInBytes: 2_000,
      ...NONE,
    });
    expect((await call("GET", G)).json).toEqual(["tenants"]);
    expect(await call("GET", `${N}/resourcegroup`)).toMatchObject({ status: 200, text: "" });
    expect((await call("POST", `${N}/resourcegroup/none`)).status).toBe(412);
    expect((await call("POST", `${N}/resourcegroup/tenants`)).status).toBe(204);
    expect((await call("GET", `${N}/resourcegroup`)).text).toBe("tenants");
    expect((await call("GET", "/api/limits/group/tenants")).json).toMatchObject({
      messages: 100,
      bytes: 2_000,
      source: "policy",
    });
    expect(await call("DELETE", `${G}/tenants`)).toMatchObject({
      status: 412,
      json: { reason: "ResourceGroup is in use" },
    });
    expect((await call("DELETE", `${N}/resourcegroup`)).status).toBe(204);
    expect((await call("DELETE", `${G}/tenants`)).status).toBe(204);
    expect((await call("GET", `${G}/tenants`)).status).toBe(404);
    expect((await call("DELETE", `${G}/tenants`)).status).toBe(404);
  });

  test("of the flow file are groups too, and stay", async () => {
    const { call } = await adminScene({ limits: LIMITS });
    expect((await call("GET", `${G}/analytics`)).json).toMatchObject({ publishRateInMsgs: 5_000 });
    await call("PUT", `${G}/analytics`, { publishRateInBytes: 10 });
    expect((await call("GET", "/api/limits/group/analytics")).json).toMatchObject({
      messages: 5_000,
      bytes: 10,
      source: "live",
    });
    expect((await call("DELETE", `${G}/analytics`)).status).toBe(412);
    expect((await call("DELETE", "/api/limits/group/analytics")).json).toMatchObject({
      to: { messages: 5_000 },
    });
  });

  test("have no dispatch rates, and say so with the way out", async () => {
    const { call } = await adminScene();
    expect(await call("PUT", `${G}/g`, { dispatchRateInMsgs: 5 })).toMatchObject({
      status: 405,
      json: { reason: expect.stringMatching(/set dispatchRate of the namespaces/) as string },
    });
  });
});

test("an event of a changed limit says from what to what", async () => {
  const events = new EventFeed(systemWallClock);
  const observe = (event: Parameters<typeof events.push>[0]): void => events.push(event);
  const { call } = await adminScene({ limits: LIMITS, observe }, { events });
  await call("PUT", ORDERS, { messages: 3_300 });
  const texts: unknown[] = [];
  events.listen(({ event }) => texts.push(event), 0);
  expect(texts).toEqual([
    {
      kind: "limit-changed",
      target: "topic persistent://public/default/orders",
      from: { messages: 1_000, bytes: 10_000_000 },
      to: { messages: 3_300 },
      by: "the admin API",
    },
  ]);
});
