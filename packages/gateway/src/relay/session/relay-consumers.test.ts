/** Permits of consumers behind a relay, and who may subscribe. */
import { SUB_TYPE } from "@sluice/pulsar/wire";
import { expect, test } from "vitest";
import { RelayDriver } from "../../../test/relay-driver.ts";
import { entryOf } from "../../../test/session-driver.ts";

const ID = { ledgerId: 1n, entryId: 1n };

function subscribe(driver: RelayDriver, topic = "t", consumerId = 1n, requestId = 1n): void {
  const subscription = "s";
  const subType = SUB_TYPE.shared;
  driver.receive("subscribe", { topic, subscription, subType, consumerId, requestId });
}

function limited(): { readonly driver: RelayDriver; readonly key: number } {
  const driver = RelayDriver.connected();
  driver.deliveries.limitedTopics.add("t");
  subscribe(driver);
  driver.receiveUpstream("success", { requestId: 1n });
  driver.sent();
  driver.passed();
  return { driver, key: [...driver.deliveries.open][0] ?? 0 };
}

test("permits of a limited consumer go upstream as its limits allow, and no FLOW of its own", () => {
  const { driver, key } = limited();
  driver.receive("flow", { consumerId: 1n, messagePermits: 1_000 });
  expect([driver.deliveries.told, driver.passed()]).toEqual([["flow 1000"], []]);
  driver.on({ kind: "permitted", consumer: key, permits: 3 });
  expect(driver.passed()).toEqual([{ kind: "flow", body: { consumerId: 1n, messagePermits: 3 } }]);
});

test("a message is counted with all that its batch holds and is not acknowledged, and goes on as it came", () => {
  const { driver } = limited();
  const entry = entryOf("x", 5);
  driver.receiveUpstream("message", { consumerId: 1n, messageId: ID }, entry);
  driver.receiveUpstream("message", { consumerId: 1n, messageId: ID, ackSet: [0b10010n] }, entry);
  driver.receiveUpstream("message", { consumerId: 1n, messageId: ID }, Buffer.from("no entry"));
  driver.receiveUpstream("message", { consumerId: 7n, messageId: ID }, entry);
  expect(driver.deliveries.told).toEqual([
    `delivered 5 of ${entry.length}`,
    `delivered 2 of ${entry.length}`,
    "delivered 1 of 8",
  ]);
  expect(driver.sentFrames().map((frame) => frame.entry.length)).toEqual([
    entry.length,
    entry.length,
    8,
    entry.length,
  ]);
});

test("frames of consumers without a limit are not looked into", () => {
  const driver = RelayDriver.connected();
  subscribe(driver, "free");
  driver.passed();
  driver.receive("flow", { consumerId: 1n, messagePermits: 1_000 });
  driver.receiveUpstream("message", { consumerId: 1n, messageId: ID }, entryOf("x"));
  expect([driver.passed().length, driver.deliveries.told]).toEqual([1, []]);
});

test.each([
  [
    "the client closes it",
    (driver: RelayDriver) => driver.receive("closeConsumer", { consumerId: 1n, requestId: 2n }),
  ],
  [
    "the broker closes it",
    (driver: RelayDriver) =>
      driver.receiveUpstream("closeConsumer", { consumerId: 1n, requestId: 2n }),
  ],
  ["the client leaves", (driver: RelayDriver) => driver.on({ kind: "end" })],
  [
    "it has unsubscribed",
    (driver: RelayDriver) => {
      driver.receive("unsubscribe", { consumerId: 1n, requestId: 2n });
      driver.receiveUpstream("success", { requestId: 2n });
    },
  ],
] as const)(
  "a limited consumer holds nothing after %s, and late permits go nowhere",
  (_, close) => {
    const { driver, key } = limited();
    close(driver);
    driver.passed();
    expect([...driver.deliveries.open]).toEqual([]);
    driver.on({ kind: "permitted", consumer: key, permits: 3 });
    expect(driver.passed()).toEqual([]);
  },
);

test("a consumer whose SUBSCRIBE is refused by the broker, or made again, holds nothing twice", () => {
  const driver = RelayDriver.connected();
  driver.deliveries.limitedTopics.add("t");
  subscribe(driver);
  driver.receiveUpstream("error", { requestId: 1n, error: 0, message: "no" });
  expect([...driver.deliveries.open]).toEqual([]);
  subscribe(driver, "t", 1n, 2n);
  subscribe(driver, "t", 1n, 3n);
  expect([...driver.deliveries.open].length).toBe(1);
});

test("a consumer that subscribes too often gets an ERROR, and the broker does not hear of it", () => {
  const driver = RelayDriver.connected();
  driver.deliveries.refusedTopics.add("t");
  subscribe(driver);
  expect(driver.passed()).toEqual([]);
  expect(driver.sent()).toMatchObject([
    { kind: "error", body: { requestId: 1n, message: "wait 1 s" } },
  ]);
  expect(driver.relay.consumers).toBe(0);
});
