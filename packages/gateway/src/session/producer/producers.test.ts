import { NO_ID } from "@sluice/pulsar/wire";
import { describe, expect, test } from "vitest";
import { entryOf, SessionDriver } from "../../../test/session-driver.ts";

describe("a producer", () => {
  test("is opened, sends and is answered in the order of its SENDs", () => {
    const driver = SessionDriver.connected();
    driver.openProducer(7n);
    expect(driver.sent()).toMatchObject([
      { kind: "producerSuccess", body: { requestId: 7n, producerName: "p7" } },
    ]);
    driver.send(7n, 1n);
    driver.send(7n, 2n);
    // The second is stored first.
    driver.wanted.reverse();
    driver.publish();
    expect(driver.sent()).toEqual([]);
    driver.publish();
    expect(driver.sent()).toMatchObject([
      { kind: "sendReceipt", body: { producerId: 7n, sequenceId: 1n } },
      { kind: "sendReceipt", body: { producerId: 7n, sequenceId: 2n } },
    ]);
  });

  test("hears of a SEND that was refused only after those before it", () => {
    const driver = SessionDriver.connected();
    driver.openProducer(7n);
    driver.sent();
    driver.send(7n, 1n);
    driver.receive("send", { producerId: 7n, sequenceId: 2n, numMessages: 0 }, entryOf("x"));
    expect(driver.sent()).toEqual([]);
    driver.publish();
    expect(driver.sent().map(({ kind }) => kind)).toEqual(["sendReceipt", "sendError"]);
  });

  test.each(["SENDs that are no good", "repeated PRODUCERs"])(
    "is not read while answers to 100 %s wait behind a SEND that is held",
    (which) => {
      const driver = SessionDriver.connected();
      driver.openProducer(7n);
      driver.sent();
      driver.send(7n, 1n);
      let received = 0;
      for (; driver.session.isReading && received < 1_000; received++)
        if (which === "repeated PRODUCERs")
          driver.receive("producer", { topic: "t", producerId: 7n, requestId: BigInt(received) });
        else
          driver.receive("send", { producerId: 7n, sequenceId: 2n, numMessages: 0 }, entryOf("x"));
      expect(received).toBe(100);
      expect(driver.session.obstacles).toEqual(["answers"]);
      driver.publish();
      expect(driver.session.isReading).toBe(true);
      expect(driver.sent()).toHaveLength(101);
    },
  );

  test("that the broker closes is read again, whatever answers waited", () => {
    const driver = SessionDriver.connected();
    driver.openProducer(7n);
    driver.send(7n, 1n);
    for (let sends = 0; sends < 200 && driver.session.isReading; sends++)
      driver.receive("send", { producerId: 7n, sequenceId: 2n, numMessages: 0 }, entryOf("x"));
    driver.on({ kind: "producerClosed", producer: 1 });
    expect(driver.session.obstacles).toEqual([]);
  });

  test("that closes hears of its SENDs first", () => {
    const driver = SessionDriver.connected();
    driver.openProducer(7n);
    driver.send(7n, 1n);
    driver.sent();
    driver.receive("closeProducer", { producerId: 7n, requestId: 9n });
    expect(driver.sent()).toEqual([]);
    driver.publish();
    expect(driver.sent().map(({ kind }) => kind)).toEqual(["sendReceipt", "success"]);
    expect(driver.take("closeProducer").producer).toBe(1);
  });

  test("that was just closed is not missed by SENDs on their way", () => {
    const driver = SessionDriver.connected();
    driver.openProducer(7n);
    driver.receive("closeProducer", { producerId: 7n, requestId: 9n });
    driver.send(7n, 1n);
    expect(driver.closeReason).toBeUndefined();
    expect(driver.wanted.map(({ kind }) => kind)).toEqual(["closeProducer"]);
  });

  test("that never was ends the connection with its first SEND", () => {
    const driver = SessionDriver.connected();
    driver.send(8n, 1n);
    expect(driver.closeReason).toContain("not open");
  });

  test("that closes before it is open gets both answers, and the broker's is closed", () => {
    const driver = SessionDriver.connected();
    driver.receive("producer", { topic: "t", producerId: 7n, requestId: 1n });
    driver.receive("closeProducer", { producerId: 7n, requestId: 2n });
    const { producer } = driver.take("openProducer");
    driver.opened(producer);
    expect(driver.sent()).toMatchObject([
      { kind: "error", body: { requestId: 1n } },
      { kind: "success", body: { requestId: 2n } },
    ]);
    expect(driver.take("closeProducer").producer).toBe(producer);
  });

  test.each([
    ["opens all the same", ["producerSuccess", "closeProducer"]],
    ["does not open", ["error"]],
  ])("that the broker closes before it is open and that %s is answered", (how, kinds) => {
    const driver = SessionDriver.connected();
    driver.receive("producer", { topic: "t", producerId: 7n, requestId: 7n });
    const { producer } = driver.take("openProducer");
    const refusal = { error: "ProducerFenced", message: "" } as const;
    driver.on({ kind: "producerClosed", producer });
    expect(driver.sent()).toEqual([]);
    if (how === "does not open") driver.on({ kind: "producerFailed", producer, refusal });
    else {
      driver.opened(producer);
      driver.on({ kind: "producerClosed", producer });
    }
    expect(driver.sent().map(({ kind }) => kind)).toEqual(kinds);
  });

  test("that waits to be alone is answered twice", () => {
    const driver = SessionDriver.connected();
    driver.receive("producer", { topic: "t", producerId: 7n, requestId: 1n });
    const { producer } = driver.take("openProducer");
    driver.opened(producer, { isReady: false });
    driver.on({ kind: "producerReady", producer, topicEpoch: 3n });
    expect(driver.sent()).toMatchObject([
      { kind: "producerSuccess", body: { requestId: 1n, producerReady: false } },
      { kind: "producerSuccess", body: { requestId: 1n, producerReady: true, topicEpoch: 3n } },
    ]);
  });

  test("that asks to be opened again is still open", () => {
    const driver = SessionDriver.connected();
    driver.openProducer(7n);
    driver.sent();
    driver.receive("producer", { topic: "t", producerId: 7n, requestId: 5n });
    expect(driver.sent()).toMatchObject([
      { kind: "producerSuccess", body: { requestId: 5n, producerName: "p7" } },
    ]);
    expect(driver.wanted).toEqual([]);
  });

  test.each([
    ["for whose SEND there is no room", "ProducerBlockedQuotaExceededError"],
    ["whose topic is terminated", "TopicTerminatedError"],
  ] as const)("%s takes no more at once, and closes in its turn", (_, error) => {
    const driver = SessionDriver.connected();
    driver.openProducer(7n);
    for (const sequenceId of [1n, 2n, 3n]) driver.send(7n, sequenceId);
    driver.sent();
    const [first, second, third] = [1, 2, 3].map(() => driver.take("publish"));
    if (first === undefined || second === undefined || third === undefined) throw new Error();
    const refusal = { error, message: "" };
    const { producer } = second;
    driver.on({ kind: "publishFailed", producer, sequence: second.sequence, refusal });
    expect(driver.sent()).toEqual([]);
    // Stored now, it would come before the second.
    driver.send(7n, 4n);
    expect(driver.wanted).toEqual([{ kind: "dropHeld", producer }]);
    const messageId = { ledgerId: 1n, entryId: 0n };
    driver.on({ kind: "published", producer, sequence: first.sequence, messageId });
    driver.on({ kind: "publishFailed", producer, sequence: third.sequence, refusal });
    expect(driver.sent()).toMatchObject([
      { kind: "sendReceipt", body: { sequenceId: 1n } },
      { kind: "closeProducer", body: { producerId: 7n, requestId: NO_ID } },
    ]);
    expect(driver.take("closeProducer").producer).toBe(producer);
    driver.openProducer(7n);
    expect(driver.sent()).toMatchObject([{ kind: "producerSuccess" }]);
  });

  test("that the broker closes is told so, and hears no more of its SENDs", () => {
    const driver = SessionDriver.connected();
    driver.openProducer(7n);
    driver.send(7n, 1n);
    driver.sent();
    driver.on({ kind: "producerClosed", producer: 1 });
    driver.publish();
    expect(driver.sent()).toEqual([
      { kind: "closeProducer", body: { producerId: 7n, requestId: NO_ID } },
    ]);
  });

  test("with the id of a closed one is not answered for the SENDs of that one", () => {
    const driver = SessionDriver.connected();
    driver.openProducer(7n);
    driver.send(7n, 1n);
    driver.on({ kind: "producerClosed", producer: 1 });
    driver.openProducer(7n);
    driver.sent();
    driver.publish();
    expect(driver.sent()).toEqual([]);
  });

  test("that is opened again is answered after the SENDs that came before", () => {
    const driver = SessionDriver.connected();
    driver.openProducer(7n);
    driver.send(7n, 1n);
    driver.sent();
    driver.receive("producer", { topic: "t", producerId: 7n, requestId: 9n });
    expect(driver.sent()).toEqual([]);
    driver.publish();
    expect(driver.sent()).toMatchObject([
      { kind: "sendReceipt", body: { sequenceId: 1n } },
      { kind: "producerSuccess", body: { requestId: 9n } },
    ]);
  });

  test("that is opened again and then closed by the broker is refused, so that it opens once more", () => {
    const driver = SessionDriver.connected();
    driver.openProducer(7n);
    driver.send(7n, 1n);
    driver.receive("producer", { topic: "t", producerId: 7n, requestId: 9n });
    driver.sent();
    driver.on({ kind: "producerClosed", producer: 1 });
    expect(driver.sent()).toMatchObject([
      { kind: "closeProducer", body: { producerId: 7n } },
      { kind: "error", body: { requestId: 9n } },
    ]);
  });

  test("with the id of one that is closing opens once that one is closed", () => {
    const driver = SessionDriver.connected();
    driver.openProducer(7n);
    driver.send(7n, 1n);
    driver.receive("closeProducer", { producerId: 7n, requestId: 8n });
    driver.receive("producer", { topic: "other", producerId: 7n, requestId: 9n });
    driver.receive("producer", { topic: "t", producerId: 7n, requestId: 10n });
    driver.sent();
    driver.publish();
    expect(driver.sent()).toMatchObject([
      { kind: "sendReceipt", body: { sequenceId: 1n } },
      { kind: "success", body: { requestId: 8n } },
    ]);
    driver.take("closeProducer");
    expect(driver.take("openProducer").request).toMatchObject({ topic: "other", requestId: 9n });
  });
});
