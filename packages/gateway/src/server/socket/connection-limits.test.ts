import { ConfigError } from "@sluice/core";
import { expect, test } from "vitest";
import { ConnectionCount, connectionLimits } from "./connection-limits.ts";

const STILL = { now: () => 0 };

test("connections are bounded, all of them and by address", () => {
  const limits = connectionLimits({ connectionsMax: 3, connectionsPerAddressMax: 2 });
  const count = new ConnectionCount(limits, STILL);
  expect(["a", "a", "a", "b", "c"].map((address) => count.tryEnter(address) === undefined)).toEqual(
    [true, true, false, true, false],
  );
  count.leave("a");
  expect(count.all).toBe(2);
  expect(count.tryEnter("a")).toBeUndefined();
});

test("only all together are bounded if they come from this machine", () => {
  const count = new ConnectionCount(connectionLimits({ connectionsPerAddressMax: 1 }), STILL);
  for (const address of ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
    expect([count.tryEnter(address), count.tryEnter(address)]).toEqual([undefined, undefined]);
  expect(count.tryEnter("::2")).toBeUndefined();
  expect(count.tryEnter("::2")).toContain("address");
});

test("bounds that make no sense are refused", () => {
  expect(() => connectionLimits({ connectionsMax: 0 })).toThrow(ConfigError);
  expect(() => connectionLimits({ connectionMax: 1 } as object)).toThrow(ConfigError);
});

test("connections that come too fast are told how long to wait, all of them and by address", () => {
  let nowMs = 0;
  const limits = connectionLimits({ perSecond: 3, perAddressPerSecond: 2 });
  const count = new ConnectionCount(limits, { now: () => nowMs });
  const enter = (address: string): string | undefined => count.tryEnter(address);
  expect([enter("a"), enter("a")]).toEqual([undefined, undefined]);
  expect(enter("a")).toBe(
    "more than 2 new connections a second come from this address; try again in 0.5 s",
  );
  expect(enter("b")).toBeUndefined();
  expect(enter("127.0.0.1")).toBe(
    "more than 3 new connections come in a second; try again in 0.4 s",
  );
  expect(count.all).toBe(3);
  nowMs = 1_000;
  expect(["127.0.0.1", "127.0.0.1", "127.0.0.1"].map(enter)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
