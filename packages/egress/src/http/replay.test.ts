import { Request as UndiciRequest } from "undici";
import { expect, test } from "vitest";
import { isIdempotent, isReplayable } from "./replay.ts";

const URL_TEXT = "http://peer.test/";
const stream = new ReadableStream();

/** As browsers have it that do not show the body of a request. */
const hidden = (method: string): object => ({ url: URL_TEXT, method });

test.each<[string, unknown, RequestInit | undefined, [idempotent: boolean, replayable: boolean]]>([
  ["an address", URL_TEXT, undefined, [true, true]],
  ["a URL", new URL(URL_TEXT), { method: "delete" }, [true, true]],
  ["a POST with a text", URL_TEXT, { method: "post", body: "text" }, [false, true]],
  ["a PUT with bytes", URL_TEXT, { method: "PUT", body: new Uint8Array(1) }, [true, true]],
  ["a PUT with a stream", URL_TEXT, { method: "PUT", body: stream }, [true, false]],
  ["a method that is not known", URL_TEXT, { method: "CHARGE" }, [false, true]],
  ["a request", new Request(URL_TEXT), undefined, [true, true]],
  ["a request made a POST", new Request(URL_TEXT), { method: "POST" }, [false, true]],
  [
    "a request with a body",
    new Request(URL_TEXT, { method: "PUT", body: "1" }),
    undefined,
    [true, false],
  ],
  [
    "a POST of another make",
    new UndiciRequest(URL_TEXT, { method: "POST" }),
    undefined,
    [false, true],
  ],
  ["a GET whose body is hidden", hidden("GET"), undefined, [true, true]],
  ["a PUT whose body is hidden", hidden("PUT"), undefined, [true, false]],
  ["what only reads like an address", { toString: () => URL_TEXT }, undefined, [false, false]],
  ["an address in something else", { url: URL_TEXT }, { method: "GET" }, [false, false]],
])("%s", (_what, input, init, [idempotent, replayable]) => {
  const request = input as Parameters<typeof isReplayable>[0];
  expect(isIdempotent(request, init)).toBe(idempotent);
  expect(isReplayable(request, init)).toBe(replayable);
});
