import { SERVER_ERROR } from "@sluice/pulsar/wire";
import { describe, expect, test } from "vitest";
import { frameOf, SessionDriver } from "../../../test/session-driver.ts";

describe("requests", () => {
  test("LOOKUP is answered with ourselves", () => {
    const driver = SessionDriver.connected();
    driver.receive("lookup", { topic: "t", requestId: 1n });
    expect(driver.sent()).toMatchObject([
      {
        kind: "lookupResponse",
        body: {
          requestId: 1n,
          brokerServiceUrl: "pulsar://127.0.0.1:6650",
          response: 1,
          authoritative: true,
        },
      },
    ]);
  });

  test("LOOKUP for a listener by name is refused: there is none", () => {
    const driver = SessionDriver.connected();
    driver.receive("lookup", { topic: "t", requestId: 1n, advertisedListenerName: "outside" });
    const error = SERVER_ERROR.MetadataError;
    const message = "there is no listener outside; connect without a listener name";
    expect(driver.sent()).toMatchObject([
      { kind: "lookupResponse", body: { requestId: 1n, response: 2, error, message } },
    ]);
  });

  test("what the broker refuses is answered in the request's own way", () => {
    const driver = SessionDriver.connected();
    driver.receive("partitionedMetadata", { topic: "t", requestId: 1n });
    driver.receive("getSchema", { topic: "t", requestId: 2n });
    driver.receive("getTopicsOfNamespace", { namespace: "a/b", requestId: 3n });
    for (let count = 0; count < 3; count++) {
      const { question } = driver.take("ask");
      driver.on({ kind: "refused", question, refusal: { error: "TopicNotFound", message: "no" } });
    }
    expect(driver.sent()).toMatchObject([
      { kind: "partitionedMetadataResponse", body: { requestId: 1n, response: 1, error: 11 } },
      { kind: "getSchemaResponse", body: { requestId: 2n, errorCode: 11 } },
      { kind: "error", body: { requestId: 3n, error: 11 } },
    ]);
  });

  test("that wait for answers are bounded: no more are read until half of them are answered", () => {
    const driver = SessionDriver.connected({ limits: { requestsMax: 2 } });
    for (const requestId of [1n, 2n])
      driver.receive("partitionedMetadata", { topic: "t", requestId });
    expect(driver.session.obstacles).toEqual(["requests"]);
    const { question } = driver.take("ask");
    driver.on({ kind: "answered", question, answer: { about: "partitions", count: 4 } });
    expect(driver.session.isReading).toBe(true);
    expect(driver.sent()).toMatchObject([{ body: { requestId: 1n, partitions: 4 } }]);
  });

  test("of an unknown kind are refused by their id", () => {
    const driver = SessionDriver.connected();
    // TC_CLIENT_CONNECT: type 62, request_id 1 = 300, tc_id 2 = 1.
    const body = Buffer.from([0x08, 0xac, 0x02, 0x10, 0x01]);
    const bytes = Buffer.from([0x08, 62, 0xf2, 0x03, body.length, ...body]);
    driver.receiveFrame(frameOf({ kind: "unknown", type: 62, bytes }));
    expect(driver.sent()).toMatchObject([
      { kind: "error", body: { requestId: 300n, error: SERVER_ERROR.NotAllowedError } },
    ]);
    expect(driver.closeReason).toBeUndefined();
  });

  test("of an unknown kind without an id end the connection", () => {
    const driver = SessionDriver.connected();
    driver.receiveFrame(frameOf({ kind: "unknown", type: 99, bytes: Buffer.from([0x08, 99]) }));
    expect(driver.closeReason).toContain("99");
  });

  test("that only a broker sends end the connection", () => {
    const driver = SessionDriver.connected();
    driver.receive("success", { requestId: 1n });
    expect(driver.closeReason).toBeDefined();
  });
});
