import { VirtualTimer } from "@sluice/core/testing";
import { describe, expect, test } from "vitest";
import { createGate } from "./gate.ts";
import type { GateOptions } from "./options/gate-options.ts";
import { ThrottledError } from "./error/throttled-error.ts";

type Fields = Readonly<Record<string, string>>;

const NO_JITTER = { next: () => 0 };

function setUp(options: GateOptions = {}) {
  const timer = new VirtualTimer();
  const gate = createGate({
    ...options,
    runtime: { timer, random: NO_JITTER, wallClock: timer },
  });
  return {
    timer,
    gate,
    answer: (status: number, headers: Fields) => gate.run(() => ({ status, headers })),
    /** When a call of this cost starts, in ms from now. */
    startOf: async (cost?: Readonly<Record<string, number>>): Promise<number> => {
      const askedAtMs = timer.now();
      let startedAtMs = Number.NaN;
      const call = gate.run(() => (startedAtMs = timer.now()), cost === undefined ? {} : { cost });
      await timer.advance(600_000);
      await call;
      return startedAtMs - askedAtMs;
    },
  };
}

const TOKENS_USED_UP = {
  "x-ratelimit-remaining-requests": "9",
  "x-ratelimit-remaining-tokens": "0",
  "retry-after": "30",
};

const SEARCH_USED_UP = {
  "x-ratelimit-remaining": "0",
  "x-ratelimit-reset": "60",
  "x-ratelimit-resource": "search",
};

describe("a gate with a rate of that name", () => {
  test.each(["search", "Search", "SEARCH"])("pauses only %s", async (name) => {
    const rates = { [name]: "10/s", core: "10/s" };
    const { answer, startOf } = setUp({ rates });
    await answer(200, SEARCH_USED_UP);
    expect(await startOf({ [name]: 0, core: 1 })).toBeLessThan(1000);
    const again = setUp({ rates });
    await again.answer(200, SEARCH_USED_UP);
    // After the pause the rate has to bring a token.
    expect(await again.startOf({ [name]: 1, core: 0 })).toBe(60_100);
  });

  test("knows input-tokens as inputTokens", async () => {
    const { answer, gate, startOf } = setUp({ rates: { inputTokens: "1000/s" } });
    const headers = {
      "anthropic-ratelimit-input-tokens-remaining": "0",
      "anthropic-ratelimit-input-tokens-reset": "1970-01-01T00:01:00Z",
      "retry-after": "20",
    };
    await answer(429, headers);
    expect(gate.pausedForMs).toBe(0);
    expect(await startOf({ inputTokens: 5 })).toBe(20_005);
  });

  test("holds no other call by the Retry-After of a limit that is used up", async () => {
    const rates = { requests: "10/s", tokens: "1000/s" };
    const { gate, answer, startOf } = setUp({ rates, busy: "off" });
    await answer(429, TOKENS_USED_UP);
    expect(gate.pausedForMs).toBe(0);
    expect(await startOf({ tokens: 0 })).toBeLessThan(1000);
  });
});

describe("a gate without a rate of that name", () => {
  test("is not held by a served answer that speaks of other calls' limit", async () => {
    const { answer, gate } = setUp();
    await answer(200, SEARCH_USED_UP);
    expect(gate.pausedForMs).toBe(0);
  });

  test("is held by a refusal", async () => {
    const { answer, gate } = setUp({ rate: "10/s" });
    await answer(403, SEARCH_USED_UP);
    expect(gate.pausedForMs).toBe(60_000);
  });

  test("is held by a limit of every call that is used up", async () => {
    const { answer, gate } = setUp();
    await answer(200, { ratelimit: '"burst";r=0;t=5' });
    expect(gate.pausedForMs).toBe(5000);
  });
});

test("a limit that refills gradually does not hold a gate that is served", async () => {
  const { answer, gate, startOf } = setUp({ rates: { requests: "1/s" } });
  await answer(200, {
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-remaining-requests": "0",
    "x-ratelimit-reset-requests": "1m0s",
  });
  expect(gate.pausedForMs).toBe(0);
  expect(await startOf()).toBeLessThanOrEqual(1000);
});

describe("a pause longer than maxPauseMs", () => {
  const YEAR_MS = 31_536_000_000;
  const MINUTE_MS = 60_000;

  test.each<[string, number, Fields]>([
    ["a 200", 200, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "31536000" }],
    ["a 429", 429, { "retry-after": "31536000" }],
  ])(
    "told by %s refuses calls with the reason, and sends none early",
    async (_, status, headers) => {
      const { answer, gate, timer } = setUp({ maxPauseMs: MINUTE_MS, busy: "off" });
      await answer(status, headers);
      const refused = await gate.run(() => "sent").catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(ThrottledError);
      expect(refused).toMatchObject({ reason: "retry-after", retryAfterMs: YEAR_MS });
      await timer.advance(YEAR_MS - 1);
      const last = gate.run(() => timer.now());
      await timer.advance(1);
      expect(await last).toBe(YEAR_MS);
    },
  );

  test("is ended by resume", async () => {
    const { answer, gate } = setUp();
    await answer(200, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "31536000" });
    gate.resume();
    expect(await gate.run(() => "sent")).toBe("sent");
  });
});
