/** Refusals of a gate as the callers of real SDKs see them: `fetch: throttledFetch(...)`. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { createGate, isRefusal, throttledFetch } from "@sluice/egress";
import type { ThrottledFetch, ThrottledFetchOptions } from "@sluice/egress";
import { describe, expect, test } from "vitest";
import { startLoopback } from "./loopback.ts";

type Finally = (end: () => Promise<void> | void) => void;
type Call = (baseURL: string, fetch: ThrottledFetch) => Promise<unknown>;

const CLIENTS: [string, Call][] = [
  ["openai", (baseURL, fetch) => new OpenAI({ apiKey: "key", baseURL, fetch }).models.list()],
  [
    "@anthropic-ai/sdk",
    (baseURL, fetch) => new Anthropic({ apiKey: "key", baseURL, fetch }).models.list(),
  ],
];

/** A gate that refuses, before a server that would serve. */
async function setUp(options: ThrottledFetchOptions, onTestFinished: Finally) {
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
  test("that is answered is told once, with its reason and its time, and not retried", async ({
    onTestFinished,
  }) => {
    const { url, count, fetch, refused } = await setUp({ refusals: "respond" }, onTestFinished);
    const error: unknown = await call(url, fetch).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 429 });
    const { headers, message } = error as { headers: Headers; message: string };
    expect(headers.get("x-sluice-refused")).toBe("retry-after");
    expect(Number(headers.get("retry-after-ms"))).toBeGreaterThan(4000);
    expect(message).toContain("pause");
    expect(isRefusal(error)).toBe(true);
    expect([count(), refused()]).toEqual([0, 1]);
  });

  test("that is thrown is recognised, though the SDK makes a broken connection of it", async ({
    onTestFinished,
  }) => {
    const { url, count, fetch } = await setUp({}, onTestFinished);
    const error: unknown = await call(url, fetch).catch((thrown: unknown) => thrown);
    expect(isRefusal(error)).toBe(true);
    expect(count()).toBe(0);
  });

  test("says nothing of the peer to a gate around the SDK", async ({ onTestFinished }) => {
    const { url, fetch } = await setUp({ refusals: "respond" }, onTestFinished);
    const outer = createGate();
    await expect(outer.run(() => call(url, fetch))).rejects.toThrow();
    expect(outer.pausedForMs).toBe(0);
    outer.close();
  });
});
