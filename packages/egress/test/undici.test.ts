import { systemTimer } from "@sluice/core/system";
import {
  Agent,
  Client,
  fetch as undiciFetch,
  getGlobalDispatcher,
  interceptors,
  request,
  setGlobalDispatcher,
} from "undici";
import { afterEach, describe, expect, test } from "vitest";
import { DeadlineError, ThrottledError } from "@sluice/egress";
import type { GateEvent } from "@sluice/egress";
import { throttle } from "@sluice/egress/undici";
import type { ThrottleOptions } from "@sluice/egress/undici";
import { startLoopback } from "./loopback.ts";

type Answer = Parameters<typeof startLoopback>[0];

const closing: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function setUp(answer: Answer, options: ThrottleOptions = {}) {
  const peer = await startLoopback(answer);
  const events: GateEvent[] = [];
  const interceptor = throttle({ ...options, observers: [(event) => events.push(event)] });
  const agent = new Agent();
  const dispatcher = agent.compose(interceptor);
  closing.push(
    () => interceptor.gates.close(),
    () => agent.destroy(),
    () => peer.close(),
  );
  const gate = () => interceptor.gates.for(new URL(peer.url).origin);
  return { peer, dispatcher, gate, events };
}

async function until(holds: () => boolean): Promise<void> {
  const giveUpAtMs = systemTimer.now() + 10_000;
  while (!holds()) {
    if (systemTimer.now() > giveUpAtMs) throw new Error("it never came about");
    await systemTimer.sleep(1);
  }
}

const hello: Answer = (_request, response) => response.end("hello");

describe("request", () => {
  test("passes through, and keeps its permit until the body's end", async () => {
    const open: { end(text: string): unknown }[] = [];
    const { peer, dispatcher, gate, events } = await setUp(
      (_request, response) => {
        response.setHeader("x-kind", "stream");
        response.write("begun ");
        open.push(response);
      },
      { concurrency: 1 },
    );
    const { statusCode, headers, body } = await request(peer.url, { dispatcher });
    expect(statusCode).toBe(200);
    expect(headers["x-kind"]).toBe("stream");
    const second = request(peer.url, { dispatcher });
    await until(() => gate().waiting === 1);
    expect(gate().inFlight).toBe(1);
    open.shift()?.end("ended");
    expect(await body.text()).toBe("begun ended");
    const later = await second;
    expect(gate().inFlight).toBe(1);
    open.shift()?.end("too");
    expect(await later.body.text()).toBe("begun too");
    expect(gate().inFlight).toBe(0);
    expect(events.filter(({ type }) => type === "ended")).toMatchObject([
      { outcome: "ok" },
      { outcome: "ok" },
    ]);
  });

  test("bounds what the peer has to do at once", async () => {
    const { peer, dispatcher, gate } = await setUp(
      (_request, response) => void systemTimer.sleep(2).then(() => response.end("hello")),
      { concurrency: 3 },
    );
    const texts = await Promise.all(
      Array.from({ length: 30 }, async () => (await request(peer.url, { dispatcher })).body.text()),
    );
    expect(new Set(texts)).toEqual(new Set(["hello"]));
    expect(peer.most()).toBe(3);
    expect(gate().inFlight).toBe(0);
  });

  test("keeps a slow reader's back pressure", async () => {
    const { peer, dispatcher } = await setUp((_request, response) => {
      response.end(Buffer.alloc(8 * 1024 * 1024, "x"));
    });
    const { body } = await request(peer.url, { dispatcher });
    let bytes = 0;
    for await (const chunk of body) {
      bytes += (chunk as Buffer).length;
      expect(body.readableLength).toBeLessThan(1024 * 1024);
    }
    expect(bytes).toBe(8 * 1024 * 1024);
  });

  test("fails with a ThrottledError when refused", async () => {
    const { peer, dispatcher } = await setUp(() => undefined, { concurrency: 1, maxWaiting: 0 });
    request(peer.url, { dispatcher }).catch(() => undefined);
    await expect(request(peer.url, { dispatcher })).rejects.toBeInstanceOf(ThrottledError);
  });

  test("can be aborted while it waits and while it runs", async () => {
    const { peer, dispatcher, gate } = await setUp(() => undefined, { concurrency: 1 });
    const [running, waiting] = [new AbortController(), new AbortController()];
    const first = request(peer.url, { dispatcher, signal: running.signal });
    const second = request(peer.url, { dispatcher, signal: waiting.signal });
    await until(() => peer.inFlight() === 1 && gate().waiting === 1);
    waiting.abort();
    await expect(second).rejects.toMatchObject({ name: "AbortError" });
    running.abort();
    await expect(first).rejects.toMatchObject({ name: "AbortError" });
    await until(() => gate().inFlight === 0);
  });

  test.each([false, true])(
    "is aborted by the signal of its call, waiting or running (one of its own: %s)",
    async (hasOwn) => {
      const call = new AbortController();
      const { peer, dispatcher, gate } = await setUp(() => undefined, {
        concurrency: 1,
        call: { signal: call.signal },
      });
      const own = hasOwn ? { signal: new AbortController().signal } : {};
      const answers = Promise.allSettled([
        request(peer.url, { dispatcher, ...own }),
        request(peer.url, { dispatcher, ...own }),
      ]);
      await until(() => peer.inFlight() === 1 && gate().waiting === 1);
      call.abort(new Error("enough"));
      for (const answer of await answers)
        expect(answer).toMatchObject({ status: "rejected", reason: { message: "enough" } });
      await until(() => peer.inFlight() === 0 && gate().inFlight === 0);
      expect(gate().abandoned).toBe(0);
    },
  );

  test("that was aborted before is not sent", async () => {
    const { peer, dispatcher, gate } = await setUp(hello);
    const signal = AbortSignal.abort();
    await expect(request(peer.url, { dispatcher, signal })).rejects.toMatchObject({
      name: "AbortError",
    });
    expect(peer.count()).toBe(0);
    expect(gate().inFlight).toBe(0);
  });

  test("is told by which way it came when it is sent on below the gate", async () => {
    const peer = await startLoopback((incoming, response) => {
      if (incoming.url === "/to") response.end("hello");
      else response.writeHead(302, { location: "/to" }).end();
    });
    const agent = new Agent();
    closing.push(
      () => agent.destroy(),
      () => peer.close(),
    );
    const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: 1 }), throttle());
    const { body, context } = await request(peer.url, { dispatcher });
    expect(await body.text()).toBe("hello");
    expect(String((context as { history: URL[] }).history[0])).toBe(peer.url);
  });

  test("is answered by its deadline when the peer hangs, in the queue or not", async () => {
    const { peer, dispatcher, gate } = await setUp(() => undefined, {
      concurrency: 1,
      call: { deadlineMs: 40 },
    });
    const errors = await Promise.all(
      [1, 2, 3].map(() => request(peer.url, { dispatcher }).catch((error: unknown) => error)),
    );
    expect(errors[0]).toBeInstanceOf(DeadlineError);
    for (const error of errors)
      expect(error instanceof DeadlineError || error instanceof ThrottledError).toBe(true);
    await until(() => gate().inFlight === 0);
  });

  test("fails as undici fails when the connection breaks", async () => {
    const { peer, dispatcher, gate, events } = await setUp((_request, response) =>
      response.destroy(),
    );
    await expect(request(peer.url, { dispatcher })).rejects.toMatchObject({
      code: "UND_ERR_SOCKET",
    });
    await until(() => gate().inFlight === 0);
    expect(events.filter(({ type }) => type === "ended")).toMatchObject([{ outcome: "failed" }]);
  });

  test("obeys a pause that the peer asks for", async () => {
    const { peer, dispatcher, gate } = await setUp(
      (_request, response) => response.writeHead(503, { "retry-after": "2" }).end(),
      { call: { deadlineMs: 1_000 } },
    );
    expect((await request(peer.url, { dispatcher })).statusCode).toBe(503);
    expect(gate().pausedForMs).toBeGreaterThan(1500);
    await expect(request(peer.url, { dispatcher })).rejects.toMatchObject({
      reason: "retry-after",
    });
  });
});

