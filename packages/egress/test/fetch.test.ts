import { nextTurn, systemTimer } from "@sluice/core/system";
import { VirtualTimer } from "@sluice/core/testing";
import { Request as UndiciRequest, fetch as undiciFetch } from "undici";
import { afterEach, describe, expect, test, vi } from "vitest";
import { DeadlineError, throttledFetch, ThrottledError } from "@sluice/egress";
import type { CallOptions, GateEvent, ThrottledFetchOptions } from "@sluice/egress";
import { startLoopback } from "./loopback.ts";
import type { Loopback } from "./loopback.ts";

type Answer = Parameters<typeof startLoopback>[0];

const closing: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function setUp(answer: Answer, options: ThrottledFetchOptions = {}) {
  const peer = await startLoopback(answer);
  const events: GateEvent[] = [];
  const fetch = throttledFetch({ ...options, observers: [(event) => events.push(event)] });
  closing.push(
    () => peer.close(),
    () => fetch.gates.close(),
  );
  const gate = () => fetch.gates.for(new URL(peer.url).origin);
  return { peer, fetch, gate, events };
}

/** Waits for something that other code brings about. */
async function until(holds: () => boolean): Promise<void> {
  const giveUpAtMs = systemTimer.now() + 10_000;
  while (!holds()) {
    if (systemTimer.now() > giveUpAtMs) throw new Error("it never came about");
    await systemTimer.sleep(1);
  }
}

const hello: Answer = (_request, response) => response.end("hello");

/** A body that goes on until told to end. */
function streaming(): { answer: Answer; end: () => void } {
  const open: { end(text: string): unknown }[] = [];
  return {
    answer: (_request, response) => {
      response.write("begun ");
      open.push(response);
    },
    end: () => open.splice(0).forEach((response) => response.end("ended")),
  };
}

