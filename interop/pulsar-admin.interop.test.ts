/** Pulsar's own admin tool, and clients with an http:// service URL, against our administration. */
import { startBroker } from "@sluice/gateway";
import { startAdmin } from "@sluice/gateway/admin";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GO, JAVA, PYTHON } from "./drivers/clients.ts";
import { realMissing } from "./servers/our-broker.ts";
import { runPulsarShell } from "./drivers/pulsar-shell.ts";
import { all, consume, produce } from "./cases/stage.ts";

const missing = await realMissing();

let close = async (): Promise<void> => {};
let urls = { admin: "", broker: "" };
const failures: unknown[] = [];

beforeAll(async () => {
  const broker = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory" });
  const admin = await startAdmin({
    listen: "127.0.0.1:0",
    broker,
    version: "interop",
    onError: (error) => failures.push(error),
  });
  urls = { admin: admin.url, broker: broker.url };
  close = async () => {
    await admin.close();
    await broker.close();
  };
});
afterAll(() => close());

const T = "persistent://shop/eu/t";
const P = "persistent://shop/eu/p";

type Expected = readonly [string, RegExp | ""];

function dispatchCommands(tool: string, rate: string, of: string): readonly Expected[] {
  return [
    [`${tool} get-${rate} ${of}`, /^null$/m],
    [`${tool} set-${rate} ${of} -md 5 -bd 1000 -dt 2`, ""],
    [
      `${tool} get-${rate} ${of}`,
      /"dispatchThrottlingRateInMsg" : 5,\s+"dispatchThrottlingRateInByte" : 1000,[\s\S]*"ratePeriodInSecond" : 2/,
    ],
    [`${tool} remove-${rate} ${of}`, ""],
    [`${tool} get-${rate} ${of}`, /^null$/m],
  ];
}

function subscribeCommands(tool: string, of: string): readonly Expected[] {
  return [
    [`${tool} get-subscribe-rate ${of}`, /^null$/m],
    [`${tool} set-subscribe-rate ${of} -sr 4 -st 10`, ""],
    [
      `${tool} get-subscribe-rate ${of}`,
      /"subscribeThrottlingRatePerConsumer" : 4,\s+"ratePeriodInSecond" : 10/,
    ],
    [`${tool} remove-subscribe-rate ${of}`, ""],
    [`${tool} get-subscribe-rate ${of}`, /^null$/m],
  ];
}

