import { nextTurn } from "@sluice/core/system";
import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { retryDelayMs } from "./backoff.ts";
import { LiveStream } from "./live-stream.ts";
import type { StreamState } from "./live-stream.ts";

/** What a try to connect finds: events and then the end, silence, a refusal, or no server. */
type Found =
  | { readonly events: string; readonly stays?: boolean }
  | { readonly status: number }
  | "no server";

function opened(founds: Found[]): {
  readonly timer: VirtualTimer;
  readonly stream: LiveStream;
  readonly states: StreamState[];
  readonly events: string[];
  readonly tries: number[];
  readonly tokens: (string | undefined)[];
  token: string | undefined;
} {
  const timer = new VirtualTimer();
  const world = {
    timer,
    states: [] as StreamState[],
    events: [] as string[],
    tries: [] as number[],
    tokens: [] as (string | undefined)[],
    token: undefined as string | undefined,
  };
  const stream = new LiveStream({
    timer,
    fetch: async (_, { headers, signal }) => {
      world.tries.push(timer.now());
      world.tokens.push(new Headers(headers).get("authorization") ?? undefined);
      const found = founds.shift() ?? "no server";
      await Promise.resolve();
      if (found === "no server") throw new TypeError("no server");
      if ("status" in found) return new Response(null, { status: found.status });
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode(found.events));
          if (found.stays !== true) controller.close();
          signal?.addEventListener("abort", () => {
            if (found.stays === true) controller.error(signal.reason);
          });
        },
      });
      return new Response(body);
    },
    request: () => ({
      url: "/api/live",
      headers: world.token === undefined ? {} : { authorization: world.token },
    }),
    onEvent: ({ name }) => void world.events.push(name),
    onState: (state) => void world.states.push(state),
  });
  return Object.assign(world, { stream });
}

/** Lets everything happen that needs no time. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
}

async function pass(timer: VirtualTimer, ms: number): Promise<void> {
  await settle();
  await timer.advance(ms);
  await settle();
}

const SAMPLE = "event: sample\ndata: {}\n\n";

test("without a server the page tries again, later and later, at most 8 s apart", async () => {
  const { timer, stream, tries, states } = opened([]);
  void stream.run();
  for (let count = 0; count < 60; count++) await pass(timer, 500);
  stream.stop();
  expect(tries.slice(0, 6)).toEqual([0, 500, 1_500, 3_500, 7_500, 15_500]);
  expect(states[1]).toEqual({ kind: "waiting", nextAtMs: 500 });
  expect([1, 2, 5, 6, 1_000].map(retryDelayMs)).toEqual([500, 1_000, 8_000, 8_000, 8_000]);
});

test("a connection that had events and ends is made again after half a second", async () => {
  const { timer, stream, tries, events } = opened([
    { events: SAMPLE },
    { events: SAMPLE, stays: true },
  ]);
  void stream.run();
  await pass(timer, 499);
  expect(tries).toEqual([0]);
  await pass(timer, 1);
  stream.stop();
  expect(tries).toEqual([0, 500]);
  expect(events).toEqual(["sample", "sample"]);
});

test("a connection that is silent for 4 s is given up", async () => {
  const { timer, stream, tries } = opened([{ events: SAMPLE, stays: true }]);
  void stream.run();
  await pass(timer, 3_999);
  expect(tries).toHaveLength(1);
  await pass(timer, 1);
  await pass(timer, 500);
  stream.stop();
  expect(tries).toEqual([0, 4_500]);
});

test("without the right token the page waits for one, and connects with it at once", async () => {
  const world = opened([{ status: 401 }, { events: SAMPLE, stays: true }]);
  const { timer, stream, states, tokens } = world;
  void stream.run();
  await pass(timer, 60_000);
  expect(states.at(-1)).toEqual({ kind: "unauthorized" });
  world.token = "Bearer secret";
  stream.restart();
  await settle();
  stream.stop();
  expect(tokens).toEqual([undefined, "Bearer secret"]);
  expect(states.at(-1)).toEqual({ kind: "open" });
});

test("an event that the page does not know is left out", async () => {
  const { timer, stream, events } = opened([
    { events: `event: later\ndata: {}\n\n${SAMPLE}`, stays: true },
  ]);
  void stream.run();
  await pass(timer, 0);
  stream.stop();
  expect(events).toEqual(["sample"]);
});
