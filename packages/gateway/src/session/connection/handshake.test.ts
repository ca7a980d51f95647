import { NO_ID, SERVER_ERROR } from "@sluice/pulsar/wire";
import type { Command } from "@sluice/pulsar/wire";
import { describe, expect, test } from "vitest";
import { frameOf, SessionDriver } from "../../../test/session-driver.ts";

describe("before CONNECT", () => {
  test("a client is answered with the lower of both versions and what it may send", () => {
    const driver = new SessionDriver();
    driver.receive("connect", { clientVersion: "old", protocolVersion: 17 });
    expect(driver.sent()).toMatchObject([
      { kind: "connected", body: { protocolVersion: 17, maxMessageSize: 5_242_880 } },
    ]);
    expect(driver.take("setFrameBytesMax").bytes).toBe(5_242_880 + 10_240);
  });

  test("a newer client is answered with our version", () => {
    const driver = new SessionDriver();
    driver.receive("connect", { clientVersion: "new", protocolVersion: 99 });
    expect(driver.sent()).toMatchObject([{ body: { protocolVersion: 21 } }]);
  });

  test.each([
    { kind: "lookup", body: { topic: "t", requestId: 1n } },
    { kind: "send", body: { producerId: 1n, sequenceId: 1n } },
    { kind: "flow", body: { consumerId: 1n, messagePermits: 1 } },
  ] as Command[])("the command $kind ends the connection", (command) => {
    const driver = new SessionDriver();
    driver.receiveFrame(frameOf(command));
    expect(driver.closeReason).toContain("before CONNECT");
    expect(driver.session.isReading).toBe(false);
  });

  test("a PING is answered", () => {
    const driver = new SessionDriver();
    driver.receive("ping", {});
    expect(driver.sent()).toEqual([{ kind: "pong", body: {} }]);
  });

  test("a client has five seconds to say something", () => {
    const driver = new SessionDriver();
    driver.tick(4_999);
    expect(driver.closeReason).toBeUndefined();
    driver.tick(5_000);
    expect(driver.closeReason).toBe("no CONNECT in time");
  });

  test("no client chooses which address the broker connects to", () => {
    for (const target of ["127.0.0.1:22", "[::1]:6650", "0x7f000001:6650", "169.254.1.1:80"]) {
      const driver = new SessionDriver();
      driver.receive("connect", { clientVersion: "x", proxyToBrokerUrl: target });
      expect(driver.sent()).toMatchObject([{ kind: "error", body: { requestId: NO_ID } }]);
      expect(driver.closeReason).toBeDefined();
    }
  });

  test("a client that was sent to us by name may say so", () => {
    const driver = new SessionDriver();
    driver.receive("connect", { clientVersion: "x", proxyToBrokerUrl: "127.0.0.1:6650" });
    expect(driver.sent()).toMatchObject([{ kind: "connected" }]);
  });
});

describe("a token", () => {
  test("is checked before anything else is read", () => {
    const driver = connectWithToken();
    expect(driver.session.isReading).toBe(false);
    expect(Buffer.from(driver.take("authenticate").credentials).toString()).toBe("secret");
    driver.on({ kind: "authenticated", role: "me", expiresInMs: undefined });
    expect(driver.sent()).toMatchObject([
      { kind: "connected", body: { featureFlags: { supportsAuthRefresh: true } } },
    ]);
    expect(driver.session.isReading).toBe(true);
    expect(driver.session.role).toBe("me");
  });

  test("that is wrong ends the connection with an error that answers no request", () => {
    const driver = connectWithToken();
    driver.on({ kind: "authenticationFailed", message: "no" });
    expect(driver.sent()).toEqual([
      {
        kind: "error",
        body: { requestId: NO_ID, error: SERVER_ERROR.AuthenticationError, message: "no" },
      },
    ]);
    expect(driver.closeReason).toBe("no");
  });

  test.each(["", "tls", "basic"])('cannot be replaced by the method "%s"', (authMethodName) => {
    const driver = new SessionDriver({ authMethods: ["token"] });
    driver.receive("connect", { clientVersion: "x", authMethodName });
    expect(driver.sent()).toMatchObject([{ kind: "error", body: { requestId: NO_ID, error: 3 } }]);
    expect(driver.wanted.map(({ kind }) => kind)).toEqual(["refused"]);
  });

  test("that ends takes the connection with it", () => {
    const driver = connectWithToken();
    driver.on({ kind: "authenticated", role: "me", expiresInMs: 2_000 });
    driver.tick(1_999);
    expect(driver.closeReason).toBeUndefined();
    driver.tick(2_000);
    expect(driver.closeReason).toBe("the token has expired");
  });

  test("is asked for again before it ends, of a client that can be asked", () => {
    const driver = connectWithToken(true);
    driver.on({ kind: "authenticated", role: "me", expiresInMs: 2_000 });
    driver.take("authenticate");
    driver.sent();
    driver.tick(1_000);
    const [challenge] = driver.sent();
    expect(challenge).toMatchObject({
      kind: "authChallenge",
      body: { challenge: { authMethodName: "token" } },
    });
    driver.receive("authResponse", { response: { authData: Buffer.from("fresh") } });
    expect(Buffer.from(driver.take("authenticate").credentials).toString()).toBe("fresh");
    driver.nowMs = 1_100;
    driver.on({ kind: "authenticated", role: "me", expiresInMs: 2_000 });
    driver.tick(3_099);
    expect(driver.closeReason).toBeUndefined();
  });

  test("of somebody else does not take over a connection", () => {
    const driver = connectWithToken(true);
    driver.on({ kind: "authenticated", role: "me", expiresInMs: 2_000 });
    driver.tick(1_000);
    driver.receive("authResponse", { response: { authData: Buffer.from("other") } });
    driver.nowMs = 1_100;
    driver.on({ kind: "authenticated", role: "you", expiresInMs: 2_000 });
    expect(driver.closeReason).toBeDefined();
  });

  test("without a challenge ends the connection", () => {
    const driver = SessionDriver.connected();
    driver.receive("authResponse", {});
    expect(driver.closeReason).toBeDefined();
  });
});

function connectWithToken(supportsAuthRefresh = false): SessionDriver {
  const driver = new SessionDriver({ authMethods: ["token"] });
  driver.receive("connect", {
    clientVersion: "x",
    authMethodName: "token",
    authData: Buffer.from("secret"),
    featureFlags: { supportsAuthRefresh },
  });
  return driver;
}
