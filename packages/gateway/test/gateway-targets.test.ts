/** Which brokers a gateway connects its clients to, on real sockets or on none. */
import { LOOKUP_RESULT } from "@sluice/pulsar/wire";
import { afterEach, describe, expect, test } from "vitest";
import type { StartGatewayOptions } from "../src/index.ts";
import type { CheckedEndpoint } from "../src/upstream/open-socket.ts";
import { ask, endScene, pairOf, rawClientOf, startFront, startScripted } from "./gateway-scene.ts";
import type { Front } from "./gateway-scene.ts";

afterEach(endScene);

describe("the target that CONNECT names", () => {
  const HOME = "203.0.113.1";

  /** A gateway whose sockets are only counted. */
  async function startCounted(
    upstream: Partial<Exclude<StartGatewayOptions["upstream"], string>>,
    addresses: Readonly<Record<string, readonly (readonly string[])[]>> = {},
  ): Promise<Front & { readonly opened: CheckedEndpoint[]; readonly resolved: string[] }> {
    const opened: CheckedEndpoint[] = [];
    const resolved: string[] = [];
    const front = await startFront(
      { url: "pulsar://broker.test:6650", ...upstream },
      {},
      {
        resolve: (host) => {
          const times = resolved.filter((one) => one === host).length;
          resolved.push(host);
          const answers = addresses[host] ?? [[HOME]];
          return Promise.resolve(answers[Math.min(times, answers.length - 1)] ?? []);
        },
        open: (endpoint) => {
          opened.push(endpoint);
          return Promise.reject(new Error("no network here"));
        },
      },
    );
    return { ...front, opened, resolved };
  }

  test.each([
    "127.0.0.1:6650",
    "[::1]:6650",
    "0x7f000001:6650",
    "2130706433:6650",
    "127.1:6650",
    "localhost:6650",
    "169.254.169.254:80",
    "[::ffff:127.0.0.1]:6650",
    "0.0.0.0:6650",
    "10.0.0.1:6650",
    "203.0.113.1:6650",
    "broker.test:22",
    "other.test:6650",
  ])("%s is refused before any name is resolved and any socket opened", async (target) => {
    const front = await startCounted({});
    expect(await ask(front, target)).toContain("allow.hosts");
    expect([front.opened, front.resolved]).toEqual([[], []]);
    expect(front.events).toContainEqual(
      expect.objectContaining({ kind: "target-refused", target }),
    );
  });

  test.each([
    ["127.0.0.1"],
    ["::1"],
    ["::ffff:127.0.0.1"],
    ["169.254.169.254"],
    ["fe80::1"],
    ["10.1.2.3"],
    ["192.168.0.1"],
    ["172.16.0.1"],
    ["100.64.0.1"],
    ["fd00::1"],
    ["224.0.0.1"],
    ["ff02::1"],
    ["0.0.0.0"],
    ["::"],
    ["64:ff9b::7f00:1"],
    [HOME, "127.0.0.1"],
  ])(
    "a listed name that has the address %s is refused, and no socket opened",
    async (...addresses) => {
      const allow = { hosts: ["listed.test:6650"] };
      const front = await startCounted({ allow }, { "listed.test": [addresses] });
      expect(await ask(front, "listed.test:6650")).toContain("allow.addresses");
      expect(front.opened).toEqual([]);
    },
  );

  test("a name that changes its address is refused, or connected to the address that was checked", async () => {
    const allow = { hosts: ["listed.test:6650"] };
    const changing = { "listed.test": [["203.0.113.9"], ["127.0.0.1"], ["203.0.113.9"]] };
    const front = await startCounted({ allow }, changing);
    expect(await ask(front, "listed.test:6650")).toContain("no network here");
    expect(await ask(front, "listed.test:6650")).toContain("loopback address 127.0.0.1");
    expect(front.opened).toEqual([{ host: "listed.test", address: "203.0.113.9", port: 6650 }]);
  });

  test("may have a local address where the upstream itself has one, or where it is listed", async () => {
    const hosts = ["listed.test:6650"];
    const listed = { "listed.test": [["10.0.0.7"]] };
    const near = await startCounted(
      { allow: { hosts } },
      { ...listed, "broker.test": [["10.9.9.9"]] },
    );
    await ask(near, "listed.test:6650");
    expect(near.opened.map(({ address }) => address)).toEqual(["10.0.0.7"]);
    const addresses = ["10.0.0.0/24"];
    const named = await startCounted({ allow: { hosts, addresses } }, listed);
    await ask(named, "listed.test:6650");
    expect(named.opened.map(({ address }) => address)).toEqual(["10.0.0.7"]);
  });

  test("may be what a lookup has named, on a port that brokers use", async () => {
    const broker = await startScripted();
    const front = await startFront(broker.url);
    const [client, peer] = await pairOf(front, broker);
    // The same address by another name: both are loopback, where the upstream is.
    for (const [requestId, host] of [
      [1n, `localhost:${broker.port}`],
      [2n, "localhost:1"],
    ] as const) {
      client.send("lookup", { topic: "t", requestId });
      await peer.next("lookup");
      const response = LOOKUP_RESULT.connect;
      peer.send("lookupResponse", { requestId, response, brokerServiceUrl: `pulsar://${host}` });
      await client.next("lookupResponse");
    }
    expect(await ask(front, "localhost:1")).toContain("a port that brokers do not use");
    const second = await rawClientOf(front);
    second.send("connect", { clientVersion: "raw", proxyToBrokerUrl: `localhost:${broker.port}` });
    const other = await broker.connected();
    await second.next("connected");
    expect(other).toBeDefined();
  });
});

