/** Tokens over the wire, on real sockets. */
import { generateKeyPairSync } from "node:crypto";
import { nextTurn } from "@sluice/core/system";
import { NO_ID, SERVER_ERROR } from "@sluice/pulsar/wire";
import { SignJWT, UnsecuredJWT } from "jose";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestBroker, WALL_START_MS } from "./broker-world.ts";
import type { TestBroker } from "./broker-world.ts";
import { RawClient } from "./raw-client.ts";

const SECRET = Buffer.alloc(32, "canary");
const START_SECONDS = WALL_START_MS / 1_000;

let broker: TestBroker;
const clients: RawClient[] = [];

const refused: string[] = [];

beforeEach(async () => {
  refused.length = 0;
  broker = await startTestBroker({
    token: { secretKey: SECRET, leewayMs: 0 },
    roles: {
      me: { produce: ["public/default/*"], consume: ["public/default/*"] },
      writer: { produce: ["public/default/in"] },
      reader: { consume: ["public/default/out"] },
      root: { admin: true },
    },
    observe: (event) => {
      if (event.kind === "client-refused") refused.push(event.reason);
    },
  });
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await broker.close();
});

function tokenFor(role: string, lastsSeconds: number, key: Uint8Array = SECRET): Promise<string> {
  const token = new SignJWT({ sub: role }).setProtectedHeader({ alg: "HS256" });
  return token.setExpirationTime(START_SECONDS + lastsSeconds).sign(key);
}

async function connectWith(
  token: string,
  { method = "token", canRefresh = false } = {},
): Promise<RawClient> {
  const client = await RawClient.open(broker.port);
  clients.push(client);
  client.send("connect", {
    clientVersion: "raw",
    protocolVersion: 21,
    authMethodName: method,
    authData: Buffer.from(token),
    featureFlags: { supportsAuthRefresh: canRefresh },
  });
  return client;
}

test("a good token lets its holder in", async () => {
  const client = await connectWith(await tokenFor("me", 60));
  expect(await client.next("connected")).toMatchObject({ protocolVersion: 21 });
});

const BAD: Readonly<Record<string, () => Promise<string> | string>> = {
  nothing: () => "",
  "two dots": () => "..",
  "a megabyte less than a frame": () => "x".repeat(60_000),
  "one without a signature": () =>
    new UnsecuredJWT({ sub: "me" }).setExpirationTime(START_SECONDS + 60).encode(),
  "another key's": () => tokenFor("me", 60, Buffer.alloc(32, "other")),
  "one that has ended": () => tokenFor("me", -1),
  "one without an end": () =>
    new SignJWT({ sub: "me" }).setProtectedHeader({ alg: "HS256" }).sign(SECRET),
  "one without a role": () => tokenFor("", 60),
  "one signed with a key pair": () =>
    new SignJWT({ sub: "me" })
      .setProtectedHeader({ alg: "RS256" })
      .setExpirationTime(START_SECONDS + 60)
      .sign(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey),
};

test.each(Object.keys(BAD))("a bad token is refused: %s", async (what) => {
  const token = (await BAD[what]?.()) ?? "";
  const answers = await (await connectWith(token)).ended();
  expect(answers).toMatchObject([
    { kind: "error", body: { requestId: NO_ID, error: SERVER_ERROR.AuthenticationError } },
  ]);
  const text = JSON.stringify(answers, (_, value: unknown) => String(value));
  if (token.length > 2) expect(text).not.toContain(token.slice(0, 20));
});

test("without a token nothing but the handshake is served", async () => {
  const client = await RawClient.open(broker.port);
  clients.push(client);
  client.send("lookup", { topic: "t", requestId: 1n });
  expect(await client.ended()).toEqual([]);
});

test("another method than tokens is refused", async () => {
  const client = await connectWith(await tokenFor("me", 60), { method: "basic" });
  expect(await client.ended()).toMatchObject([{ kind: "error", body: { requestId: NO_ID } }]);
});

test("a connection ends with its token", async () => {
  const client = await connectWith(await tokenFor("me", 2));
  await client.next("connected");
  await broker.timer.advance(1_750);
  client.send("ping", {});
  await client.next("pong");
  await broker.timer.advance(500);
  expect(await client.ended()).toMatchObject([{ kind: "error" }]);
});