describe("a drop-in fetch", () => {
  test("answers with a real Response", async () => {
    const { peer, fetch } = await setUp((request, response) => {
      if (request.url === "/from") response.writeHead(302, { location: "/to" }).end();
      else response.setHeader("x-kind", "plain").end("hello");
    });
    const response = await fetch(`${peer.url}from`);
    expect(response).toBeInstanceOf(Response);
    expect(response.constructor).toBe(Response);
    expect(Object.prototype.toString.call(response)).toBe("[object Response]");
    expect(response).toMatchObject({ status: 200, ok: true, redirected: true, type: "basic" });
    expect(response.url).toBe(`${peer.url}to`);
    expect(response.headers.get("x-kind")).toBe("plain");
    expect(response.bodyUsed).toBe(false);
    const copy = response.clone();
    expect(copy.url).toBe(response.url);
    expect(await copy.text()).toBe("hello");
    expect(await response.text()).toBe("hello");
    expect(response.bodyUsed).toBe(true);
    await expect(response.text()).rejects.toThrow(TypeError);
  });

  test("takes a URL, a text or a Request, with what they carry", async () => {
    const { peer, fetch } = await setUp((request, response) => {
      request.pipe(response.setHeader("x-method", request.method ?? ""));
    });
    const inputs: [Parameters<typeof fetch>[0], RequestInit | undefined][] = [
      [peer.url, { method: "POST", body: "sent" }],
      [new URL(peer.url), { method: "POST", body: "sent" }],
      [new Request(peer.url, { method: "POST", body: "sent" }), undefined],
    ];
    for (const [input, init] of inputs) {
      const response = await fetch(input, init);
      expect(response.headers.get("x-method")).toBe("POST");
      expect(await response.text()).toBe("sent");
    }
  });

  test.each(["not a url", "http://"])("fails as fetch does for %j", async (input) => {
    const fetch = throttledFetch();
    const expected = await globalThis.fetch(input).catch((error: unknown) => error);
    const failed = await fetch(input).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(TypeError);
    expect(String(failed)).toBe(String(expected));
  });

  test("fails as fetch does when nobody listens", async () => {
    const { peer, fetch, gate } = await setUp(hello);
    await peer.close();
    closing.shift();
    const error = await fetch(peer.url).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({ message: "fetch failed", cause: { code: "ECONNREFUSED" } });
    expect(gate().inFlight).toBe(0);
  });

  test("aborts as fetch does, before, while waiting and while running", async () => {
    const { peer, fetch, gate } = await setUp(() => undefined, { concurrency: 1 });
    await expect(fetch(peer.url, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: "AbortError",
    });
    const running = new AbortController();
    const first = fetch(peer.url, { signal: running.signal });
    const waiting = new AbortController();
    const second = fetch(new Request(peer.url, { signal: waiting.signal }));
    await until(() => peer.inFlight() === 1 && gate().waiting === 1);
    waiting.abort();
    await expect(second).rejects.toMatchObject({ name: "AbortError" });
    running.abort();
    await expect(first).rejects.toMatchObject({ name: "AbortError" });
    await until(() => gate().inFlight === 0);
  });

  const asked: [string, (url: string, signal: AbortSignal) => [string | Request, RequestInit?]][] =
    [
      ["without a signal", (url) => [url]],
      ["with a signal", (url, signal) => [url, { signal }]],
      ["of a Request", (url) => [new Request(url)]],
      ["of a Request with a signal", (url, signal) => [new Request(url, { signal })]],
    ];

  test.each(asked)("is aborted by the signal of its call %s as well", async (_how, ask) => {
    const call = new AbortController();
    const { peer, fetch, gate } = await setUp(() => undefined, {
      concurrency: 1,
      call: { signal: call.signal },
    });
    const own = new AbortController();
    const answers = Promise.allSettled([
      fetch(...ask(peer.url, own.signal)),
      fetch(...ask(peer.url, own.signal)),
    ]);
    await until(() => peer.inFlight() === 1 && gate().waiting === 1);
    call.abort(new Error("enough"));
    for (const answer of await answers)
      expect(answer).toMatchObject({ status: "rejected", reason: { message: "enough" } });
    // The peer sees that nobody wants it any more.
    await until(() => peer.inFlight() === 0 && gate().inFlight === 0);
    expect(peer.count()).toBe(1);
  });

  test("is aborted by its own signal although its call has one", async () => {
    const { peer, fetch, gate } = await setUp(() => undefined, {
      call: { signal: new AbortController().signal },
    });
    const own = new AbortController();
    const answer = fetch(peer.url, { signal: own.signal });
    await until(() => peer.inFlight() === 1);
    own.abort();
    await expect(answer).rejects.toMatchObject({ name: "AbortError" });
    await until(() => peer.inFlight() === 0 && gate().inFlight === 0);
  });

  test("heeds that a request's signal was taken away from it", async () => {
    const { peer, fetch } = await setUp(hello);
    const request = new Request(peer.url, { signal: AbortSignal.abort() });
    expect(await (await fetch(request, { signal: null })).text()).toBe("hello");
  });

  test("knows where a relative address leads, where there is such a thing", async () => {
    const sent: unknown[] = [];
    const fetch = throttledFetch({
      fetch: (input) => {
        sent.push(input);
        return Promise.resolve(new Response("hello"));
      },
    });
    closing.push(() => {
      vi.unstubAllGlobals();
    });
    vi.stubGlobal("location", { href: "https://app.example/page" });
    await (await fetch("/api")).text();
    vi.stubGlobal("document", { baseURI: "https://files.example/" });
    await (await fetch("api")).text();
    expect(sent).toEqual(["/api", "api"]);
    expect([...fetch.gates.entries()].map(([key]) => key)).toEqual([
      "https://app.example",
      "https://files.example",
    ]);
  });

  test("refuses with a ThrottledError", async () => {
    const { peer, fetch } = await setUp(() => undefined, { concurrency: 1, maxWaiting: 0 });
    const hung = fetch(peer.url, { signal: AbortSignal.any([]) });
    hung.catch(() => undefined);
    await expect(fetch(peer.url)).rejects.toBeInstanceOf(ThrottledError);
  });

  test("has a gate per origin, or per key of your choosing", async () => {
    const one = await setUp(hello);
    const other = await startLoopback(hello);
    closing.push(() => other.close());
    await (await one.fetch(one.peer.url)).text();
    await (await one.fetch(other.url)).text();
    expect(one.fetch.gates.size).toBe(2);
    const keyed = throttledFetch({ keys: { of: (_input, init) => init?.method ?? "GET" } });
    await (await keyed(one.peer.url)).text();
    await (await keyed(other.url)).text();
    expect([...keyed.gates.entries()].map(([key]) => key)).toEqual(["GET"]);
  });
});

