import { VirtualClock } from "@sluice/core/testing";
import { describe, expect, test } from "vitest";
import { verdictOfError, verdictOfValue } from "./default-verdict.ts";

const wallClock = new VirtualClock();

describe("an error by which a client tells of an answer", () => {
  const answer = { status: 429, headers: { "retry-after": "5" } };

  test.each<[string, object]>([
    ["holds it", { response: answer }],
    ["has its status and a Headers", { status: 429, headers: new Headers(answer.headers) }],
    ["has its status and fields", answer],
    ["has its status code and fields", { statusCode: 429, headers: answer.headers }],
    ["has no answer in its place for it", { ...answer, response: undefined }],
    ["writes names large", { status: 429, headers: { "Retry-After": "5" } }],
    ["has read the number", { status: 429, headers: { "retry-after": 5 } }],
    ["keeps all that came", { status: 429, headers: { "Retry-After": ["5", "9"] } }],
  ])("is judged by it when it %s", (_how, parts) => {
    const error = Object.assign(new Error("429 too many requests"), parts);
    expect(verdictOfError(error, wallClock)).toEqual({
      outcome: "busy",
      retriable: "safe",
      scope: "over-quota",
      pauseMs: 5000,
    });
  });

  test.each<[string, object]>([
    ["no fields", { status: 429 }],
    ["no status", { headers: { "retry-after": "5" } }],
    ["a status in words", { status: "busy", headers: {} }],
  ])("is judged as an error when it has %s", (_what, parts) => {
    const error = Object.assign(new Error("connect"), { code: "ECONNREFUSED" }, parts);
    expect(verdictOfError(error, wallClock)).toEqual({ outcome: "failed", retriable: "safe" });
  });

  test("is judged by the answer that it holds rather than by itself", () => {
    const error = Object.assign(new Error("failed"), {
      status: 500,
      headers: {},
      response: { status: 404, headers: {} },
    });
    expect(verdictOfError(error, wallClock)).toEqual({ outcome: "ignored", retriable: "never" });
  });
});

test("an answer whose names are written large may tell of a quota that is used up", () => {
  const headers = { "X-RateLimit-Remaining": 0, "X-RateLimit-Reset": 7 };
  expect(verdictOfValue({ status: 200, headers }, wallClock)).toEqual({
    outcome: "ok",
    retriable: "never",
    pauseMs: 7000,
  });
});