test("a connection lives on with a fresh token", async () => {
  const client = await connectWith(await tokenFor("me", 20), { canRefresh: true });
  await client.next("connected");
  await broker.timer.advance(18_500);
  const { challenge } = await client.next("authChallenge");
  expect(Buffer.from(challenge?.authData ?? []).toString()).toBe("PulsarAuthRefresh");
  const authData = Buffer.from(await tokenFor("me", 200));
  client.send("authResponse", { response: { authMethodName: "token", authData } });
  client.send("ping", {});
  await client.next("pong");
  // The check takes a few turns, of a time that is not the broker's.
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  await broker.timer.advance(10_000);
  client.send("ping", {});
  await client.next("pong");
});

async function connectedAs(role: string): Promise<RawClient> {
  const client = await connectWith(await tokenFor(role, 60));
  await client.next("connected");
  return client;
}

/** How a request ended: "ok", or what the error is called. */
async function outcomeOf(client: RawClient): Promise<string> {
  const { command } = await client.nextAny();
  if (command.kind === "unknown" || !("body" in command)) return "unknown";
  const { body } = command;
  const error = "errorCode" in body ? body.errorCode : "error" in body ? body.error : undefined;
  return error === SERVER_ERROR.AuthorizationError ? "AuthorizationError" : "ok";
}

type Ask = (client: RawClient, topic: string) => void;

const ASKS: Readonly<Record<string, Ask>> = {
  PRODUCER: (client, topic) => client.send("producer", { topic, producerId: 1n, requestId: 1n }),
  SUBSCRIBE: (client, topic) =>
    client.send("subscribe", {
      topic,
      subscription: "s",
      subType: 0,
      consumerId: 1n,
      requestId: 1n,
    }),
  LOOKUP: (client, topic) => client.send("lookup", { topic, requestId: 1n }),
  PARTITIONED_METADATA: (client, topic) =>
    client.send("partitionedMetadata", { topic, requestId: 1n }),
  GET_SCHEMA: (client, topic) => client.send("getSchema", { topic, requestId: 1n }),
  GET_OR_CREATE_SCHEMA: (client, topic) =>
    client.send("getOrCreateSchema", {
      topic,
      requestId: 1n,
      schema: { name: "s", schemaData: Buffer.from("{}"), type: 1 },
    }),
};

const DENIED = "AuthorizationError";

test.each([
  ["writer", "in", ["ok", DENIED, "ok", "ok", "ok", "ok"]],
  ["writer", "out", [DENIED, DENIED, DENIED, DENIED, DENIED, DENIED]],
  ["reader", "out", [DENIED, "ok", "ok", "ok", "ok", DENIED]],
  ["root", "persistent://other/any/topic", ["ok", "ok", "ok", "ok", "ok", "ok"]],
  ["stranger", "in", [DENIED, DENIED, DENIED, DENIED, DENIED, DENIED]],
])("the role %s may do to %s what it was given, and no more", async (role, topic, expected) => {
  const outcomes: string[] = [];
  for (const ask of Object.values(ASKS)) {
    const client = await connectedAs(role);
    ask(client, topic);
    outcomes.push(await outcomeOf(client));
  }
  expect(outcomes).toEqual(expected);
  expect(refused).toHaveLength(expected.filter((outcome) => outcome === DENIED).length);
});

test("GET_TOPICS answers the topics that a role may look up", async () => {
  const root = await connectedAs("root");
  for (const [index, topic] of ["in", "out", "secret"].entries()) {
    const id = BigInt(index);
    root.send("producer", { topic, producerId: id, requestId: id });
    await root.next("producerSuccess");
  }
  const writer = await connectedAs("writer");
  writer.send("getTopicsOfNamespace", { namespace: "public/default", requestId: 1n });
  const { topics } = await writer.next("getTopicsOfNamespaceResponse");
  expect(topics).toEqual(["persistent://public/default/in"]);
});

test("a permission that is granted or revoked holds for the next PRODUCER, SUBSCRIBE and lookup", async () => {
  const client = await connectedAs("stranger");
  const place = { namespace: "public/default" };
  const outcomes = async (): Promise<readonly string[]> => {
    const seen: string[] = [];
    for (const name of ["PRODUCER", "SUBSCRIBE", "LOOKUP"]) {
      const other = await connectedAs("stranger");
      ASKS[name]?.(other, "in");
      seen.push(await outcomeOf(other));
    }
    ASKS["LOOKUP"]?.(client, "in");
    seen.push(await outcomeOf(client));
    return seen;
  };
  expect(await outcomes()).toEqual([DENIED, DENIED, DENIED, DENIED]);
  await broker.policies.setPermission(place, "stranger", ["consume"]);
  expect(await outcomes()).toEqual([DENIED, "ok", "ok", "ok"]);
  await broker.policies.setPermission(place, "stranger", undefined);
  expect(await outcomes()).toEqual([DENIED, DENIED, DENIED, DENIED]);
});