describe("a permit", () => {
  const readings: [string, (response: Response) => Promise<unknown>][] = [
    ["text", (response) => response.text()],
    ["arrayBuffer", (response) => response.arrayBuffer()],
    ["blob", (response) => response.blob()],
    ["json, which fails", (response) => response.json().catch(() => undefined)],
    ["a clone", (response) => Promise.all([response.clone().text(), response.text()])],
    [
      "a reader",
      async (response) => {
        const reader = response.body?.getReader();
        while ((await reader?.read())?.done === false);
      },
    ],
    [
      "for await",
      async (response) => {
        for await (const _chunk of response.body ?? []);
      },
    ],
    ["pipeTo", async (response) => response.body?.pipeTo(new WritableStream())],
    [
      "pipeThrough",
      async (response) => {
        const texts = response.body?.pipeThrough(new TextDecoderStream());
        for await (const _text of texts ?? []);
      },
    ],
    [
      "tee",
      async (response) => {
        const branches = response.body?.tee() ?? [];
        await Promise.all(branches.map((branch) => new Response(branch).text()));
      },
    ],
    ["another Response", (response) => new Response(response.body).text()],
  ];

  test.each(readings)("is out until the body has been read by %s", async (_how, read) => {
    const { answer, end } = streaming();
    const { peer, fetch, gate, events } = await setUp(answer, { concurrency: 1 });
    const response = await fetch(peer.url);
    expect(gate().inFlight).toBe(1);
    const reading = read(response);
    expect(gate().inFlight).toBe(1);
    end();
    await reading;
    await until(() => gate().inFlight === 0);
    expect(events.filter(({ type }) => type === "ended")).toMatchObject([{ outcome: "ok" }]);
  });

  const endings: [string, (response: Response) => Promise<unknown> | undefined][] = [
    ["cancelled", (response) => response.body?.cancel()],
    ["cancelled by its reader", (response) => response.body?.getReader().cancel()],
    [
      "left in the middle of a loop",
      async (response) => {
        for await (const _chunk of response.body ?? []) break;
      },
    ],
  ];

  test.each(endings)("ends with a body that is %s", async (_how, leave) => {
    const { answer } = streaming();
    const { peer, fetch, gate } = await setUp(answer, { concurrency: 1 });
    await leave(await fetch(peer.url));
    await until(() => gate().inFlight === 0);
  });

  test.each(["HEAD", "GET"])("ends at once if a %s has no body", async (method) => {
    const { peer, fetch, gate } = await setUp((_request, response) => {
      response.setHeader("content-length", 0).end();
    });
    await fetch(peer.url, { method });
    expect(gate().inFlight).toBe(0);
  });

  test("ends with a connection that breaks in the middle of the body", async () => {
    const { peer, fetch, gate } = await setUp((_request, response) => {
      response.setHeader("content-length", 100);
      response.write("begun");
      void systemTimer.sleep(5).then(() => response.destroy());
    });
    const response = await fetch(peer.url);
    await expect(response.text()).rejects.toThrow();
    await until(() => gate().inFlight === 0);
  });

  test("outlives a reader that lets go, and a second one that is told off", async () => {
    const { answer, end } = streaming();
    const { peer, fetch, gate } = await setUp(answer, { concurrency: 1 });
    const response = await fetch(peer.url);
    const first = response.body?.getReader();
    await first?.read();
    first?.releaseLock();
    await nextTurn();
    expect(gate().inFlight).toBe(1);
    const second = response.body?.getReader();
    const reading = second?.read();
    await expect(response.text()).rejects.toThrow(TypeError);
    await nextTurn();
    expect(gate().inFlight).toBe(1);
    end();
    await reading;
    while ((await second?.read())?.done === false);
    await until(() => gate().inFlight === 0);
  });

  test("outlives a second reading, which is told off", async () => {
    const { answer, end } = streaming();
    const { peer, fetch, gate } = await setUp(answer, { concurrency: 1 });
    const response = await fetch(peer.url);
    const reading = response.text();
    await expect(response.json()).rejects.toThrow(TypeError);
    await nextTurn();
    expect(gate().inFlight).toBe(1);
    end();
    expect(await reading).toBe("begun ended");
    await until(() => gate().inFlight === 0);
  });

  const seconds: [string, (response: Response) => unknown][] = [
    ["text", (response) => response.text()],
    ["cancel", (response) => response.body?.cancel()],
    ["getReader", (response) => response.body?.getReader()],
    ["tee", (response) => response.body?.tee()],
    ["for await", (response) => response.body?.values()],
    ["pipeTo", (response) => response.body?.pipeTo(new WritableStream())],
    ["pipeThrough", (response) => response.body?.pipeThrough(new TextDecoderStream())],
  ];

  test.each(seconds)("outlives %s on a body that has a reader", async (_how, attempt) => {
    const { answer, end } = streaming();
    const { peer, fetch, gate } = await setUp(answer, { concurrency: 1 });
    const response = await fetch(peer.url);
    const reader = response.body?.getReader();
    const plain = await globalThis.fetch(peer.url);
    plain.body?.getReader();
    // As soon as with a plain one, and in the same way.
    const [failed, expected] = await Promise.all(
      [response, plain].map((from) => failureOf(() => attempt(from))),
    );
    expect(failed).toEqual(expected);
    expect(failed?.error).toBeInstanceOf(TypeError);
    await nextTurn();
    expect(gate().inFlight).toBe(1);
    end();
    while ((await reader?.read())?.done === false);
    await until(() => gate().inFlight === 0);
  });

  const left: [string, (body: ReadableStream) => Promise<unknown>][] = [
    [
      "a reader that makes place for another at once",
      async (body) => {
        const reader = body.getReader();
        await reader.read();
        reader.releaseLock();
        const other = body.getReader();
        await nextTurn();
        other.releaseLock();
      },
    ],
    [
      "a loop that leaves it open",
      async (body) => {
        for await (const _chunk of body.values({ preventCancel: true })) break;
      },
    ],
    [
      "a pipe that breaks and leaves it open",
      async (body) => {
        const broken = new WritableStream({ write: () => Promise.reject(new Error("full")) });
        await body.pipeTo(broken, { preventCancel: true }).catch(() => undefined);
      },
    ],
    [
      "a pipe into what is taken",
      async (body) => {
        const taken = new WritableStream();
        taken.getWriter();
        await body.pipeTo(taken).catch(() => undefined);
      },
    ],
  ];

  test.each(left)("outlives %s", async (_how, leave) => {
    const { answer, end } = streaming();
    const { peer, fetch, gate } = await setUp(answer, { concurrency: 1 });
    const { body } = await fetch(peer.url);
    if (body === null) throw new Error("there is no body");
    await leave(body);
    await nextTurn();
    expect(gate().inFlight).toBe(1);
    end();
    for await (const _chunk of body);
    await until(() => gate().inFlight === 0);
  });

  const begun: [string, (body: ReadableStream) => Promise<unknown>][] = [
    ["a reader", (body) => body.getReader().read()],
    ["a reader that has read nothing", (body) => Promise.resolve(body.getReader())],
    ["a loop", (body) => body.values().next()],
    ["a branch", async (body) => body.tee()[0].getReader().read()],
  ];

  test.each(begun)("of a body begun by %s and lost goes to who needs it", async (_how, begin) => {
    const { peer, fetch, gate } = await setUp(
      (_request, response) =>
        peer.count() === 1 ? response.write("begun ") : response.end("next"),
      { concurrency: 1, bodyTimeoutMs: 20 },
    );
    const { body } = await fetch(peer.url);
    if (body !== null) await begin(body);
    expect(gate().inFlight).toBe(1);
    expect(await (await fetch(peer.url)).text()).toBe("next");
    expect(gate().inFlight).toBe(0);
  });

  test("of a body whose next part is waited for stays out", async () => {
    const { answer, end } = streaming();
    const { peer, fetch, gate } = await setUp(answer, { concurrency: 1, bodyTimeoutMs: 1 });
    const reader = (await fetch(peer.url)).body?.getReader();
    await reader?.read();
    const reading = reader?.read();
    const next = fetch(peer.url);
    await systemTimer.sleep(20);
    expect(gate().waiting).toBe(1);
    end();
    await reading;
    while ((await reader?.read())?.done === false);
    await (await next).body?.cancel();
  });

  test("of a body that nobody reads ends with the deadline", async () => {
    const { peer, fetch, gate } = await setUp(streaming().answer, { call: { deadlineMs: 400 } });
    await fetch(peer.url);
    expect(gate().inFlight).toBe(1);
    await until(() => gate().inFlight === 0);
  });

  test("of a body that nobody reads goes to who needs it, after a while", async () => {
    const { peer, fetch, gate } = await setUp(hello, { concurrency: 1, bodyTimeoutMs: 20 });
    const unread = await fetch(peer.url);
    expect(gate().inFlight).toBe(1);
    expect(await (await fetch(peer.url)).text()).toBe("hello");
    expect(await unread.text()).toBe("hello");
    expect(gate().inFlight).toBe(0);
  });

  test.each<[string, unknown, CallOptions]>([
    ["nothing at all", undefined, {}],
    ["nothing at all, by a deadline", undefined, { deadlineMs: 1000 }],
    ["an object without fields", { status: 200, ok: true }, {}],
    ["a body that is a text", { status: 200, headers: {}, body: "text" }, { deadlineMs: 1000 }],
    ["an answer that cannot be watched", Object.freeze(new Response("text")), {}],
  ])("ends at once if a stand-in answers %s", async (_what, answer, call) => {
    const send = (): Promise<Response> => Promise.resolve(answer as Response);
    const fetch = throttledFetch({ concurrency: 1, call, fetch: send });
    closing.push(() => fetch.gates.close());
    expect(await fetch("http://peer.test/")).toBe(answer);
    expect(fetch.gates.for("http://peer.test").inFlight).toBe(0);
  });

  test("bounds what the peer has to do at once", async () => {
    const { peer, fetch } = await setUp(
      (_request, response) => void systemTimer.sleep(2).then(() => response.end("hello")),
      { concurrency: 4 },
    );
    const texts = await Promise.all(
      Array.from({ length: 50 }, async () => (await fetch(peer.url)).text()),
    );
    expect(texts).toEqual(Array.from({ length: 50 }, () => "hello"));
    expect(peer.most()).toBe(4);
  });
});

