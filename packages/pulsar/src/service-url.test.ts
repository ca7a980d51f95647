import { ConfigError } from "@sluice/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseServiceUrl } from "./service-url.ts";

test.each([
  ["pulsar://localhost", false, ["localhost 6650"]],
  ["pulsar+ssl://broker.example", true, ["broker.example 6651"]],
  ["PULSAR://h:1/", false, ["h 1"]],
  ["pulsar://h1:6650,h2:6652,h3", false, ["h1 6650", "h2 6652", "h3 6650"]],
  ["pulsar://[::1]", false, ["::1 6650"]],
  ["pulsar+ssl://[fe80::1]:65535,127.0.0.1", true, ["fe80::1 65535", "127.0.0.1 6651"]],
  ["pulsar://my_broker-1", false, ["my_broker-1 6650"]],
])("%s has TLS %s and the addresses %o", (text, isTls, addresses) => {
  const url = parseServiceUrl(text);
  expect(url.isTls).toBe(isTls);
  expect(url.addresses.map(({ host, port }) => `${host} ${port}`)).toEqual(addresses);
});

test("an IPv6 address is parsed without its brackets", () => {
  expect(parseServiceUrl("pulsar+ssl://[::1]:7000")).toEqual({
    isTls: true,
    addresses: [{ host: "::1", port: 7000 }],
  });
});

test.each([
  ["", /neither pulsar:\/\/ nor pulsar\+ssl:\/\//],
  ["localhost:6650", /e\.g\. pulsar:\/\/localhost:6650/],
  ["http://localhost:8080", /use the broker's own, e\.g\. pulsar:\/\/localhost:6650/],
  ["HTTPS://localhost:8443", /use the broker's own, e\.g\. pulsar\+ssl:\/\/localhost:6651/],
  ["pulsar+tls://localhost", /begins with/],
  ["pulsar://", /address 1 .* no valid host/],
  ["pulsar://h1,,h2", /address 2 .* no valid host/],
  ["pulsar://h1,", /address 2 .* no valid host/],
  ["pulsar://::1:6650", /\[::1\]:port for IPv6/],
  ["pulsar://[nonsense]:6650", /no valid host/],
  ["pulsar://[::1", /no valid host/],
  ["pulsar://[::1]6650", /no valid host/],
  ["pulsar://h:0", /no valid port/],
  ["pulsar://h:65536", /no valid port/],
  ["pulsar://h:", /no valid port/],
  ["pulsar://h:66x", /no valid port/],
  ["pulsar://h:6650/path", /no valid port/],
  ["pulsar://h?tls=no", /no valid host/],
  ["pulsar://h ", /no valid host/],
  ["pulsar://-h", /no valid host/],
  ["pulsar://me:secret@h:6650", /has a user or password; use the option authentication/],
  [`pulsar://${"h,".repeat(3000)}`, /at most 4096/],
])("%j is refused with the way out", (text, why) => {
  expect(() => parseServiceUrl(text)).toThrow(ConfigError);
  expect(() => parseServiceUrl(text)).toThrow(why);
});

test("no error shows any part of a URL, which may contain a password", () => {
  const around = fc.constantFrom(
    "pulsar://",
    "pulsar://u:",
    "pulsar://h:",
    "http://",
    "",
    "pulsar://[",
  );
  fc.assert(
    fc.property(around, fc.constantFrom("", "@h", ":1/", "]"), (before, after) => {
      let message = "";
      try {
        parseServiceUrl(`${before}Canary ${after}`);
      } catch (error) {
        message = String(error);
      }
      expect(message).toMatch(/ConfigError/);
      expect(message).not.toContain("Canary");
    }),
  );
});
