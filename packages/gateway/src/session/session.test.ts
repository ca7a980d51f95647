import { SERVER_ERROR } from "@sluice/pulsar/wire";
import { describe, expect, test } from "vitest";
import { SessionDriver } from "../../test/session-driver.ts";

const AT = { ledgerId: 1n, entryId: 0n };

describe("bounds", () => {
  test("reading stops at the bound of pending SENDs and goes on at half of it", () => {
    const driver = SessionDriver.connected({ limits: { pendingSendsMax: 4 } });
    driver.openProducer(1n);
    for (const id of [1n, 2n, 3n, 4n]) {
      expect(driver.session.isReading).toBe(true);
      driver.send(1n, id);
    }
    expect(driver.session.isReading).toBe(false);
    expect(driver.session.heldBy).toEqual(["connection-pending"]);
    expect(driver.take("pauseReading")).toBeDefined();
    driver.keep(driver.session.published(driver.take("publish").send, AT));
    expect(driver.session.isReading).toBe(false);
    driver.keep(driver.session.published(driver.take("publish").send, AT));
    expect(driver.session.isReading).toBe(true);
    expect(driver.take("resumeReading")).toBeDefined();
  });

  test("every reason for not reading must end before it goes on", () => {
    const driver = SessionDriver.connected();
    driver.keep(driver.session.throttle("memory"));
    driver.keep(driver.session.throttle("topic-rate"));
    driver.keep(driver.session.release("memory"));
    expect(driver.session.isReading).toBe(false);
    driver.keep(driver.session.release("topic-rate"));
    expect(driver.wanted.map(({ kind }) => kind)).toEqual(["pauseReading", "resumeReading"]);
  });

  test.each([
    { what: "producers", limit: "producersMax", kind: "producer" },
    { what: "consumers", limit: "consumersMax", kind: "subscribe" },
  ] as const)("a connection has so many $what and no more", ({ limit, kind }) => {
    const driver = SessionDriver.connected({ limits: { [limit]: 2 } });
    for (const id of [1n, 2n, 3n]) {
      const ids = { producerId: id, consumerId: id, requestId: id };
      driver.receive(kind, { topic: "t", subscription: "s", subType: 0, ...ids });
    }
    expect(driver.sent()).toMatchObject([
      { kind: "error", body: { requestId: 3n, error: SERVER_ERROR.TooManyRequests } },
    ]);
    expect(driver.wanted).toHaveLength(2);
  });

  test("a client that names what is not there too often is sent away", () => {
    const driver = SessionDriver.connected({ limits: { unknownIdsMax: 3 } });
    for (const consumerId of [1n, 2n, 3n])
      driver.receive("flow", { consumerId, messagePermits: 1 });
    expect(driver.closeReason).toBeUndefined();
    driver.receive("ack", { consumerId: 4n, ackType: 0, messageIds: [AT] });
    expect(driver.closeReason).toContain("ids");
  });

  test("whoever sends commands too fast is read again in the next second", () => {
    const driver = SessionDriver.connected({ limits: { commandsPerSecond: 10 } });
    for (let count = 1; count < 10; count++) driver.receive("ping", {});
    expect(driver.session.isReading).toBe(false);
    driver.tick(999);
    expect(driver.session.isReading).toBe(false);
    driver.tick(1_000);
    expect(driver.session.isReading).toBe(true);
  });

  test("text for a client is short and has no control characters", () => {
    const driver = SessionDriver.connected();
    driver.receive("producer", { topic: "t", producerId: 1n, requestId: 1n });
    const message = `\u001b[2J\n${"x".repeat(1_000)}`;
    const { producer } = driver.take("openProducer");
    driver.keep(driver.session.producerFailed(producer, { error: "UnknownError", message }));
    const [answer] = driver.sent();
    if (answer?.kind !== "error") throw new Error("it was not refused");
    expect(answer.body.message).toHaveLength(200);
    expect(answer.body.message).toMatch(/^[\P{C}]+$/u);
  });
});