describe("a peer that is at fault", () => {
  test("and hangs for ever keeps no caller past its deadline", async () => {
    const { peer, fetch, gate } = await setUp(() => undefined, {
      concurrency: 2,
      call: { deadlineMs: 40 },
    });
    const errors = await Promise.all(
      Array.from({ length: 6 }, () => fetch(peer.url).catch((error: unknown) => error)),
    );
    // Who waits may still get the permit of one that was aborted, with no time left.
    const late = errors.filter((error) => error instanceof DeadlineError).length;
    const refused = errors.filter((error) => error instanceof ThrottledError).length;
    expect(late).toBeGreaterThanOrEqual(2);
    expect(late + refused).toBe(6);
    await until(() => gate().inFlight === 0);
    expect(gate().waiting).toBe(0);
  });

  test("and hangs in its body keeps no reader past the deadline", async () => {
    const { peer, fetch, gate } = await setUp(streaming().answer, { call: { deadlineMs: 400 } });
    const response = await fetch(peer.url);
    await expect(response.text()).rejects.toThrow();
    await until(() => gate().inFlight === 0);
  });

  test("and sends garbage in its hints is believed nothing", async () => {
    const { peer, fetch, gate } = await setUp((_request, response) => {
      response.statusCode = 429;
      response.setHeader("retry-after", "-1, soon; yesterday");
      response.setHeader("ratelimit", ')"limit";;r=zero;t=');
      response.setHeader("x-ratelimit-reset", "9".repeat(400));
      response.end();
    });
    expect((await fetch(peer.url)).status).toBe(429);
    expect(gate().pausedForMs).toBe(0);
  });

  test.each<[string, Record<string, string>, number]>([
    ["Retry-After", { "retry-after": "2" }, 429],
    ["a quota that is used up", { ratelimit: '"burst";r=0;t=2' }, 200],
  ])("and asks for a pause by %s holds everybody", async (_how, fields, status) => {
    const { peer, fetch, gate } = await setUp((_request, response) => {
      response.writeHead(status, fields).end();
    });
    expect((await fetch(peer.url)).status).toBe(status);
    expect(gate().pausedForMs).toBeGreaterThan(1500);
    expect(gate().why()).toMatchObject({ reason: "retry-after" });
    const before = systemTimer.now();
    const hasty = throttledWith(fetch, peer, 1_000);
    await expect(hasty).rejects.toMatchObject({ reason: "retry-after" });
    // At once, because the pause is longer than the deadline; a call that waited would take 1,000 ms.
    expect(systemTimer.now() - before).toBeLessThan(500);
    expect(peer.count()).toBe(1);
  });

  test("and says busy for ever is retried within bounds only", async () => {
    // Whenever anything comes to the peer, so also while others are still parked.
    const parked: number[] = [];
    const { peer, fetch, gate } = await setUp(
      (_request, response) => {
        parked.push(gate().parked);
        response.writeHead(429).end("busy");
      },
      { retry: { attempts: 3, backoff: { baseMs: 5 }, maxParked: 2 }, busy: "off" },
    );
    const answers = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const response = await fetch(peer.url);
        await response.text();
        return response.status;
      }),
    );
    expect(new Set(answers)).toEqual(new Set([429]));
    expect(peer.count()).toBeGreaterThan(10);
    expect(peer.count()).toBeLessThanOrEqual(30);
    expect(Math.max(...parked)).toBeLessThanOrEqual(2);
    await until(() => gate().inFlight === 0);
  });
});

