import { ConfigError } from "@sluice/core";
import { expect, test } from "vitest";
import { connectionBounds, throttleCodec } from "./settings.ts";
import type { IngressSettings } from "./settings.ts";

test("without settings the bounds are the documented ones, and clients are told", () => {
  expect(connectionBounds({})).toEqual({
    pendingMax: 1_000,
    heldBytesMax: undefined,
    maxHoldMs: 5_000,
    sharedHoldMs: 20_000,
    notices: {
      receiptWaitMs: 100,
      earlyPart: 1 / 40,
      resumePart: 1 / 25,
      pauseMinMs: 5,
      pauseMaxMs: Infinity,
      unheededMax: 10,
    },
  });
  expect(throttleCodec({})?.numbers.throttleProducer).toBe(1001);
  expect(throttleCodec({ throttle: false })).toBeUndefined();
  expect(throttleCodec({ throttle: { numbers: { featureFlag: 2000 } } })?.numbers.featureFlag).toBe(
    2000,
  );
});

const wrong: readonly (readonly [IngressSettings, string])[] = [
  [{ maxHoldMs: 0 }, "limits.maxHoldMs"],
  [{ maxHoldMs: 60_000 }, "clients give a SEND up after 30 s"],
  [{ connection: { heldBytes: 0.5 } }, "limits.connection.heldBytes"],
  [{ connection: { pendingMessages: 0 } }, "limits.connection.pendingMessages"],
  [{ throttle: { receiptWaitMs: -1 } }, "limits.throttle.receiptWaitMs"],
  [{ throttle: { earlyPercent: 0 } }, "limits.throttle.earlyPercent is 0"],
  [{ throttle: { earlyPercent: 50, resumePercent: 40 } }, "less than earlyPercent (50)"],
  [{ throttle: { pauseMinMs: 50, pauseMaxMs: 40 } }, "less than pauseMinMs (50)"],
  [{ throttle: { unheededMax: 0 } }, "limits.throttle.unheededMax"],
  [{ borker: { messages: 1 } } as IngressSettings, "did you mean broker?"],
  [{ connection: { held: 1 } } as IngressSettings, "heldBytes"],
];

test.each(wrong)("%j is refused with a way out", (settings, message) => {
  expect(() => connectionBounds(settings)).toThrow(ConfigError);
  expect(() => connectionBounds(settings)).toThrow(message);
});
