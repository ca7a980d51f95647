import { NO_ID, SERVER_ERROR, SUB_TYPE } from "@sluice/pulsar/wire";
import { describe, expect, test } from "vitest";
import { entryOf, SessionDriver } from "../../../test/session-driver.ts";

const AT = { ledgerId: 1n, entryId: 0n };

describe("a consumer", () => {
  test("subscribes, gives permits, gets messages and acknowledges", () => {
    const driver = SessionDriver.connected();
    driver.subscribe(3n);
    expect(driver.sent()).toEqual([{ kind: "success", body: { requestId: 3n } }]);
    driver.receive("flow", { consumerId: 3n, messagePermits: 1_000 });
    const { consumer, messages } = driver.take("flow");
    expect(messages).toBe(1_000);
    const entry = entryOf("hello");
    const message = { messageId: AT, redeliveryCount: 2, ackSet: undefined, entry };
    driver.on({ kind: "delivered", consumer, messages: [message] });
    expect(driver.sent()).toMatchObject([
      { kind: "message", body: { consumerId: 3n, messageId: AT, redeliveryCount: 2 } },
    ]);
    const ack = { consumerId: 3n, ackType: 0, messageIds: [AT], requestId: 4n };
    driver.receive("ack", ack);
    acknowledge(driver);
    expect(driver.sent()).toMatchObject([
      { kind: "ackResponse", body: { consumerId: 3n, requestId: 4n } },
    ]);
  });

  test("that acknowledges without a request is not answered", () => {
    const driver = SessionDriver.connected();
    driver.subscribe(3n);
    driver.sent();
    driver.receive("ack", { consumerId: 3n, ackType: 0, messageIds: [AT] });
    acknowledge(driver);
    expect(driver.sent()).toEqual([]);
  });

  test.each([
    ["readCompacted", { readCompacted: true, subType: SUB_TYPE.shared }],
    ["replicateSubscriptionState", { replicateSubscriptionState: true }],
    ["subscription type 4", { subType: 4 }],
    ["subscription type -1", { subType: -1 }],
  ])("that wants %s is refused by that name", (name, options) => {
    const driver = SessionDriver.connected();
    const ids = { consumerId: 1n, requestId: 2n };
    driver.receive("subscribe", { topic: "t", subscription: "s", subType: 0, ...ids, ...options });
    const [answer] = driver.sent();
    expect(answer).toMatchObject({
      kind: "error",
      body: { requestId: 2n, error: SERVER_ERROR.NotAllowedError },
    });
    if (answer?.kind === "error") expect(answer.body.message).toContain(name);
    expect(driver.wanted).toEqual([]);
  });

  test("that wants readCompacted alone reads a topic that is not compacted", () => {
    const driver = SessionDriver.connected();
    const request = { topic: "t", subscription: "s", consumerId: 1n, requestId: 2n };
    driver.receive("subscribe", { ...request, subType: SUB_TYPE.failover, readCompacted: true });
    expect(driver.take("subscribe").request).toMatchObject(request);
    expect(driver.sent()).toEqual([]);
  });

  test("echoes the epoch of its last redelivery", () => {
    const driver = SessionDriver.connected();
    driver.subscribe(3n);
    driver.receive("redeliverUnacknowledged", { consumerId: 3n, consumerEpoch: 5n });
    driver.sent();
    const { consumer } = driver.take("redeliver");
    const message = { messageId: AT, redeliveryCount: 0, ackSet: undefined, entry: entryOf("x") };
    driver.on({ kind: "delivered", consumer, messages: [message] });
    expect(driver.sent()).toMatchObject([{ body: { consumerEpoch: 5n } }]);
  });

  test("that the broker closes may be closed once more by its client", () => {
    const driver = SessionDriver.connected();
    driver.subscribe(3n);
    driver.receive("seek", { consumerId: 3n, requestId: 6n, messageId: AT });
    const { question } = driver.take("ask");
    if (question.about !== "seek") throw new Error("it asked for something else");
    driver.sent();
    driver.on({ kind: "consumerClosed", consumer: question.consumer });
    driver.on({ kind: "answered", question, answer: { about: "seek" } });
    driver.receive("closeConsumer", { consumerId: 3n, requestId: 7n });
    expect(driver.sent()).toEqual([
      { kind: "closeConsumer", body: { consumerId: 3n, requestId: NO_ID } },
      { kind: "success", body: { requestId: 6n } },
      { kind: "success", body: { requestId: 7n } },
    ]);
  });

  test("that closes before it is open gets both answers, and the broker's is closed", () => {
    const driver = SessionDriver.connected();
    const request = { topic: "t", subscription: "s", subType: 0, consumerId: 3n, requestId: 1n };
    driver.receive("subscribe", request);
    driver.receive("closeConsumer", { consumerId: 3n, requestId: 2n });
    const { consumer } = driver.take("subscribe");
    driver.on({ kind: "subscribed", consumer, isActive: undefined });
    expect(driver.sent()).toMatchObject([
      { kind: "error", body: { requestId: 1n } },
      { kind: "success", body: { requestId: 2n } },
    ]);
    expect(driver.take("closeConsumer").consumer).toBe(consumer);
  });

  test("that closes leaves its id to the next one", () => {
    const driver = SessionDriver.connected();
    driver.subscribe(3n);
    driver.receive("closeConsumer", { consumerId: 3n, requestId: 4n });
    expect(driver.session.consumers).toBe(0);
    driver.take("closeConsumer");
    driver.subscribe(3n);
    expect(driver.sent()).toMatchObject([3n, 4n, 3n].map((requestId) => ({ body: { requestId } })));
  });
});

function acknowledge(driver: SessionDriver): void {
  const { consumerId, requestId } = driver.take("ack");
  driver.on({ kind: "acknowledged", consumerId, requestId });
}