/** A request by the same gates, with a deadline. */
function throttledWith(
  fetch: ReturnType<typeof throttledFetch>,
  peer: Loopback,
  deadlineMs: number,
): Promise<unknown> {
  return fetch.gates.for(new URL(peer.url).origin).run(() => 1, { deadlineMs });
}

function byName(url: string): string {
  return url.replace("127.0.0.1", "localhost");
}

/** How an attempt fails, and whether at once; undefined if it does not. */
async function failureOf(
  attempt: () => unknown,
): Promise<{ readonly error: unknown; readonly isThrown: boolean } | undefined> {
  let isThrown = true;
  try {
    const result = attempt();
    isThrown = false;
    await result;
    return undefined;
  } catch (error) {
    return { error, isThrown };
  }
}

const failOnce = (): { answer: Answer; bodies: string[] } => {
  const bodies: string[] = [];
  return {
    bodies,
    answer: (request, response) => {
      let body = "";
      request.on("data", (chunk) => (body += String(chunk)));
      request.on("end", () => {
        bodies.push(body);
        response.writeHead(bodies.length === 1 ? 500 : 200).end("answer");
      });
    },
  };
};

/** Answers POSTs by sending them on, and counts them. */
const sendingOn = (to: () => string): { answer: Answer; posts: () => number } => {
  let posts = 0;
  return {
    posts: () => posts,
    answer: (request, response) => {
      if (request.method !== "POST") return void response.writeHead(429).end();
      posts++;
      response.writeHead(303, { location: to() }).end();
    },
  };
};