test("fetch goes through it, undici's and the built-in one", async () => {
  const { peer, dispatcher, gate, events } = await setUp(hello, { concurrency: 2 });
  const before = getGlobalDispatcher();
  setGlobalDispatcher(dispatcher);
  closing.unshift(() => setGlobalDispatcher(before));
  expect(await (await undiciFetch(peer.url)).text()).toBe("hello");
  expect(await (await fetch(peer.url)).text()).toBe("hello");
  await until(() => gate().inFlight === 0);
  expect(events.filter(({ type }) => type === "ended")).toHaveLength(2);
});

test.each([
  ["undici's", undiciFetch],
  ["the built-in", fetch],
])("%s fetch can be aborted in the queue and while it runs", async (_whose, send) => {
  const { peer, dispatcher, gate } = await setUp(() => undefined, { concurrency: 1 });
  const before = getGlobalDispatcher();
  setGlobalDispatcher(dispatcher);
  closing.unshift(() => setGlobalDispatcher(before));
  const [running, waiting] = [new AbortController(), new AbortController()];
  const first = send(peer.url, { signal: running.signal });
  await until(() => peer.inFlight() === 1);
  const second = send(peer.url, { signal: waiting.signal });
  await until(() => gate().waiting === 1);
  waiting.abort();
  await expect(second).rejects.toMatchObject({ name: "AbortError" });
  await until(() => gate().waiting === 0);
  running.abort();
  await expect(first).rejects.toMatchObject({ name: "AbortError" });
  await until(() => gate().inFlight === 0);
  expect(peer.count()).toBe(1);
});

test("a request that undici has queued can be aborted", async () => {
  const peer = await startLoopback(() => undefined);
  const client = new Client(new URL(peer.url).origin);
  const interceptor = throttle();
  closing.push(
    () => client.destroy(),
    () => peer.close(),
  );
  const dispatcher = client.compose(interceptor);
  const path = { path: "/", method: "GET" } as const;
  const [running, queued] = [new AbortController(), new AbortController()];
  const first = dispatcher.request({ ...path, signal: running.signal });
  await until(() => peer.inFlight() === 1);
  const second = dispatcher.request({ ...path, signal: queued.signal });
  queued.abort();
  await expect(second).rejects.toMatchObject({ name: "AbortError" });
  running.abort();
  await expect(first).rejects.toMatchObject({ name: "AbortError" });
  const gate = interceptor.gates.for(new URL(peer.url).origin);
  await until(() => gate.inFlight === 0);
  expect(peer.count()).toBe(1);
});

test("a single client can have it", async () => {
  const peer = await startLoopback(hello);
  const client = new Client(new URL(peer.url).origin);
  closing.push(
    () => client.destroy(),
    () => peer.close(),
  );
  const { body } = await client
    .compose(throttle({ concurrency: 1 }))
    .request({ path: "/", method: "GET" });
  expect(await body.text()).toBe("hello");
});
