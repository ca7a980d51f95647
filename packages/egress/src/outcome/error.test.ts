import { once } from "node:events";
import { createServer } from "node:http";
import http2 from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { ConfigError } from "@sluice/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { classifyError } from "./error.ts";

const IGNORED = { outcome: "ignored", retriable: "never" };
const NOT_ASKED = { outcome: "ignored", retriable: "safe" };
const NOT_CONNECTED = { outcome: "failed", retriable: "safe" };
const BROKEN = { outcome: "failed", retriable: "if-idempotent" };
const STREAM_REFUSED = { outcome: "busy", retriable: "safe", scope: "busy-here" };
const TOLD_TO_CALM = { outcome: "busy", retriable: "if-idempotent", scope: "over-quota" };

function coded(code: string, more: object = {}): Error {
  return Object.assign(new Error(`it was ${code}`), { code, ...more });
}

function fetchFailed(cause?: unknown): Error {
  return new TypeError("fetch failed", { cause });
}

test.each([
  [NOT_CONNECTED, ["ECONNREFUSED", "UND_ERR_CONNECT_TIMEOUT"]],
  [BROKEN, ["ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "UND_ERR_SOCKET"]],
  [BROKEN, ["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT", "ERR_HTTP2_STREAM_ERROR"]],
  [NOT_ASKED, ["ENOTFOUND", "EAI_AGAIN", "ERR_HTTP2_GOAWAY_SESSION"]],
  [IGNORED, ["CERT_HAS_EXPIRED", "UND_ERR_INVALID_ARG", "UND_ERR_DESTROYED", "EMFILE"]],
  [IGNORED, ["ERR_INVALID_URL", "ERR_ASSERTION"]],
  [BROKEN, ["UND_ERR_OF_THE_FUTURE", "HPE_INVALID_CONSTANT", "ERR_NETWORK"]],
  [NOT_ASKED, ["EAI_FAIL"]],
  [IGNORED, ["ERR_CANCELED", "UND_ERR_ABORTED"]],
])("%j is the verdict on %j, bare or within what fetch throws", (expected, codes) => {
  for (const code of codes) {
    expect(classifyError(coded(code)), code).toEqual(expected);
    expect(classifyError(fetchFailed(coded(code))), code).toEqual(expected);
  }
});

test.each([
  // A unique key of PostgreSQL, MySQL, SQLite, Prisma and MongoDB.
  coded("23505", { severity: "ERROR", constraint: "users_email_key" }),
  coded("ER_DUP_ENTRY", { errno: 1062, sqlState: "23000" }),
  coded("SQLITE_CONSTRAINT_UNIQUE"),
  coded("P2002", { clientVersion: "6.0.0" }),
  Object.assign(new Error("E11000 duplicate key"), { name: "MongoServerError", code: 11_000 }),
  Object.assign(new Error("[]"), { name: "ZodError", issues: [] }),
  Object.assign(new Error("no such file"), { code: "ENOENT", syscall: "open" }),
  coded("constructor"),
  new Error("not enough stock"),
])("an error of the caller's own code says nothing of the peer: %s", (error) => {
  expect(classifyError(error)).toEqual(IGNORED);
  expect(classifyError(new Error("outer", { cause: error }))).toEqual(IGNORED);
});

test.each(["ETIMEDOUT", "ECONNRESET", "EHOSTUNREACH", "ENETUNREACH"])(
  "%s on the way to a connection makes a retry safe",
  (code) => {
    const one = coded(code, { syscall: "connect" });
    const all = Object.assign(new AggregateError([one, one], "all failed"), { code });
    for (const error of [one, fetchFailed(one), all, fetchFailed(all)])
      expect(classifyError(error)).toEqual(NOT_CONNECTED);
    expect(classifyError(coded(code, { syscall: "read" }))).toEqual(BROKEN);
  },
);

test("a connection for which this side has no address left is not the peer's failure", () => {
  expect(classifyError(coded("EADDRNOTAVAIL", { syscall: "connect" }))).toEqual(IGNORED);
});

test.each([
  ["NGHTTP2_REFUSED_STREAM", STREAM_REFUSED],
  ["NGHTTP2_ENHANCE_YOUR_CALM", TOLD_TO_CALM],
  ["NGHTTP2_INTERNAL_ERROR", BROKEN],
])("a stream closed with %s", (name, expected) => {
  const message = `Stream closed with error code ${name}`;
  const error = Object.assign(new Error(message), { code: "ERR_HTTP2_STREAM_ERROR" });
  expect(classifyError(error)).toEqual(expected);
  // The words alone prove nothing.
  expect(classifyError(new Error(message))).toEqual(IGNORED);
});

describe("an abort", () => {
  const timeout = new DOMException("too late", "TimeoutError");

  test("is the caller's doing", () => {
    expect(classifyError(new DOMException("left", "AbortError"))).toEqual(IGNORED);
    expect(classifyError(fetchFailed(new DOMException("left", "AbortError")))).toEqual(IGNORED);
  });

  test("that a timeout caused is a failure", () => {
    expect(classifyError(timeout)).toEqual(BROKEN);
    const aborted = Object.assign(new Error("aborted", { cause: timeout }), { name: "AbortError" });
    expect(classifyError(aborted)).toEqual(BROKEN);
  });
});

test.each([
  [new TypeError("x is not a function"), IGNORED],
  [new RangeError("too long"), IGNORED],
  [new ReferenceError("x"), IGNORED],
  [new SyntaxError("x"), IGNORED],
  [new ConfigError("x"), IGNORED],
  ["left", IGNORED],
  [undefined, IGNORED],
  [null, IGNORED],
  [{}, IGNORED],
  [new Error("something"), IGNORED],
  [fetchFailed(), BROKEN],
  [fetchFailed(new Error("bad answer")), BROKEN],
  [new TypeError("terminated"), BROKEN],
  [new TypeError("Failed to fetch"), BROKEN],
])("%s", (error, expected) => {
  expect(classifyError(error)).toEqual(expected);
});

describe("causes", () => {
  test("in a circle end", () => {
    const error = new Error("round");
    error.cause = error;
    expect(classifyError(error)).toEqual(IGNORED);
  });

  test.each([
    [7, NOT_CONNECTED],
    [8, IGNORED],
  ])("%d deep", (depth, expected) => {
    let error = coded("ECONNREFUSED");
    for (let i = 0; i < depth; i++) error = new Error("outer", { cause: error });
    expect(classifyError(error)).toEqual(expected);
  });

  test("give way to an outer error that is known", () => {
    expect(classifyError(Object.assign(coded("EPIPE"), { cause: coded("ENOTFOUND") }))).toEqual(
      BROKEN,
    );
  });
});

test("anything that can be thrown gets a verdict, with a scope exactly if it is busy", () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true }), (thrown) => {
      const verdict = classifyError(thrown);
      expect(verdict.scope !== undefined).toBe(verdict.outcome === "busy");
    }),
  );
});