/** An address at which nobody listens. */
async function nowhere(): Promise<string> {
  const peer = await startLoopback(hello);
  await peer.close();
  return peer.url;
}

describe("retries", () => {
  const retry = { backoff: { baseMs: 1 } };

  test.each<[string, RequestInit, number]>([
    ["a GET", {}, 200],
    ["a PUT with its body", { method: "PUT", body: "sent" }, 200],
    ["no POST", { method: "POST", body: "sent" }, 500],
    ["no stream", { method: "PUT", body: new Blob(["sent"]).stream(), duplex: "half" }, 500],
  ])("make again %s that may have been executed", async (_what, init, status) => {
    const { answer, bodies } = failOnce();
    const { peer, fetch, gate } = await setUp(answer, { retry });
    const response = await fetch(peer.url, init);
    expect(response.status).toBe(status);
    expect(await response.text()).toBe("answer");
    expect(new Set(bodies).size).toBe(1);
    await until(() => gate().inFlight === 0);
  });

  test("make again a POST that its caller allows", async () => {
    const { answer } = failOnce();
    const { peer, fetch } = await setUp(answer, { retry, call: { idempotent: true } });
    expect((await fetch(peer.url, { method: "POST", body: "sent" })).status).toBe(200);
  });

  test.each<[string, (url: string) => unknown]>([
    ["a POST of another make", (url) => new UndiciRequest(url, { method: "POST" })],
    ["what is no request that is known", (url) => ({ toString: () => url })],
  ])("leave alone %s", async (_what, make) => {
    const { peer, fetch } = await setUp((_request, response) => response.destroy(), {
      retry,
      fetch: undiciFetch as never,
    });
    const input = make(peer.url) as Parameters<typeof fetch>[0];
    await expect(fetch(input)).rejects.toThrow("fetch failed");
    expect(peer.count()).toBe(1);
    expect(fetch.gates.size).toBe(1);
  });

  test("make again a GET of another make", async () => {
    const { peer, fetch } = await setUp((_request, response) => response.destroy(), {
      retry,
      fetch: undiciFetch as never,
    });
    const input = new UndiciRequest(peer.url) as never;
    await expect(fetch(input)).rejects.toThrow("fetch failed");
    expect(peer.count()).toBe(3);
  });

  const sentOn: [string, CallOptions, number][] = [
    ["no POST", {}, 1],
    ["a POST that its caller allows", { idempotent: true }, 3],
  ];

  test.each(sentOn)("make again %s that was sent on to who is busy", async (_what, call, count) => {
    const { answer, posts } = sendingOn(() => "/busy");
    const { peer, fetch } = await setUp(answer, { retry, call, busy: "off" });
    const response = await fetch(peer.url, { method: "POST", body: "order" });
    expect(response).toMatchObject({ status: 429, redirected: true });
    expect(posts()).toBe(count);
    await response.body?.cancel();
  });

  test.each(sentOn)("make again %s that was sent on to nobody", async (_what, call, count) => {
    const gone = await nowhere();
    const { answer, posts } = sendingOn(() => gone);
    const { peer, fetch } = await setUp(answer, { retry, call, busy: "off" });
    await expect(fetch(peer.url, { method: "POST", body: "order" })).rejects.toMatchObject({
      cause: { code: "ECONNREFUSED" },
    });
    expect(posts()).toBe(count);
  });

  test.each<[string, (url: string) => string, RequestInit, number]>([
    ["a POST to an address", (url) => url, {}, 3],
    ["no POST to a name, which may stand for another", byName, {}, 1],
    ["a POST to a name that must not be sent on", byName, { redirect: "error" }, 3],
  ])("make again %s when nobody is there", async (_what, urlOf, init, count) => {
    let sent = 0;
    const fetch = throttledFetch({
      retry,
      busy: "off",
      fetch: (...request) => {
        sent++;
        return globalThis.fetch(...request);
      },
    });
    closing.push(() => fetch.gates.close());
    const url = urlOf(await nowhere());
    await expect(fetch(url, { ...init, method: "POST", body: "order" })).rejects.toThrow();
    expect(sent).toBe(count);
  });

  test("make again a POST that the peer itself turned away", async () => {
    const { peer, fetch } = await setUp((_request, response) => response.writeHead(429).end(), {
      retry,
      busy: "off",
    });
    await fetch(peer.url, { method: "POST", body: "order" });
    expect(peer.count()).toBe(3);
  });

  test("each take a permit and are measured by themselves", async () => {
    const { answer } = failOnce();
    const { peer, fetch, events } = await setUp(answer, { retry });
    await (await fetch(peer.url)).text();
    const told = new Set(["admitted", "ended", "retry"]);
    expect(events.map(({ type }) => type).filter((type) => told.has(type))).toEqual([
      "admitted",
      "ended",
      "retry",
      "admitted",
      "ended",
    ]);
  });
});

