/** What the gate makes of the errors that real client libraries throw, against a real server. */
import Anthropic from "@anthropic-ai/sdk";
import axios from "axios";
import { got } from "got";
import OpenAI from "openai";
import { createGate } from "@sluice/egress";
import type { Ended, GateEvent } from "@sluice/egress";
import { describe, expect, test } from "vitest";
import { startLoopback } from "./loopback.ts";
import type { Loopback } from "./loopback.ts";

/** How a client calls; the timeout is its own. */
interface How {
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

type Call = (url: string, how?: How) => Promise<unknown>;
type Finally = (end: () => Promise<void> | void) => void;

const SETTINGS = { apiKey: "key", maxRetries: 0 };

const openai: Call = (url, how) => new OpenAI({ ...SETTINGS, baseURL: url }).models.list(how);
const anthropic: Call = (url, how) =>
  new Anthropic({ ...SETTINGS, baseURL: url }).models.list({}, how);
const viaAxios: Call = (url, how) => axios.get(url, how);
const viaGot: Call = (url, { timeout, ...how } = {}) =>
  got(url, {
    retry: { limit: 0 },
    ...(timeout === undefined ? {} : { timeout: { request: timeout } }),
    ...how,
  });

const CLIENTS: [string, Call][] = [
  ["openai", openai],
  ["@anthropic-ai/sdk", anthropic],
  ["axios", viaAxios],
  ["got", viaGot],
];

/** The verdict of a gate on one failing call, by what it tells its observers. */
async function verdictOn(work: (signal: AbortSignal) => Promise<unknown>) {
  const events: GateEvent[] = [];
  const gate = createGate({ busy: "off", observers: [(event) => events.push(event)] });
  await expect(gate.run(work)).rejects.toThrow();
  const { outcome, scope } = events.find((event) => event.type === "ended") as Ended;
  const pausedForMs = gate.pausedForMs;
  gate.close();
  return { outcome, scope, pausedForMs };
}

async function serve(
  onTestFinished: Finally,
  ...[answer]: Parameters<typeof startLoopback>
): Promise<Loopback> {
  const loopback = await startLoopback(answer);
  onTestFinished(() => loopback.close());
  return loopback;
}

describe.each(CLIENTS)("an error of %s", (_name, call) => {
  test("for a 429 is a busy answer, and its retry-after-ms is obeyed", async ({
    onTestFinished,
  }) => {
    const { url } = await serve(onTestFinished, (_request, response) => {
      response.writeHead(429, { "retry-after": "60", "retry-after-ms": "59500" });
      response.end("{}");
    });
    const { outcome, scope, pausedForMs } = await verdictOn(() => call(url));
    expect({ outcome, scope }).toEqual({ outcome: "busy", scope: "over-quota" });
    // Up to a tenth is added, and the call took some time.
    expect(pausedForMs).toBeGreaterThan(58_000);
    expect(pausedForMs).toBeLessThanOrEqual(65_450);
  });

  test.each([
    [500, "failed"],
    [404, "ignored"],
    [503, "busy"],
  ])("for a %d is %s", async (status, expected) => {
    const loopback = await startLoopback((_request, response) => {
      response.writeHead(status);
      response.end("{}");
    });
    expect((await verdictOn(() => call(loopback.url))).outcome).toBe(expected);
    await loopback.close();
  });

  test("for a peer that does not listen is its failure", async () => {
    const loopback = await startLoopback(() => undefined);
    await loopback.close();
    expect((await verdictOn(() => call(loopback.url))).outcome).toBe("failed");
  });

  test("for a lost connection is the peer's failure", async ({ onTestFinished }) => {
    const { url } = await serve(onTestFinished, (request) => request.socket.destroy());
    expect((await verdictOn(() => call(url))).outcome).toBe("failed");
  });

  test("for its own timeout is the peer's failure", async ({ onTestFinished }) => {
    const { url } = await serve(onTestFinished, () => undefined);
    expect((await verdictOn(() => call(url, { timeout: 50 }))).outcome).toBe("failed");
  });

  test("for an abort is the caller's doing", async ({ onTestFinished }) => {
    const abort = new AbortController();
    const { url } = await serve(onTestFinished, () => abort.abort());
    expect((await verdictOn(() => call(url, { signal: abort.signal }))).outcome).toBe("ignored");
  });
});
