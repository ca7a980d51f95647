import { ConfigError } from "@sluice/core";
import { expect, test } from "vitest";
import { parseListenAddress, serviceUrl } from "./listen-address.ts";

test.each([
  ["pulsar://127.0.0.1:7000", { isTls: false, host: "127.0.0.1", port: 7000 }],
  ["pulsar://localhost", { isTls: false, host: "localhost", port: 6650 }],
  ["pulsar+ssl://broker.example", { isTls: true, host: "broker.example", port: 6651 }],
  ["pulsar://[::1]:0", { isTls: false, host: "::1", port: 0 }],
])("%s is an address", (url, address) => {
  expect(parseListenAddress(url)).toEqual(address);
});

test.each([
  "",
  "127.0.0.1:6650",
  "http://127.0.0.1",
  "pulsar://",
  "pulsar://a:70000",
  "pulsar://a b",
])('"%s" is none', (url) => {
  expect(() => parseListenAddress(url)).toThrow(ConfigError);
});

test("what clients are told is what was parsed", () => {
  for (const url of ["pulsar://[::1]:6650", "pulsar+ssl://h:1"])
    expect(serviceUrl(parseListenAddress(url))).toBe(url);
});