const answerHello = (): Promise<Response> => Promise.resolve(new Response("hello"));

describe("concurrency", () => {
  test("is adaptive unless it is set: each origin begins with ten requests at once", async () => {
    const { peer, fetch, gate, events } = await setUp(() => undefined);
    const calls = Array.from({ length: 12 }, () => fetch(peer.url).catch(() => undefined));
    await until(() => gate().waiting === 2);
    expect(gate().inFlight).toBe(10);
    const held = events.filter((event) => event.type === "held");
    expect(held.map(({ reason }) => reason)).toEqual(["concurrency", "concurrency"]);
    fetch.gates.close();
    await peer.close();
    closing.splice(0);
    await Promise.all(calls);
  });

  test.each([
    [{ concurrency: "none" }, undefined],
    [{ concurrency: 7 }, 7],
    [{ concurrency: "adaptive" }, 1],
    [{ concurrency: { initialLimit: 3 } }, 3],
    [{ concurrency: undefined }, 10],
  ] as const)("with %j the limit is %s", async (options, limit) => {
    const { gate } = await setUp(hello, options as ThrottledFetchOptions);
    expect(gate().limit).toBe(limit);
  });

  test.each([
    ["an adaptive concurrency", { concurrency: "adaptive" }, 1000],
    ["a fixed concurrency", { concurrency: 1 }, 10_000],
  ] as const)(
    "with %s a body that is never read holds up other requests only for its timeout",
    async (_what, options, bodyTimeoutMs) => {
      const timer = new VirtualTimer();
      const fetch = throttledFetch({ ...options, fetch: answerHello, runtime: { timer } });
      await fetch("http://peer.test/");
      let isAnswered = false;
      const second = fetch("http://peer.test/").then(() => (isAnswered = true));
      await timer.advance(bodyTimeoutMs - 1);
      expect(isAnswered).toBe(false);
      await timer.advance(2);
      await second;
      expect(isAnswered).toBe(true);
      fetch.gates.close();
    },
  );
});

test("options of calls that are no options are refused before a request is sent", () => {
  expect(() => throttledFetch({ call: 5 as never })).toThrow(
    "call is 5; use an object such as { deadlineMs: 30_000 }",
  );
});
