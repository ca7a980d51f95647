/** Pulsar's own admin paths, as pulsar-admin and clients with an http:// service URL call them. */
import { describe, expect, test } from "vitest";
import { adminScene } from "./admin-client.ts";
import type { AdminScene } from "./admin-client.ts";

const T = "/admin/v2/persistent/public/default/t";
const N = "/admin/v2/namespaces/public/default";

async function sceneWithMessages(count: number): Promise<AdminScene> {
  const scene = await adminScene();
  const client = await scene.connect();
  const consumer = await client.subscribe({ topic: "t", subscription: "s" });
  const producer = await client.createProducer({ topic: "t", batching: false });
  for (let index = 0; index < count; index++)
    await producer.send({ data: Buffer.from(`m${index}`), properties: { index: `${index}` } });
  await producer.close();
  await consumer.close();
  return scene;
}

describe("lookup", () => {
  test("a client is sent to the broker, with the field that the C++ client reads unseen", async () => {
    const { call, url } = await adminScene();
    const { status, json, headers } = await call(
      "GET",
      "/lookup/v2/topic/persistent/public/default/t",
    );
    expect([status, headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(json).toMatchObject({
      brokerUrl: expect.stringMatching(/^pulsar:\/\/127\.0\.0\.1:\d+$/) as string,
      httpUrl: url,
      brokerUrlSsl: "",
    });
    expect(json).toHaveProperty("nativeUrl", (json as { brokerUrl: string }).brokerUrl);
    const named = await call(
      "GET",
      "/lookup/v2/topic/persistent/public/default/t?listenerName=outside",
    );
    expect([named.status, named.json]).toEqual([
      412,
      { reason: 'there is no listener "outside"; connect without a listener name' },
    ]);
  });

  test("partitions of an unknown topic are 0 only where the topic may be created", async () => {
    const { call } = await adminScene();
    const unknown = await call("GET", `${T}/partitions`);
    expect([unknown.status, unknown.json]).toEqual([
      404,
      { reason: "Topic persistent://public/default/t not found" },
    ]);
    const creatable = await call("GET", `${T}/partitions?checkAllowAutoCreation=true`);
    expect(creatable.json).toEqual({ partitions: 0, deleted: false });
    expect((await call("GET", N + "/topics")).json).toEqual([]);
  });

  test("topics of a namespace by mode, and 404 for a namespace that does not exist", async () => {
    const { call } = await adminScene();
    await call("PUT", T, {});
    await call("PUT", "/admin/v2/non-persistent/public/default/np");
    const persistent = ["persistent://public/default/t"];
    expect((await call("GET", `${N}/topics`)).json).toEqual(persistent);
    expect((await call("GET", `${N}/topics?mode=PERSISTENT`)).json).toEqual(persistent);
    expect((await call("GET", `${N}/topics?mode=ALL`)).json).toHaveLength(2);
    expect((await call("GET", `${N}/topics?mode=SOME`)).status).toBe(400);
    const none = await call("GET", "/admin/v2/namespaces/no/where/topics");
    expect([none.status, none.json]).toEqual([404, { reason: "Namespace does not exist" }]);
  });
});

describe("topics", () => {
  test("are created once, listed, and deleted with their policies", async () => {
    const { call } = await adminScene();
    const created = await call("PUT", T, {});
    expect([created.status, created.text, created.headers.get("content-type")]).toEqual([
      204,
      "",
      null,
    ]);
    expect((await call("PUT", T)).json).toEqual({ reason: "This topic already exists" });
    expect((await call("GET", "/admin/v2/persistent/public/default")).json).toEqual([
      "persistent://public/default/t",
    ]);
    expect((await call("GET", "/admin/v2/non-persistent/public/default")).json).toEqual([]);
    await call("POST", `${T}/messageTTL?messageTTL=60`);
    expect((await call("DELETE", `${T}?force=false`)).status).toBe(204);
    expect((await call("DELETE", T)).status).toBe(404);
    await call("PUT", T);
    expect((await call("GET", `${T}/messageTTL`)).text).toBe("");
  });

  test("of a namespace that does not exist are not created", async () => {
    const { call } = await adminScene();
    const path = "/admin/v2/persistent/no/where/t";
    expect(await call("PUT", path)).toMatchObject({
      status: 404,
      json: { reason: "Namespace not found" },
    });
    expect((await call("PUT", `${path}/partitions`, 2)).status).toBe(404);
  });

  test("that are used are deleted only by force", async () => {
    const { call, connect } = await adminScene();
    const client = await connect();
    await client.createProducer({ topic: "t" });
    expect((await call("DELETE", T)).status).toBe(412);
    expect((await call("DELETE", `${T}?force=true`)).status).toBe(204);
  });

  test.each([
    ["a number", 3, "application/json"],
    [
      "metadata",
      { partitions: 3, properties: null },
      "application/vnd.partitioned-topic-metadata+json",
    ],
    ["a number as a string", '"3"', "application/json"],
  ])("have partitions that are given as %s", async (_, body, type) => {
    const { call } = await adminScene();
    expect((await call("PUT", `${T}/partitions`, body, { "content-type": type })).status).toBe(204);
    expect((await call("PUT", `${T}/partitions`, 3)).status).toBe(409);
    expect((await call("GET", `${T}/partitions`)).json).toMatchObject({ partitions: 3 });
    expect((await call("GET", "/admin/v2/persistent/public/default")).json).toHaveLength(3);
    expect((await call("GET", "/admin/v2/persistent/public/default/partitioned")).json).toEqual([
      "persistent://public/default/t",
    ]);
    expect((await call("POST", `${T}/partitions`, 2)).status).toBe(422);
    expect((await call("POST", `${T}/partitions`, 5)).status).toBe(204);
    expect((await call("GET", `${T}/partitions`)).json).toMatchObject({ partitions: 5 });
    expect((await call("DELETE", T)).status).toBe(409);
    expect((await call("DELETE", `${T}/partitions`)).status).toBe(204);
    expect((await call("GET", "/admin/v2/persistent/public/default")).json).toEqual([]);
  });

  test.each([0, -1, 1_000_000])("with %d partitions are refused with 406", async (count) => {
    const { call } = await adminScene();
    expect((await call("PUT", `${T}/partitions`, count)).status).toBe(406);
  });

  test("named like a partition of no topic are refused with 412", async () => {
    const { call } = await adminScene();
    expect((await call("PUT", `${T}-partition-0`)).status).toBe(412);
    await call("PUT", `${T}/partitions`, 1);
    expect((await call("PUT", `${T}-partition-0/partitions`, 2)).status).toBe(412);
  });

  test("that are terminated take no more messages; the answer is the last id", async () => {
    const { call, connect } = await sceneWithMessages(2);
    const { status, json } = await call("POST", `${T}/terminate`);
    expect([status, json]).toMatchObject([200, { entryId: 1, partitionIndex: -1 }]);
    const client = await connect();
    await expect(client.createProducer({ topic: "t" })).rejects.toThrow(/terminated/i);
    expect((await call("POST", "/admin/v2/non-persistent/public/default/n/terminate")).status).toBe(
      405,
    );
  });

  test("that are unloaded go on with what they had", async () => {
    const { call } = await sceneWithMessages(2);
    expect((await call("PUT", `${T}/unload`)).status).toBe(204);
    expect((await call("GET", `${T}/subscriptions`)).json).toEqual(["s"]);
    expect((await call("GET", `${T}/lastMessageId`)).json).toMatchObject({ entryId: 1 });
  });
});

describe("subscriptions", () => {
  test("are created at a place, listed, skipped, moved and deleted", async () => {
    const { call } = await sceneWithMessages(5);
    const backlog = async (): Promise<unknown> => {
      const { json } = await call("GET", `${T}/stats`);
      const { subscriptions } = json as { subscriptions: Record<string, { msgBacklog: number }> };
      return Object.fromEntries(Object.entries(subscriptions).map(([k, v]) => [k, v.msgBacklog]));
    };
    const latest =
      '{"ledgerId":9223372036854775807,"entryId":9223372036854775807,"partitionIndex":-1}';
    expect((await call("PUT", `${T}/subscription/late`, latest)).status).toBe(204);
    expect((await call("PUT", `${T}/subscription/late`, latest)).status).toBe(409);
    expect(
      (await call("PUT", `${T}/subscription/early`, { ledgerId: -1, entryId: -1 })).status,
    ).toBe(204);
    expect((await call("PUT", `${T}/subscription/none`)).status).toBe(204);
    expect(await backlog()).toEqual({ s: 5, late: 0, early: 5, none: 0 });

    expect((await call("POST", `${T}/subscription/s/skip/2`)).status).toBe(204);
    expect((await call("POST", `${T}/subscription/early/skip_all`)).status).toBe(204);
    expect(await backlog()).toMatchObject({ s: 3, early: 0 });
    const id = { ledgerId: 0, entryId: 1, partitionIndex: -1, batchIndex: -1, excluded: true };
    expect((await call("POST", `${T}/subscription/early/resetcursor`, id)).status).toBe(204);
    expect((await call("POST", `${T}/subscription/late/resetcursor/0`)).status).toBe(204);
    expect(await backlog()).toMatchObject({ early: 3, late: 5 });

    expect((await call("DELETE", `${T}/subscription/late?force=false`)).status).toBe(204);
    expect((await call("DELETE", `${T}/subscription/late`)).status).toBe(404);
    expect((await call("POST", `${T}/subscription/gone/skip_all`)).status).toBe(404);
    expect((await call("GET", `${T}/subscriptions`)).json).toEqual(["early", "none", "s"]);
  });

  test("have names that arrive encoded twice", async () => {
    const { call } = await sceneWithMessages(0);
    expect((await call("PUT", `${T}/subscription/a%252Fb%252B1`)).status).toBe(204);
    expect((await call("GET", `${T}/subscriptions`)).json).toEqual(["a/b+1", "s"]);
    expect((await call("DELETE", `${T}/subscription/a%252Fb%252B1`)).status).toBe(204);
  });

  test("of all partitions are handled together, messages one partition at a time", async () => {
    const { call } = await adminScene();
    await call("PUT", `${T}/partitions`, 2);
    expect((await call("PUT", `${T}/subscription/s`)).status).toBe(204);
    expect((await call("GET", `${T}/subscriptions`)).json).toEqual(["s"]);
    expect((await call("POST", `${T}/subscription/s/skip_all`)).status).toBe(204);
    expect((await call("POST", `${T}/subscription/s/skip/1`)).status).toBe(405);
    expect((await call("GET", `${T}/ledger/0/entry/0`)).status).toBe(405);
    expect((await call("DELETE", `${T}/subscription/s`)).status).toBe(204);
  });
});

test("a topic's name that has percent signs is the one that clients use", async () => {
  const { call, connect } = await adminScene();
  const client = await connect();
  await client.createProducer({ topic: "persistent://public/default/a%2Fb" });
  expect((await call("GET", "/admin/v2/persistent/public/default/a%252Fb/stats")).status).toBe(200);
});

describe("messages", () => {
  test("come by id, by place and from both ends, with their metadata in headers", async () => {
    const { call } = await sceneWithMessages(3);
    const byId = await call("GET", `${T}/ledger/0/entry/1`);
    expect(byId.text).toBe("m1");
    expect(byId.headers.get("x-pulsar-message-id")).toBe("0:1");
    expect(byId.headers.get("x-pulsar-property")).toBe('{"index":"1"}');
    expect(byId.headers.get("x-pulsar-publish-time")).toMatch(/^\d{4}-\d\d-\d\dT.+Z$/);
    expect((await call("GET", `${T}/subscription/s/position/3`)).text).toBe("m2");
    expect((await call("GET", `${T}/subscription/s/position/4`)).status).toBe(404);
    expect((await call("GET", `${T}/ledger/7/entry/0`)).status).toBe(404);
    const examine = `${T}/examinemessage?initialPosition=`;
    expect((await call("GET", `${examine}earliest&messagePosition=2`)).text).toBe("m1");
    expect((await call("GET", `${examine}latest&messagePosition=1`)).text).toBe("m2");
    expect((await call("GET", `${examine}latest&messagePosition=9`)).status).toBe(404);
    expect((await call("GET", `${T}/messageid/0`)).json).toMatchObject({ ledgerId: 0, entryId: 0 });
  });

  test("of a batch are sent whole, uncompressed, with their number", async () => {
    const { call, connect } = await adminScene();
    const client = await connect();
    const producer = await client.createProducer({
      topic: "t",
      compression: "lz4",
      batching: { messagesMax: 2 },
    });
    await Promise.all(
      ["one", "two"].map((text) => producer.send({ data: Buffer.from(text.repeat(50)) })),
    );
    const { text, headers } = await call("GET", `${T}/ledger/0/entry/0`);
    expect(headers.get("x-pulsar-num-batch-message")).toBe("2");
    expect(headers.get("x-pulsar-compression")).toBe("LZ4");
    expect(text).toContain("one".repeat(50));
    expect(text).toContain("two".repeat(50));
  });
});

describe("stats", () => {
  test("of a topic name its producers, consumers and backlog", async () => {
    const { call, connect } = await sceneWithMessages(4);
    const client = await connect();
    await client.createProducer({ topic: "t" });
    await client.subscribe({ topic: "t", subscription: "s" });
    const { json } = await call("GET", `${T}/stats`);
    expect(json).toMatchObject({
      msgInCounter: 4,
      publishers: [
        {
          producerName: expect.any(String) as string,
          address: expect.stringMatching(/^\/127\.0\.0\.1:\d+$/) as string,
          clientVersion: expect.stringContaining("luice") as string,
          metadata: {},
        },
      ],
      subscriptions: { s: { type: "Exclusive", msgBacklog: 4, consumers: [{}] } },
    });
    const bare = await call("GET", `${T}/stats?excludePublishers=true&excludeConsumers=true`);
    expect(bare.json).toMatchObject({ publishers: [], subscriptions: { s: { consumers: [] } } });
  });

  test("of partitions add up, and are listed one by one when asked for", async () => {
    const { call, connect } = await adminScene();
    await call("PUT", `${T}/partitions`, 2);
    const client = await connect();
    await client.subscribe({ topic: "t", subscription: "s" });
    const producer = await client.createProducer({ topic: "t", batching: false });
    for (let index = 0; index < 6; index++) await producer.send({ data: Buffer.from("x") });
    const whole = await call("GET", `${T}/partitioned-stats?perPartition=true`);
    expect(whole.json).toMatchObject({
      msgInCounter: 6,
      metadata: { partitions: 2 },
      partitions: { "persistent://public/default/t-partition-1": { msgInCounter: 3 } },
    });
    expect((await call("GET", `${T}/partitioned-stats?perPartition=false`)).json).toMatchObject({
      partitions: {},
    });
    expect((await call("GET", `${T}/stats`)).status).toBe(404);
    expect((await call("GET", `${T}-partition-0/stats`)).status).toBe(200);
  });

  test("of the inside have the last entry and the cursors", async () => {
    const { call } = await sceneWithMessages(2);
    const { json } = await call("GET", `${T}/internalStats`);
    expect(json).toMatchObject({ lastConfirmedEntry: "0:1", cursors: { s: {} } });
  });
});

describe("schemas", () => {
  const S = "/admin/v2/schemas/public/default/t";

  test("are stored once, answered by version, and deleted", async () => {
    const { call } = await adminScene();
    expect(await call("GET", `${S}/schema`)).toMatchObject({
      status: 404,
      json: { reason: "Schema not found" },
    });
    const first = { type: "STRING", schema: "", properties: { owner: "shop" } };
    const second = { type: "JSON", schema: '{"type":"record"}', properties: {} };
    expect((await call("POST", `${S}/schema`, first)).json).toEqual({ version: { version: 0 } });
    expect((await call("POST", `${S}/schema`, second)).json).toEqual({ version: { version: 1 } });
    expect((await call("POST", `${S}/schema`, first)).json).toEqual({ version: { version: 0 } });
    expect((await call("GET", `${S}/schema`)).json).toEqual({
      version: 1,
      type: "JSON",
      timestamp: 0,
      data: '{"type":"record"}',
      properties: {},
    });
    expect((await call("GET", `${S}/schema/0`)).json).toMatchObject({
      type: "STRING",
      properties: { owner: "shop" },
    });
    expect((await call("GET", `${S}/schema/7`)).status).toBe(404);
    const { json } = await call("GET", `${S}/schemas`);
    expect((json as { getSchemaResponses: unknown[] }).getSchemaResponses).toHaveLength(2);
    expect((await call("DELETE", `${S}/schema`)).json).toEqual({ version: 1 });
    expect((await call("GET", `${S}/schema`)).status).toBe(404);
    expect((await call("POST", `${S}/schema`, { type: "ODD" })).status).toBe(422);
  });
});

describe("policies", () => {
  test("the value of a topic goes before that of its namespace", async () => {
    const { call } = await adminScene();
    await call("PUT", T);
    const unset = await call("GET", `${T}/messageTTL`);
    expect([unset.status, unset.text, unset.headers.get("content-type")]).toEqual([200, "", null]);
    expect((await call("GET", `${T}/messageTTL?applied=true`)).json).toBe(0);
    expect((await call("POST", `${N}/messageTTL`, 60)).status).toBe(204);
    expect((await call("GET", `${T}/messageTTL?applied=true`)).json).toBe(60);
    expect((await call("POST", `${T}/messageTTL?messageTTL=5`)).status).toBe(204);
    expect((await call("GET", `${T}/messageTTL?applied=true`)).json).toBe(5);
    expect((await call("DELETE", `${T}/messageTTL?messageTTL=0`)).status).toBe(204);
    expect((await call("GET", `${T}/messageTTL`)).text).toBe("");
    expect((await call("GET", `${N}/messageTTL`)).json).toBe(60);
  });

  test("a backlog quota has two types, numbers as strings, and one policy", async () => {
    const { call } = await adminScene();
    const quota = { limit: "10240", policy: "producer_request_hold" };
    expect((await call("POST", `${N}/backlogQuota`, quota)).status).toBe(204);
    const map = { destination_storage: { limitSize: 10_240, limitTime: -1, policy: quota.policy } };
    expect((await call("GET", `${N}/backlogQuotaMap`)).json).toMatchObject(map);
    const age = "backlogQuota?backlogQuotaType=message_age";
    const other = { limitTime: 60, policy: "producer_exception" };
    expect((await call("POST", `${N}/${age}`, other)).status).toBe(412);
    expect((await call("POST", `${N}/${age}`, { ...other, policy: quota.policy })).status).toBe(
      204,
    );
    expect((await call("DELETE", `${N}/backlogQuota`)).status).toBe(204);
    expect(Object.keys((await call("GET", `${N}/backlogQuotaMap`)).json as object)).toEqual([
      "message_age",
    ]);
    for (const wrong of [
      { limit: 1 },
      { limit: "x", policy: quota.policy },
      { policy: quota.policy },
      7,
    ])
      expect([400, 412]).toContain((await call("POST", `${N}/backlogQuota`, wrong)).status);
  });

  test("the backlogs of a namespace are cleared beside non-persistent topics", async () => {
    const { call } = await sceneWithMessages(3);
    await call("PUT", "/admin/v2/non-persistent/public/default/a");
    expect((await call("POST", `${N}/clearBacklog`)).status).toBe(204);
    expect((await call("GET", `${T}/stats`)).json).toMatchObject({
      subscriptions: { s: { msgBacklog: 0 } },
    });
  });

  test("the applied retention is the broker's where no policy is set", async () => {
    const retention = { ageMaxMs: 90_000, sizeMaxBytes: Infinity };
    const { call } = await adminScene({ broker: { retention } });
    await call("PUT", T);
    expect((await call("GET", `${T}/retention?applied=true`)).json).toEqual({
      retentionTimeInMinutes: 2,
      retentionSizeInMB: -1,
    });
  });

  test("a null body changes nothing", async () => {
    const { call } = await adminScene();
    await call("POST", `${N}/retention`, { retentionTimeInMinutes: 5, retentionSizeInMB: -1 });
    expect((await call("POST", `${N}/retention`, "null")).status).toBe(204);
    expect((await call("GET", `${N}/retention`)).json).toEqual({
      retentionTimeInMinutes: 5,
      retentionSizeInMB: -1,
    });
  });

  test("deduplication has one name at a namespace and another at a topic", async () => {
    const { call } = await adminScene();
    const status = async (): Promise<unknown> => {
      const { json } = await call("GET", `${T}/stats`);
      return (json as { deduplicationStatus: string }).deduplicationStatus;
    };
    expect((await call("POST", `${N}/deduplication`, true)).status).toBe(204);
    await call("PUT", T, {});
    const applied = `${T}/deduplicationEnabled?applied=true`;
    expect([await status(), (await call("GET", applied)).json]).toEqual(["Enabled", true]);
    await call("POST", `${T}/deduplicationEnabled`, false);
    await call("PUT", `${T}/unload`);
    expect([await status(), (await call("GET", applied)).json]).toEqual(["Disabled", false]);
    await call("DELETE", `${T}/deduplicationEnabled`);
    expect((await call("GET", `${T}/deduplicationEnabled`)).text).toBe("");
    expect((await call("POST", `${N}/deduplication`, "yes")).status).toBe(400);
  });

  test.each(["replicatorDispatchRate", "maxProducersPerTopic", "compactionThreshold"])(
    "%s is refused by name, and is unset",
    async (name) => {
      const { call } = await adminScene();
      const { status, json } = await call("POST", `${N}/${name}`, {});
      expect([status, (json as { reason: string }).reason]).toEqual([
        405,
        expect.stringContaining(`the policy ${name} is not supported yet`),
      ]);
      expect(await call("GET", `${N}/${name}`)).toMatchObject({ status: 200, text: "" });
    },
  );

  test("of a partition are those of its topic, and of no topic are none", async () => {
    const { call } = await adminScene();
    await call("PUT", `${T}/partitions`, 1);
    expect((await call("POST", `${T}-partition-0/messageTTL?messageTTL=5`)).status).toBe(412);
    expect((await call("GET", "/admin/v2/persistent/public/default/no/messageTTL")).status).toBe(
      404,
    );
  });
});

describe("tenants and namespaces", () => {
  test("are created, listed, changed and deleted from the bottom up", async () => {
    const { call } = await adminScene();
    const tenant = { adminRoles: ["admin"], allowedClusters: ["standalone"] };
    const ns = "/admin/v2/namespaces/shop/eu";
    expect((await call("PUT", ns)).status).toBe(404);
    expect((await call("PUT", "/admin/v2/tenants/shop", tenant)).status).toBe(204);
    expect((await call("PUT", "/admin/v2/tenants/shop", tenant)).status).toBe(409);
    expect((await call("GET", "/admin/v2/tenants/shop")).json).toEqual(tenant);
    expect((await call("PUT", ns, "null")).status).toBe(204);
    expect((await call("PUT", ns, { bundles: { numBundles: 4 } })).status).toBe(409);
    expect((await call("GET", "/admin/v2/namespaces/shop")).json).toEqual(["shop/eu"]);
    expect((await call("GET", "/admin/v2/namespaces/none")).json).toEqual({
      reason: "Tenant not found",
    });
    expect((await call("DELETE", "/admin/v2/tenants/shop")).status).toBe(409);

    await call("PUT", "/admin/v2/persistent/shop/eu/t");
    expect((await call("DELETE", ns)).json).toEqual({
      reason: "Cannot delete non empty namespace",
    });
    expect((await call("DELETE", `${ns}?force=true`)).status).toBe(204);
    expect((await call("DELETE", "/admin/v2/tenants/shop")).status).toBe(204);
    expect((await call("GET", "/admin/v2/tenants")).json).toEqual(["public"]);
  });

  test("public/default is there from the start", async () => {
    const { call } = await adminScene();
    expect((await call("GET", "/admin/v2/namespaces/public")).json).toEqual(["public/default"]);
    expect((await call("GET", "/admin/v2/clusters")).json).toEqual(["standalone"]);
  });
});

test("clusters, brokers, health and version", async () => {
  const { call, url } = await adminScene();
  const get = async (path: string): Promise<unknown> => {
    const { json, text } = await call("GET", `/admin/v2/${path}`);
    return json ?? text;
  };
  const id = url.replace("http://", "");
  expect(await get("brokers")).toEqual([id]);
  expect(await get("brokers/standalone")).toEqual([id]);
  expect(await get("brokers/leaderBroker")).toEqual({ serviceUrl: url, brokerId: id });
  expect(await get("brokers/health")).toBe("ok");
  expect(await get("brokers/version")).toBe("0.0.0-test");
  expect(await get("brokers/configuration/runtime")).toMatchObject({ clusterName: "standalone" });
  expect((await call("PUT", "/admin/v2/clusters/standalone", {})).status).toBe(409);
});
