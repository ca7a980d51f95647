import { ConfigError } from "@sluice/core";
import { expect, test } from "vitest";
import { ConnectionCount, connectionLimits } from "./connection-limits.ts";

test("connections are bounded, all of them and by address", () => {
  const limits = connectionLimits({ connectionsMax: 3, connectionsPerAddressMax: 2 });
  const count = new ConnectionCount(limits);
  expect(["a", "a", "a", "b", "c"].map((address) => count.tryEnter(address) === undefined)).toEqual(
    [true, true, false, true, false],
  );
  count.leave("a");
  expect(count.all).toBe(2);
  expect(count.tryEnter("a")).toBeUndefined();
});

test("only all together are bounded if they come from this machine", () => {
  const count = new ConnectionCount(connectionLimits({ connectionsPerAddressMax: 1 }));
  for (const address of ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
    expect([count.tryEnter(address), count.tryEnter(address)]).toEqual([undefined, undefined]);
  expect(count.tryEnter("::2")).toBeUndefined();
  expect(count.tryEnter("::2")).toContain("address");
});

test("bounds that make no sense are refused", () => {
  expect(() => connectionLimits({ connectionsMax: 0 })).toThrow(ConfigError);
  expect(() => connectionLimits({ connectionMax: 1 } as object)).toThrow(ConfigError);
});
