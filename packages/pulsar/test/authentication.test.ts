import type { SluiceError } from "@sluice/core";
import { inspect } from "node:util";
import { VirtualTimer } from "@sluice/core/testing";
import { afterEach, describe, expect, test } from "vitest";
import { connect } from "../src/client/api/connect.ts";
import type { Authentication } from "../src/client/authentication/authentication.ts";
import { oauth2Authentication } from "../src/client/authentication/oauth2.ts";
import type { OAuth2Options } from "../src/client/authentication/oauth2.ts";
import {
  basicAuthentication,
  tlsAuthentication,
  tokenAuthentication,
} from "../src/client/authentication/ready-methods.ts";
import type { Command } from "../src/wire/command.ts";
import { AUTHORITY, CLIENT } from "./certificates.ts";
import { HttpServer } from "./http-server.ts";
import type { HttpAnswer } from "./http-server.ts";
import { ScriptedBroker } from "./scripted-broker.ts";
import { connectTo, dependenciesOf } from "./virtual-client.ts";

const CHALLENGE: Command = {
  kind: "authChallenge",
  body: { challenge: { authMethodName: "x", authData: Buffer.from("prove it") } },
};

/** The method and credentials that CONNECT carried. */
function connectOf(broker: ScriptedBroker): { method: string; data: string } {
  const [command] = broker.last.heard;
  if (command?.kind !== "connect") throw new Error("the broker heard no CONNECT");
  const { authMethodName = "", authData = "" } = command.body;
  return { method: authMethodName, data: String(authData) };
}

function responsesOf(broker: ScriptedBroker): string[] {
  return broker.last.heard.flatMap((command) =>
    command.kind === "authResponse" ? [String(command.body.response?.authData)] : [],
  );
}

async function connectWith(authentication: Authentication) {
  const broker = new ScriptedBroker();
  const virtual = await connectTo(broker, { authentication });
  return { ...virtual, broker };
}

describe("a ready method", () => {
  test.each([
    [tokenAuthentication("secret"), "token", "secret"],
    [tokenAuthentication(() => Promise.resolve("fetched")), "token", "fetched"],
    [basicAuthentication("ann", "p:ss"), "basic", "ann:p:ss"],
  ])("%o sends its credentials with CONNECT", async (authentication, method, data) => {
    const { broker, client } = await connectWith(authentication);
    expect(connectOf(broker)).toEqual({ method, data });
    expect(inspect(client, { depth: 9, showHidden: true })).not.toContain(data);
    await client.close();
  });

  test("for TLS names the method and needs a client certificate and a TLS URL", async () => {
    const broker = new ScriptedBroker();
    const authentication = tlsAuthentication();
    const tls = { ca: AUTHORITY, ...CLIENT };
    const { client } = await connectTo(broker, { authentication, tls }, "pulsar+ssl://broker");
    expect(connectOf(broker)).toEqual({ method: "tls", data: "" });
    await client.close();
    await expect(connectTo(broker, { authentication, tls }, "pulsar://broker")).rejects.toThrow(
      "tlsAuthentication needs TLS",
    );
  });
});