describe("a real", () => {
  test("refusal to connect is known", async () => {
    const server = createServer();
    const url = await listen(server);
    await close(server);
    expect(classifyError(await errorOf(fetch(url)))).toEqual(NOT_CONNECTED);
  });

  test("connection lost before the answer is known", async () => {
    const server = createServer((request) => request.socket.destroy());
    const url = await listen(server);
    expect(classifyError(await errorOf(fetch(url)))).toEqual(BROKEN);
    await close(server);
  });

  test("connection lost within the answer is known", async () => {
    const server = createServer((request, response) => {
      response.write("half", () => request.socket.destroy());
    });
    const url = await listen(server);
    const answer = fetch(url).then((response) => response.text());
    expect(classifyError(await errorOf(answer))).toEqual(BROKEN);
    await close(server);
  });

  test("abort is known", async () => {
    const abort = new AbortController();
    const server = createServer(() => abort.abort());
    const url = await listen(server);
    expect(classifyError(await errorOf(fetch(url, { signal: abort.signal })))).toEqual(IGNORED);
    await close(server);
  });

  test.each([
    [http2.constants.NGHTTP2_REFUSED_STREAM, STREAM_REFUSED],
    [http2.constants.NGHTTP2_ENHANCE_YOUR_CALM, TOLD_TO_CALM],
    [http2.constants.NGHTTP2_INTERNAL_ERROR, BROKEN],
  ])("HTTP/2 stream closed with code %d is known", async (code, expected) => {
    const server = http2.createServer();
    server.on("stream", (stream) => {
      // The server's end of the stream fails as well.
      stream.on("error", () => undefined);
      stream.close(code);
    });
    const session = http2.connect(await listen(server));
    const [error] = (await once(session.request(), "error")) as unknown[];
    expect(classifyError(error)).toEqual(expected);
    session.destroy();
    await close(server);
  });

  test.each(["", "http://"])("address that is none, %j, is known", async (url) => {
    expect(classifyError(await errorOf(fetch(url)))).toEqual(IGNORED);
  });
});

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, "close");
}

function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}
