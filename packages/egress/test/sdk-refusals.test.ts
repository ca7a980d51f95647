/** Refusals of a gate as the callers of real SDKs see them: `fetch: throttledFetch(...)`. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { createGate, isRefusal, ThrottledError, throttledFetch } from "@sluice/egress";
import type { ThrottledFetch, ThrottledFetchOptions } from "@sluice/egress";
import { describe, expect, onTestFinished, test } from "vitest";
import { startLoopback } from "./loopback.ts";

type Call = (baseURL: string, fetch: ThrottledFetch) => Promise<unknown>;

const CLIENTS: [string, Call][] = [
  ["openai", (baseURL, fetch) => new OpenAI({ apiKey: "key", baseURL, fetch }).models.list()],
  [
    "@anthropic-ai/sdk",
    (baseURL, fetch) => new Anthropic({ apiKey: "key", baseURL, fetch }).models.list(),
  ],
];

/** A gate that refuses, before a server that would serve. */
async function setUp(options: ThrottledFetchOptions) {
  const loopback = await startLoopback((_request, response) => response.end("{}"));
  let refused = 0;
  const fetch = throttledFetch({
    ...options,
    call: { wait: false },
    observers: [(event) => (refused += event.type === "refused" ? 1 : 0)],
  });
  onTestFinished(async () => {
    fetch.gates.close();
    await loopback.close();
  });
  fetch.gates.for(new URL(loopback.url).origin).pause(5000);
  return { ...loopback, fetch, refused: () => refused };
}

describe.each(CLIENTS)("a refusal inside %s", (_name, call) => {
  test.each<ThrottledFetchOptions>([{}, { refusals: "respond" }])(
    "is told once, with its reason and its time, and not retried: %j",
    async (options) => {
      const { url, count, fetch, refused } = await setUp(options);
      const error: unknown = await call(url, fetch).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ status: 429 });
      const { headers, message } = error as { headers: Headers; message: string };
      expect(headers.get("x-sluice-refused")).toBe("retry-after");
      expect(Number(headers.get("retry-after-ms"))).toBeGreaterThan(4000);
      expect(message).toContain("pause");
      expect(isRefusal(error)).toBe(true);
      expect([count(), refused()]).toEqual([0, 1]);
    },
  );

  test("that is thrown is recognised, though the SDK makes a broken connection of it", async () => {
    const { url, count, fetch } = await setUp({ refusals: "throw" });
    const error: unknown = await call(url, fetch).catch((thrown: unknown) => thrown);
    expect(isRefusal(error)).toBe(true);
    expect(count()).toBe(0);
  });

  test("says nothing of the peer to a gate around the SDK", async () => {
    const { url, fetch } = await setUp({});
    const outer = createGate();
    await expect(outer.run(() => call(url, fetch))).rejects.toThrow();
    expect(outer.pausedForMs).toBe(0);
    outer.close();
  });
});

test("a refusal is thrown to a caller of its own, whose fields are none of an SDK", async () => {
  const { url, count, fetch } = await setUp({});
  const error: unknown = await fetch(url, { headers: { accept: "text/plain" } }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ThrottledError);
  expect(count()).toBe(0);
});