describe("a method of the user's own", () => {
  test("answers AUTH_CHALLENGE with refresh, which gets the challenge", async () => {
    const challenges: string[] = [];
    const { broker, client, timer } = await connectWith({
      methodName: "sasl",
      credentials: () => Buffer.from([1, 2, 3]),
      refresh: (challenge) => {
        challenges.push(String(challenge));
        return `answer ${challenges.length}`;
      },
    });
    expect(connectOf(broker)).toEqual({ method: "sasl", data: "\u0001\u0002\u0003" });
    broker.last.tell(CHALLENGE);
    await timer.advance(0);
    broker.last.tell(CHALLENGE);
    await timer.advance(0);
    expect(challenges).toEqual(["prove it", "prove it"]);
    expect(responsesOf(broker)).toEqual(["answer 1", "answer 2"]);
    await client.close();
  });

  test("without refresh gives its credentials again", async () => {
    let calls = 0;
    const { broker, client, timer } = await connectWith({
      methodName: "token",
      credentials: () => Promise.resolve(`token ${++calls}`),
    });
    broker.last.tell(CHALLENGE);
    await timer.advance(0);
    expect(responsesOf(broker)).toEqual(["token 2"]);
    await client.close();
  });

  test("that never settles ends at the connect timeout, and its signal is aborted", async () => {
    const timer = new VirtualTimer();
    let signal: AbortSignal | undefined;
    const connecting = connect("pulsar://broker", {
      dependencies: dependenciesOf(new ScriptedBroker(), timer),
      authentication: {
        methodName: "slow",
        credentials: (given) => {
          signal = given;
          return new Promise(() => undefined);
        },
      },
    });
    const failed = expect(connecting).rejects.toMatchObject({ code: "DEADLINE" });
    await timer.advance(10_000);
    await failed;
    expect(signal?.aborted).toBe(true);
    expect(timer.sleeping).toBe(0);
  });

  test("that fails or hangs on a challenge closes that connection, and the client reconnects", async () => {
    const answers = [
      () => Promise.reject(new Error("no vault")),
      () => new Promise<string>(() => undefined),
    ];
    for (const refresh of answers) {
      const setup = await connectWith({ methodName: "token", credentials: () => "good", refresh });
      const { broker, client, timer, events } = setup;
      const producer = await client.createProducer({ topic: "t" });
      broker.last.tell(CHALLENGE);
      await timer.advance(31_000);
      expect(events.filter(({ type }) => type === "reattached")).toHaveLength(1);
      await producer.send({ data: "" });
      await client.close();
      expect(timer.sleeping).toBe(0);
    }
  });

  test("that gives a wrong type fails without showing what it gave", async () => {
    const timer = new VirtualTimer();
    const error: unknown = await connect("pulsar://broker", {
      dependencies: dependenciesOf(new ScriptedBroker(), timer),
      authentication: { methodName: "mine", credentials: () => 12_345 as never },
    }).catch((reason: unknown) => reason);
    expect(String(error)).toContain('"mine" gave credentials of type number; return a string');
    expect(inspect(error)).not.toContain("12345");
  });
});

