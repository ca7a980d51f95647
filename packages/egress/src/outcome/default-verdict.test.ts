import { VirtualClock } from "@sluice/core/testing";
import fc from "fast-check";
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
    ["has a source of lists", { status: 429, headers: new Map([["retry-after", ["5", "9"]]]) }],
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
    ["a code of the network and no fields", { status: 429 }],
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

test.each([
  [{ status: 429 }, { outcome: "busy", retriable: "safe", scope: "over-quota" }],
  [{ statusCode: 500 }, { outcome: "failed", retriable: "if-idempotent" }],
  [{ status: 404 }, { outcome: "ignored", retriable: "never" }],
  [{ status: 200 }, { outcome: "ignored", retriable: "never" }],
  [{ status: Number.NaN }, { outcome: "ignored", retriable: "never" }],
  [{ status: "429" }, { outcome: "ignored", retriable: "never" }],
  [{}, { outcome: "ignored", retriable: "never" }],
])("an error with no more than %j is judged by its status", (parts, expected) => {
  expect(verdictOfError(Object.assign(new Error("no"), parts), wallClock)).toEqual(expected);
});

test("a result with a status and no fields is no HTTP answer", () => {
  expect(verdictOfValue({ status: 429 }, wallClock)).toEqual({ outcome: "ok", retriable: "never" });
});

test("an answer that is fine tells of a limit that is used up, in any case of letters", () => {
  const headers = { "X-RateLimit-Remaining": 0, "X-RateLimit-Reset": 7 };
  expect(verdictOfValue({ status: 200, headers }, wallClock)).toEqual({
    outcome: "ok",
    retriable: "never",
    hints: [{ remaining: 0, resetMs: 7000 }],
  });
});

test("anything that can be thrown or answered gets a verdict", () => {
  const fields = fc.oneof(fc.anything(), fc.dictionary(fc.constantFrom(...FIELDS), fc.anything()));
  const status = fc.oneof(fc.integer({ min: 0, max: 700 }), fc.anything());
  const like = fc.record(
    { status, headers: fields, code: fc.anything(), $metadata: fc.anything(), metadata: fields },
    { requiredKeys: [] },
  );
  const thrown = fc.oneof(
    fc.anything(),
    like,
    like.map((response) => ({ response })),
  );
  fc.assert(
    fc.property(thrown, (value) => {
      for (const { outcome, scope } of [
        verdictOfError(value, wallClock),
        verdictOfValue(value, wallClock),
      ])
        expect(scope !== undefined).toBe(outcome === "busy");
    }),
    { numRuns: 2000 },
  );
});

const FIELDS = ["retry-after", "date", "ratelimit", "x-ratelimit-remaining", "x-ratelimit-reset"];
