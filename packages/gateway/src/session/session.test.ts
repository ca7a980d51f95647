import { SERVER_ERROR } from "@sluice/pulsar/wire";
import { describe, expect, test } from "vitest";
import { SessionDriver } from "../../test/session-driver.ts";

const AT = { ledgerId: 1n, entryId: 0n };

describe("bounds", () => {
  test("reading stops while the ingress throttles, and goes on with the last reason", () => {
    const driver = SessionDriver.connected();
    driver.on({ kind: "throttled", reason: "topic-rate" });
    driver.on({ kind: "throttled", reason: "memory" });
    expect(driver.session.isReading).toBe(false);
    expect(driver.session.obstacles).toEqual(["topic-rate", "memory"]);
    expect(driver.take("readingChanged")).toBeDefined();
    driver.on({ kind: "unthrottled", reason: "topic-rate" });
    expect(driver.session.isReading).toBe(false);
    driver.on({ kind: "unthrottled", reason: "memory" });
    expect(driver.session.isReading).toBe(true);
    expect(driver.take("readingChanged")).toBeDefined();
  });

  test("every obstacle must end before reading goes on", () => {
    const driver = SessionDriver.connected({
      limits: { outboundHighBytes: 1, outboundLowBytes: 1 },
    });
    driver.on({ kind: "throttled", reason: "connection-pending" });
    driver.on({ kind: "written", answerBytes: 1, unreadBytes: 1 });
    driver.on({ kind: "written", answerBytes: 1, unreadBytes: 2 });
    expect(driver.session.obstacles).toEqual(["connection-pending", "outbound"]);
    driver.on({ kind: "unthrottled", reason: "connection-pending" });
    expect(driver.session.isReading).toBe(false);
    driver.on({ kind: "taken", unreadBytes: 0 });
    expect(driver.session.isReading).toBe(true);
    const changes = driver.wanted.filter(({ kind }) => kind === "readingChanged");
    expect(changes).toHaveLength(2);
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

  test("a client that names what does not exist too often is closed", () => {
    const driver = SessionDriver.connected({ limits: { unknownIdsMax: 3 } });
    for (const consumerId of [1n, 2n, 3n])
      driver.receive("flow", { consumerId, messagePermits: 1 });
    expect(driver.closeReason).toBeUndefined();
    driver.receive("ack", { consumerId: 4n, ackType: 0, messageIds: [AT] });
    expect(driver.closeReason).toContain("do not exist");
  });

  test("a client that sends commands too fast is read again in the next second", () => {
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
    driver.on({ kind: "producerFailed", producer, refusal: { error: "UnknownError", message } });
    const [answer] = driver.sent();
    if (answer?.kind !== "error") throw new Error("it was not refused");
    expect(answer.body.message).toHaveLength(300);
    expect(answer.body.message).toMatch(/^[\P{C}]+$/u);
  });
});

describe("a client that does not read", () => {
  const limits = { outboundHighBytes: 100, outboundLowBytes: 50, outboundMoreBytesMax: 1_000 };

  test("is sent no messages until it has; if it does not take answers, it is not heard either", () => {
    const driver = SessionDriver.connected({ limits });
    driver.on({ kind: "written", answerBytes: 10, unreadBytes: 99 });
    expect(driver.wanted).toEqual([]);
    driver.on({ kind: "written", answerBytes: 10, unreadBytes: 100 });
    driver.on({ kind: "written", answerBytes: 0, unreadBytes: 5_000 });
    driver.on({ kind: "written", answerBytes: 99, unreadBytes: 5_099 });
    expect(driver.session.isReading).toBe(true);
    driver.on({ kind: "written", answerBytes: 1, unreadBytes: 5_100 });
    expect(driver.session.obstacles).toEqual(["outbound"]);
    driver.on({ kind: "taken", unreadBytes: 51 });
    expect(driver.session.isReading).toBe(false);
    driver.on({ kind: "taken", unreadBytes: 50 });
    expect(driver.session.isReading).toBe(true);
    expect(driver.wanted.map(({ kind }) => kind)).toEqual([
      "pauseDelivery",
      "readingChanged",
      "readingChanged",
      "resumeDelivery",
    ]);
  });

  test("is sent away when answers pile up all the same", () => {
    const driver = SessionDriver.connected({ limits });
    driver.on({ kind: "written", answerBytes: 5_000, unreadBytes: 5_000 });
    expect(driver.closeReason).toBeUndefined();
    driver.on({ kind: "written", answerBytes: 1_000, unreadBytes: 6_000 });
    expect(driver.closeReason).toBeUndefined();
    driver.on({ kind: "written", answerBytes: 1, unreadBytes: 6_001 });
    expect(driver.closeReason).toBeDefined();
  });

  test("is forgiven what it has read in the end", () => {
    const driver = SessionDriver.connected({ limits });
    for (let round = 0; round < 5; round++) {
      driver.on({ kind: "written", answerBytes: 10, unreadBytes: 100 });
      driver.on({ kind: "written", answerBytes: 900, unreadBytes: 1_000 });
      driver.on({ kind: "taken", unreadBytes: 0 });
    }
    expect(driver.closeReason).toBeUndefined();
    expect(driver.session.isReading).toBe(true);
  });

  test("is closed after a minute in which it took nothing", () => {
    const driver = SessionDriver.connected({ limits });
    driver.on({ kind: "written", answerBytes: 10, unreadBytes: 100 });
    driver.tick(30_000);
    driver.receive("pong", {});
    driver.tick(59_999);
    expect(driver.closeReason).toBeUndefined();
    driver.tick(60_000);
    expect(driver.closeReason).toContain("took no byte");
  });

  test("is not one that reads slowly but steadily", () => {
    const driver = SessionDriver.connected({ limits });
    driver.on({ kind: "written", answerBytes: 10, unreadBytes: 10_000 });
    for (let minute = 1; minute < 60; minute++) {
      driver.tick(minute * 59_000);
      driver.receive("pong", {});
      driver.on({ kind: "taken", unreadBytes: 10_000 - minute * 100 });
    }
    expect(driver.closeReason).toBeUndefined();
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

  test("is not one that the broker does not read for a while", () => {
    const driver = SessionDriver.connected();
    driver.on({ kind: "throttled", reason: "topic-rate" });
    driver.tick(100_000);
    driver.on({ kind: "unthrottled", reason: "topic-rate" });
    driver.tick(110_000);
    expect(driver.closeReason).toBeUndefined();
    driver.tick(160_000);
    expect(driver.closeReason).toContain("nothing was heard");
  });

  test("is asked for a sign of life three times as often while it is not read", () => {
    const driver = SessionDriver.connected();
    driver.tick(1_000);
    driver.on({ kind: "throttled", reason: "topic-rate" });
    const pingedAtMs: number[] = [];
    for (let nowMs = 2_000; nowMs <= 31_000; nowMs += 1_000) {
      driver.tick(nowMs);
      for (const { kind } of driver.sent()) if (kind === "ping") pingedAtMs.push(nowMs);
    }
    expect(pingedAtMs).toEqual([11_000, 21_000, 31_000]);
  });

  test("is one that the broker could not read for two minutes", () => {
    const driver = SessionDriver.connected();
    driver.on({ kind: "throttled", reason: "topic-rate" });
    driver.tick(119_999);
    expect(driver.closeReason).toBeUndefined();
    driver.tick(120_000);
    expect(driver.closeReason).toContain("could not be read");
  });

  test("is also one that takes half a minute for a frame", () => {
    const driver = SessionDriver.connected();
    driver.on({ kind: "drained", isWithinFrame: true });
    driver.tick(20_000);
    driver.on({ kind: "drained", isWithinFrame: true });
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
  driver.on({ kind: "end" });
  driver.opened(producer);
  const kinds = driver.wanted.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "closeProducer")).toHaveLength(2);
  expect(kinds.filter((kind) => kind === "closeConsumer")).toHaveLength(1);
  expect(driver.sent()).toEqual([]);
});

describe("a client whose place another one wants", () => {
  test("is closed if it gives no sign of life within five seconds", () => {
    const driver = SessionDriver.connected();
    driver.tick(1_000);
    driver.on({ kind: "contested" });
    expect(driver.sent()).toEqual([{ kind: "ping", body: {} }]);
    driver.on({ kind: "contested" });
    expect(driver.sent()).toEqual([]);
    expect(driver.session.dueAtMs).toBe(6_000);
    driver.tick(5_999);
    expect(driver.closeReason).toBeUndefined();
    driver.tick(6_000);
    expect(driver.closeReason).toContain("another client wants its place");
  });

  test("stays if it answers", () => {
    const driver = SessionDriver.connected();
    driver.tick(1_000);
    driver.on({ kind: "contested" });
    driver.receive("pong", {});
    driver.tick(20_000);
    expect(driver.closeReason).toBeUndefined();
  });
});