describe("a client that does not read", () => {
  const limits = { outboundHighBytes: 100, outboundLowBytes: 50, outboundMoreBytesMax: 1_000 };

  test("is sent no messages until it has; if it does not take answers, it is not heard either", () => {
    const driver = SessionDriver.connected({ limits });
    driver.keep(driver.session.written(10, 99, 0));
    expect(driver.wanted).toEqual([]);
    driver.keep(driver.session.written(10, 100, 0));
    driver.keep(driver.session.written(0, 5_000, 0));
    driver.keep(driver.session.written(99, 5_099, 0));
    expect(driver.session.isReading).toBe(true);
    driver.keep(driver.session.written(1, 5_100, 0));
    expect(driver.session.heldBy).toEqual(["outbound"]);
    driver.keep(driver.session.unread(51));
    expect(driver.session.isReading).toBe(false);
    driver.keep(driver.session.unread(50));
    expect(driver.session.isReading).toBe(true);
    expect(driver.wanted.map(({ kind }) => kind)).toEqual([
      "pauseDelivery",
      "pauseReading",
      "resumeReading",
      "resumeDelivery",
    ]);
  });

  test("is sent away when answers pile up all the same", () => {
    const driver = SessionDriver.connected({ limits });
    driver.keep(driver.session.written(5_000, 5_000, 0));
    expect(driver.closeReason).toBeUndefined();
    driver.keep(driver.session.written(1_000, 6_000, 0));
    expect(driver.closeReason).toBeUndefined();
    driver.keep(driver.session.written(1, 6_001, 0));
    expect(driver.closeReason).toBeDefined();
  });

  test("is forgiven what it has read in the end", () => {
    const driver = SessionDriver.connected({ limits });
    for (let round = 0; round < 5; round++) {
      driver.keep(driver.session.written(10, 100, 0));
      driver.keep(driver.session.written(900, 1_000, 0));
      driver.keep(driver.session.unread(0));
    }
    expect(driver.closeReason).toBeUndefined();
    expect(driver.session.isReading).toBe(true);
  });

  test("is sent away after a minute", () => {
    const driver = SessionDriver.connected({ limits });
    driver.keep(driver.session.written(10, 100, 0));
    driver.tick(30_000);
    driver.receive("pong", {});
    driver.tick(59_999);
    expect(driver.closeReason).toBeUndefined();
    driver.tick(60_000);
    expect(driver.closeReason).toContain("not read");
  });
});

describe("a peer that is gone", () => {
  test("is asked for a sign of life, and closed if it gives none", () => {
    const driver = SessionDriver.connected();
    driver.tick(30_000);
    expect(driver.sent()).toEqual([{ kind: "ping", body: {} }]);
    driver.tick(59_999);
    expect(driver.closeReason).toBeUndefined();
    driver.tick(60_000);
    expect(driver.closeReason).toContain("nothing was heard");
  });

  test("is not one that answers", () => {
    const driver = SessionDriver.connected();
    for (let nowMs = 30_000; nowMs < 300_000; nowMs += 30_000) {
      driver.tick(nowMs);
      driver.receive("pong", {});
    }
    expect(driver.closeReason).toBeUndefined();
  });

  test("is not one that we do not read", () => {
    const driver = SessionDriver.connected();
    driver.keep(driver.session.throttle("memory"));
    for (let nowMs = 0; nowMs < 100_000; nowMs += 250) driver.tick(nowMs);
    driver.keep(driver.session.release("memory"));
    driver.tick(110_000);
    expect(driver.closeReason).toBeUndefined();
  });

  test("is also one that takes half a minute for a frame", () => {
    const driver = SessionDriver.connected();
    driver.session.drained(true, 0);
    driver.tick(20_000);
    driver.session.drained(true, 20_000);
    driver.tick(30_000);
    expect(driver.closeReason).toContain("frame");
  });
});

test("a connection that ends closes all that is open, also what opens later", () => {
  const driver = SessionDriver.connected();
  driver.openProducer(1n);
  driver.subscribe(2n);
  driver.receive("producer", { topic: "t", producerId: 3n, requestId: 3n });
  const { producer } = driver.take("openProducer");
  driver.sent();
  driver.keep(driver.session.end());
  const opened = { name: "p", isReady: true, topicEpoch: undefined, schemaVersion: undefined };
  driver.keep(driver.session.producerOpened(producer, opened));
  const kinds = driver.wanted.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "closeProducer")).toHaveLength(2);
  expect(kinds.filter((kind) => kind === "closeConsumer")).toHaveLength(1);
  expect(driver.sent()).toEqual([]);
});