/** Each command and what it must print; an empty text is a write that succeeds silently. */
const COMMANDS: readonly Expected[] = [
  ["admin clusters list", /^standalone$/m],
  ["admin brokers healthcheck", /^ok$/m],
  ["admin brokers version", /^interop$/m],
  ["admin brokers list standalone", /^127\.0\.0\.1:\d+$/m],
  ["admin tenants create shop", ""],
  ["admin tenants list", /^shop$/m],
  ["admin namespaces create shop/eu", ""],
  ["admin namespaces list shop", /^shop\/eu$/m],
  ["admin namespaces policies shop/eu", /"replication_clusters" : \[ "standalone" \]/],
  [
    "admin namespaces grant-permission shop/eu --actions produce,consume --role app",
    /Authorization is not enabled/,
  ],
  ["admin namespaces revoke-permission shop/eu --role app", ""],
  [`admin topics create ${T}`, ""],
  [`admin topics create-partitioned-topic ${P} -p 3`, ""],
  [`admin topics update-partitioned-topic ${P} -p 4`, ""],
  [`admin topics get-partitioned-topic-metadata ${P}`, /"partitions" : 4/],
  ["admin topics list shop/eu", /^persistent:\/\/shop\/eu\/p-partition-3$/m],
  ["admin topics list-partitioned-topics shop/eu", /^persistent:\/\/shop\/eu\/p$/m],
  [`admin topics lookup ${T}`, /^pulsar:\/\/127\.0\.0\.1:\d+$/m],
  [`admin topics partitioned-lookup ${P}`, /p-partition-3 +pulsar:\/\//],
  [`admin topics bundle-range ${T}`, /^0x00000000_0xffffffff$/m],
  [`client produce ${T} -m hello,world -s ,`, /2 messages successfully produced/],
  // Encoded twice on its way.
  [`admin topics create-subscription ${T} -s s/1 -m earliest`, ""],
  [`admin topics subscriptions ${T}`, /^s\/1$/m],
  [`admin topics stats ${T}`, /"s\/1" : \{[\s\S]*"msgBacklog" : 2/],
  [`admin topics partitioned-stats ${P} --per-partition`, /"partitions" : \{[\s\S]*p-partition-3/],
  [`admin topics stats-internal ${T}`, /"lastConfirmedEntry" : "0:1"/],
  [`admin topics last-message-id ${T}`, /"entryId" : 1/],
  [`admin topics peek-messages ${T} -s s/1 -n 3`, /hello[\s\S]*world/],
  [`admin topics examine-messages ${T} -i earliest -m 1`, /hello/],
  [`admin topics get-message-by-id ${T} -l 0 -e 1`, /world/],
  [`admin topics get-message-id ${T} -d 2024-01-01T00:00:00Z`, /"entryId" : 0/],
  [`admin topics skip ${T} -s s/1 -n 1`, ""],
  [`admin topics stats ${T}`, /"msgBacklog" : 1/],
  [`admin topics reset-cursor ${T} -s s/1 -t 1h`, ""],
  [`admin topics stats ${T}`, /"msgBacklog" : 2/],
  [`admin topics reset-cursor ${T} -s s/1 -m 0:1`, ""],
  [`admin topics clear-backlog ${T} -s s/1`, ""],
  [`admin topics stats ${T}`, /"msgBacklog" : 0/],
  [`admin topics expire-messages ${T} -s s/1 -t 10`, ""],
  [`admin topics unsubscribe ${T} -s s/1`, ""],
  [`admin topics unload ${T}`, ""],
  ["admin namespaces set-backlog-quota shop/eu -l 10M -p producer_request_hold", ""],
  ["admin namespaces get-backlog-quotas shop/eu", /limitSize=10485760.*producer_request_hold/],
  ["admin namespaces set-message-ttl shop/eu -ttl 100", ""],
  ["admin namespaces get-message-ttl shop/eu", /^100$/m],
  ["admin namespaces set-retention shop/eu -s 100M -t 2h", ""],
  ["admin namespaces get-retention shop/eu", /"retentionTimeInMinutes" : 120/],
  [`admin topicPolicies set-backlog-quota ${T} -l 10M -p producer_exception`, ""],
  [`admin topicPolicies get-backlog-quota ${T}`, /producer_exception/],
  [`admin topicPolicies set-message-ttl ${T} -t 20`, ""],
  [`admin topicPolicies get-message-ttl ${T}`, /^20$/m],
  [`admin topicPolicies remove-message-ttl ${T}`, ""],
  [`admin topicPolicies get-message-ttl ${T} -ap`, /^100$/m],
  [`admin topicPolicies get-retention ${T} -ap`, /"retentionSizeInMB" : 100/],
  [`admin topicPolicies get-publish-rate ${T}`, /^null$/m],
  [`admin topicPolicies set-publish-rate ${T} -m 500 -b 1000000`, ""],
  [
    `admin topicPolicies get-publish-rate ${T}`,
    /"publishThrottlingRateInMsg" : 500,\s+"publishThrottlingRateInByte" : 1000000/,
  ],
  [`admin topics stats ${T}`, /"publishRateLimitedTimes" : 0/],
  [`admin topicPolicies remove-publish-rate ${T}`, ""],
  [`admin topicPolicies get-publish-rate ${T}`, /^null$/m],
  ["admin namespaces get-publish-rate shop/eu", /^null$/m],
  ["admin namespaces set-publish-rate shop/eu -m 300", ""],
  ["admin namespaces get-publish-rate shop/eu", /"publishThrottlingRateInMsg" : 300/],
  ["admin namespaces remove-publish-rate shop/eu", ""],
  ["admin namespaces get-publish-rate shop/eu", /^null$/m],
  ...["dispatch-rate", "subscription-dispatch-rate"].flatMap((rate) => [
    ...dispatchCommands("admin topicPolicies", rate, T),
    ...dispatchCommands("admin namespaces", rate, "shop/eu"),
  ]),
  ["admin namespaces set-dispatch-rate shop/eu -md 9", ""],
  [`admin topicPolicies get-dispatch-rate ${T} -ap`, /"dispatchThrottlingRateInMsg" : 9,/],
  ["admin namespaces remove-dispatch-rate shop/eu", ""],
  [
    `admin topicPolicies set-dispatch-rate ${T} -md 5 -rp`,
    /relativeToPublishRate is not supported; set the sum/,
  ],
  [`admin topicPolicies set-subscription-dispatch-rate ${T} -s one -md 3`, ""],
  [
    `admin topicPolicies get-subscription-dispatch-rate ${T} -s one`,
    /"dispatchThrottlingRateInMsg" : 3,/,
  ],
  [`admin topicPolicies remove-subscription-dispatch-rate ${T} -s one`, ""],
  [`admin topicPolicies get-subscription-dispatch-rate ${T} -s one`, /^null$/m],
  ...subscribeCommands("admin topicPolicies", T),
  ...subscribeCommands("admin namespaces", "shop/eu"),
  [
    `admin topicPolicies set-replicator-dispatch-rate ${T} -md 5`,
    /replicatorDispatchRate is not supported yet/,
  ],
  ["admin resourcegroups list", ""],
  ["admin resourcegroups create tenants -mp 100", ""],
  ["admin resourcegroups list", /^tenants$/m],
  ["admin resourcegroups get tenants", /"publishRateInMsgs" : 100/],
  ["admin resourcegroups update tenants -bp 5000", ""],
  ["admin resourcegroups get tenants", /"publishRateInMsgs" : 100,\s+"publishRateInBytes" : 5000/],
  ["admin namespaces set-resource-group shop/eu -rgn tenants", ""],
  ["admin namespaces get-resource-group shop/eu", /^tenants$/m],
  ["admin resourcegroups delete tenants", /ResourceGroup is in use/],
  ["admin namespaces remove-resource-group shop/eu", ""],
  ["admin resourcegroups delete tenants", ""],
  ["admin resourcegroups list", ""],
  [`admin topics compaction-status ${T}`, /has not been run/],
  [`admin topics terminate ${T}`, /terminated at 0:1/],
  [`admin topics create ${T}`, /This topic already exists/],
  [`admin topics delete ${T}`, ""],
  [`admin topics delete-partitioned-topic ${P}`, ""],
  ["admin namespaces delete shop/eu", ""],
  ["admin tenants delete shop", ""],
];

describe.skipIf(missing !== undefined)("pulsar-admin of Pulsar's own distribution", () => {
  test("every command works unchanged, and what is not supported is refused by name", async () => {
    const outputs = await runPulsarShell(
      urls,
      COMMANDS.map(([command]) => command),
    );
    const wrong = COMMANDS.flatMap(([command, expected], index) => {
      const output = (outputs[index] ?? "no output at all").replace(/Goodbye!\s*$/, "");
      const isRight = expected === "" ? output.trim() === "" : expected.test(output);
      return isRight ? [] : [`${command}: ${output.slice(0, 500)}`];
    });
    expect(wrong).toEqual([]);
    expect(failures).toEqual([]);
  });
});

describe.each([PYTHON, JAVA, GO])("the $name client with an http:// service URL", (driver) => {
  test.skipIf(driver.missing !== undefined)("looks up, publishes and consumes", async () => {
    const path = `/admin/v2/persistent/public/default/http-${driver.name}/partitions`;
    const headers = { "content-type": "application/json" };
    await fetch(urls.admin + path, { method: "PUT", headers, body: "2" });
    const stage = {
      serviceUrl: urls.admin,
      producer: driver,
      consumer: driver,
      topic: `persistent://public/default/http-${driver.name}`,
    };
    const sent = { sizeBytes: 64, keys: 4 };
    await produce(stage, { ...sent, count: 50, batching: true });
    const read = { count: 50, initialPosition: "earliest" as const };
    expect(await consume(stage, read)).toMatchObject(all(50, sent));
    expect(failures).toEqual([]);
  });
});