describe("lookups of a cluster with several brokers", () => {
  test("are followed through redirects with the client's credentials", async () => {
    const [first, second, third] = [
      await startScripted(),
      await startScripted(),
      await startScripted(),
    ];
    const hosts = [second, third].map(({ port }) => `127.0.0.1:${port}`);
    const front = await startFront({ url: first.url, allow: { hosts } });
    const [client, peer] = await pairOf(front, first);
    client.send("lookup", { topic: "t", requestId: 7n });
    await peer.next("lookup");
    const redirect = { requestId: 7n, response: LOOKUP_RESULT.redirect };
    peer.send("lookupResponse", { ...redirect, brokerServiceUrl: second.url, authoritative: true });
    const asked = await second.connected();
    expect(await asked.next("lookup")).toMatchObject({ topic: "t", authoritative: true });
    const response = LOOKUP_RESULT.connect;
    asked.send("lookupResponse", { requestId: 7n, response, brokerServiceUrl: third.url });
    expect(await client.next("lookupResponse")).toMatchObject({
      brokerServiceUrl: third.url,
      proxyThroughServiceUrl: true,
    });
    await asked.ended();
  });

  test("that lead nowhere are answered, and not left waiting", async () => {
    const broker = await startScripted();
    const front = await startFront(broker.url);
    const [client, peer] = await pairOf(front, broker);
    client.send("lookup", { topic: "t", requestId: 7n });
    await peer.next("lookup");
    const redirect = { requestId: 7n, response: LOOKUP_RESULT.redirect };
    peer.send("lookupResponse", { ...redirect, brokerServiceUrl: "pulsar://127.0.0.1:1" });
    expect(await client.next("lookupResponse")).toMatchObject({
      response: LOOKUP_RESULT.failed,
      message: expect.stringContaining("allow.hosts") as string,
    });
  });

  test("that a broker refuses do not make that broker a lost one", async () => {
    const [first, second] = [await startScripted(), await startScripted()];
    const hosts = [`127.0.0.1:${second.port}`];
    const front = await startFront({ url: first.url, allow: { hosts } });
    const [client, peer] = await pairOf(front, first);
    client.send("lookup", { topic: "t", requestId: 7n });
    await peer.next("lookup");
    const redirect = { requestId: 7n, response: LOOKUP_RESULT.redirect };
    peer.send("lookupResponse", { ...redirect, brokerServiceUrl: second.url });
    const asked = await second.connected();
    await asked.next("lookup");
    asked.send("error", { requestId: 7n, error: 3, message: "not with this role" });
    expect(await client.next("lookupResponse")).toMatchObject({
      response: LOOKUP_RESULT.failed,
      message: expect.stringContaining("not with this role") as string,
    });
    expect(front.gateway.stats().lostUpstreams).toEqual([]);
  });
});