describe("OAuth2 client credentials", () => {
  let servers: HttpServer[] = [];

  afterEach(async () => {
    for (const server of servers) await server.close();
    servers = [];
  });

  /** An issuer that hands out numbered tokens which live for an hour. */
  const issuing: HttpAnswer = ({ path }, response, url) => {
    const content = path.endsWith("openid-configuration")
      ? { token_endpoint: `${url}/oauth/token` }
      : { access_token: `token-${++issued}`, expires_in: 3_600, token_type: "Bearer" };
    response.end(JSON.stringify(content));
  };
  let issued = 0;

  async function issuer(answer: HttpAnswer = issuing): Promise<HttpServer> {
    issued = 0;
    const server = await HttpServer.start(answer);
    servers.push(server);
    return server;
  }

  async function client(options: Partial<OAuth2Options> = {}, answer?: HttpAnswer) {
    const server = await issuer(answer);
    const timer = new VirtualTimer();
    const issuerUrl = options.tokenUrl === undefined ? `${server.url}/` : undefined;
    const authentication = oauth2Authentication({
      issuerUrl,
      clientId: "id",
      clientSecret: "s&cret",
      timer,
      ...options,
    });
    const { signal } = new AbortController();
    return {
      server,
      timer,
      authentication,
      credentials: async () => authentication.credentials(signal),
      refresh: async () => authentication.refresh?.(new Uint8Array(), signal),
    };
  }

  test("discovers the token endpoint and posts the client's credentials there", async () => {
    const { server, authentication } = await client({ audience: "urn:pulsar", scope: "a b" });
    const { broker, client: connected } = await connectWith(authentication);
    expect(connectOf(broker)).toEqual({ method: "token", data: "token-1" });
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /.well-known/openid-configuration",
      "POST /oauth/token",
    ]);
    expect(Object.fromEntries(new URLSearchParams(server.requests[1]?.body))).toEqual({
      grant_type: "client_credentials",
      client_id: "id",
      client_secret: "s&cret",
      audience: "urn:pulsar",
      scope: "a b",
    });
    expect(inspect(authentication, { depth: 9, showHidden: true })).not.toContain("s&cret");
    await connected.close();
  });

  test("shares one request between connections, and reuses the token for 90 % of its life", async () => {
    const { credentials, server, timer } = await client();
    const tokens = await Promise.all(Array.from({ length: 50 }, credentials));
    expect(new Set(tokens)).toEqual(new Set(["token-1"]));
    await timer.advance(3_200_000);
    expect(await credentials()).toBe("token-1");
    expect(server.requests).toHaveLength(2);
    await timer.advance(100_000);
    expect(await credentials()).toBe("token-2");
  });

  test("fetches a new token after AUTH_CHALLENGE, one for all connections", async () => {
    const { credentials, refresh, timer } = await client();
    expect(await credentials()).toBe("token-1");
    await timer.advance(10_000);
    expect(await Promise.all([refresh(), refresh()])).toEqual(["token-2", "token-2"]);
    expect(await refresh()).toBe("token-2");
    await timer.advance(10_000);
    expect(await refresh()).toBe("token-3");
  });

  test("uses the cached token while the issuer is down, until the token expires", async () => {
    let isDown = false;
    const { credentials, timer } = await client({}, (request, response, url) => {
      if (isDown) response.writeHead(503).end("down");
      else issuing(request, response, url);
    });
    expect(await credentials()).toBe("token-1");
    isDown = true;
    await timer.advance(3_500_000);
    expect(await credentials()).toBe("token-1");
    await timer.advance(200_000);
    await expect(credentials()).rejects.toMatchObject({ code: "CONNECTION" });
    isDown = false;
    expect(await credentials()).toBe("token-2");
  });

  test.each<[string, HttpAnswer, string]>([
    [
      "a refusal",
      (_, response) => {
        response.writeHead(401);
        response.end('{"error":"invalid_client","error_description":"no\\nsuch client"}');
      },
      "failed with HTTP 401 invalid_client: no such client",
    ],
    ["no token", (_, response) => void response.end("{}"), "names no token_endpoint"],
    ["no JSON", (_, response) => void response.end("<html>"), "failed with HTTP 200"],
    [
      "an answer without end",
      (_, response) => {
        const more = (): void => {
          if (!response.destroyed) response.write(Buffer.alloc(65_536), more);
        };
        more();
      },
      "has more than 262144 bytes",
    ],
    [
      "a redirect",
      (_, response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
      "failed; is the URL right",
    ],
    [
      "a token endpoint without TLS",
      (_, response) => void response.end('{"token_endpoint":"http://elsewhere.example/"}'),
      "token_endpoint is not an https:// URL",
    ],
  ])("fails by name on %s, without the secret", async (_, answer, expected) => {
    const { credentials } = await client({}, answer);
    const error = await credentials().catch((reason: SluiceError) => reason);
    expect(String(error)).toContain(expected);
    expect(inspect(error)).not.toContain("s&cret");
  });

  test("gives up an issuer that does not answer", async () => {
    const { credentials, timer, server } = await client(
      { requestTimeoutMs: 5_000 },
      () => undefined,
    );
    const failed = expect(credentials()).rejects.toMatchObject({ code: "DEADLINE" });
    while (server.requests.length === 0) await timer.advance(0);
    await timer.advance(5_000);
    await failed;
    expect(timer.sleeping).toBe(0);
  });
});
