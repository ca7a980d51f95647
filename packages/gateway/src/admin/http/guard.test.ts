import { describe, expect, test } from "vitest";
import { Guard } from "./guard.ts";

const TOKEN = "a-token-of-some-length";
const BEARER = { authorization: `Bearer ${TOKEN}` };

function loopback(): Guard {
  return new Guard({ isLoopback: true });
}

/** Beyond this machine, where people may look without the token. */
function open(): Guard {
  return new Guard({
    isLoopback: false,
    token: TOKEN,
    readWithoutToken: true,
    advertisedHost: "flow.example.com",
  });
}

describe("on this machine a web page of another origin is refused", () => {
  test.each([
    ["that points its own name here (DNS rebinding)", { host: "evil.example:7070" }],
    ["whose name has brackets within an address", { host: "1[2]7.0.0.1" }],
    ["whose name is in brackets", { host: "[evil.example]:7070" }],
    ["of another origin", { host: "127.0.0.1:7070", origin: "http://evil.example" }],
    ["of another port of this machine", { host: "127.0.0.1:7070", origin: "http://127.0.0.1:1" }],
    ["that hides its origin", { host: "127.0.0.1:7070", origin: "null" }],
    [
      "whose name begins like the host",
      { host: "localhost", origin: "http://localhost.evil.test" },
    ],
  ])("%s", (_, headers) => {
    expect(loopback().refusalOfPage(headers)).toMatchObject({ status: 403 });
  });

  test.each(["cross-site", "same-site", "cross-site, same-origin"])(
    "whose image or script has the site %s",
    async (site) => {
      const headers = { host: "127.0.0.1", "sec-fetch-site": site };
      for (const access of ["read", "client", "admin"] as const)
        expect(await loopback().identify(access, headers)).toMatchObject({ status: 403 });
    },
  );
});

test("its own page, behind a proxy with TLS too, and tools are served", () => {
  const guard = new Guard({ isLoopback: true, advertisedHost: "Flow.Example.com" });
  for (const headers of [
    { host: "127.0.0.1:7070" },
    { host: "[::1]:7070", origin: "http://[::1]:7070" },
    { host: "[::1]" },
    { host: "localhost:7070", origin: "http://localhost:7070" },
    { host: "flow.example.com", origin: "https://flow.example.com" },
  ])
    expect(guard.refusalOfPage(headers)).toBeUndefined();
});

test("a link of another site leads to the page, whose files are no secret", async () => {
  const headers = { host: "127.0.0.1", "sec-fetch-site": "cross-site" };
  expect(await loopback().identify("all", headers)).toMatchObject({ mayChange: true });
});

test("reading without a token changes nothing: changes and Pulsar's paths need it", async () => {
  const headers = { host: "10.0.0.5:7070" };
  expect(await open().identify("read", headers)).toMatchObject({ mayChange: false });
  expect(await open().identify("admin", headers)).toMatchObject({ status: 401 });
  expect(await open().identify("client", headers)).toMatchObject({ status: 401 });
  expect(await open().identify("admin", { ...headers, ...BEARER })).toMatchObject({
    mayChange: true,
  });
});

test("a caller that gives a wrong token is refused, also where none is needed", async () => {
  const headers = { host: "10.0.0.5:7070", authorization: "Bearer wrong-but-long-enough" };
  expect(await open().identify("read", headers)).toMatchObject({ status: 401 });
});

test("a name that was made to point here cannot read without a token, beyond this machine either", async () => {
  expect(await open().identify("read", { host: "evil.example" })).toMatchObject({ status: 403 });
  expect(await open().identify("read", { host: "flow.example.com:7070" })).toMatchObject({
    mayChange: false,
  });
  expect(await open().identify("read", { host: "sluice", ...BEARER })).toMatchObject({
    mayChange: true,
  });
});

test("by default reading needs the token too", async () => {
  const guard = new Guard({ isLoopback: false, token: TOKEN });
  expect(await guard.identify("read", { host: "10.0.0.5" })).toMatchObject({ status: 401 });
});
