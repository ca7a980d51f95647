import { ConfigError } from "@sluice/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { formatServiceUrl, parseServiceUrl } from "./service-url.ts";

test.each([
  ["pulsar://localhost", "pulsar://localhost:6650"],
  ["pulsar+ssl://broker.example", "pulsar+ssl://broker.example:6651"],
  ["PULSAR://h:1/", "pulsar://h:1"],
  ["pulsar://h1:6650,h2:6652,h3", "pulsar://h1:6650,h2:6652,h3:6650"],
  ["pulsar://[::1]", "pulsar://[::1]:6650"],
  ["pulsar+ssl://[fe80::1]:65535,127.0.0.1", "pulsar+ssl://[fe80::1]:65535,127.0.0.1:6651"],
  ["pulsar://my_broker-1", "pulsar://my_broker-1:6650"],
])("%s means %s", (text, full) => {
  expect(formatServiceUrl(parseServiceUrl(text))).toBe(full);
});

test("the address of an IPv6 host is without brackets, as a socket wants it", () => {
  expect(parseServiceUrl("pulsar+ssl://[::1]:7000")).toEqual({
    isTls: true,
    addresses: [{ host: "::1", port: 7000 }],
  });
});

test.each([
  ["", /begins with pulsar:\/\/ or pulsar\+ssl:\/\//],
  ["localhost:6650", /as in pulsar:\/\/localhost:6650/],
  ["http://localhost:8080", /begins with/],
  ["pulsar+tls://localhost", /begins with/],
  ["pulsar://", /address 1 .* no proper host/],
  ["pulsar://h1,,h2", /address 2 .* no proper host/],
  ["pulsar://h1,", /address 2 .* no proper host/],
  ["pulsar://::1:6650", /\[::1\]:port for IPv6/],
  ["pulsar://[nonsense]:6650", /no proper host/],
  ["pulsar://[::1", /no proper host/],
  ["pulsar://[::1]6650", /no proper host/],
  ["pulsar://h:0", /no proper port/],
  ["pulsar://h:65536", /no proper port/],
  ["pulsar://h:", /no proper port/],
  ["pulsar://h:66x", /no proper port/],
  ["pulsar://h:6650/path", /no proper port/],
  ["pulsar://h?tls=no", /no proper host/],
  ["pulsar://h ", /no proper host/],
  ["pulsar://-h", /no proper host/],
  ["pulsar://me:secret@h:6650", /no user or password/],
  [`pulsar://${"h,".repeat(3000)}`, /at most 4096/],
])("refuses %j and says what would be right", (text, why) => {
  expect(() => parseServiceUrl(text)).toThrow(ConfigError);
  expect(() => parseServiceUrl(text)).toThrow(why);
});

test("no error repeats anything of a URL, which may hold a password", () => {
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
