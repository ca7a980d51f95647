import { expect, test } from "vitest";
import { classifyGrpcError } from "./grpc-error.ts";

function serviceError(code: number, details = "", pushback?: string): Error {
  const metadata = {
    get: (name: string) =>
      name === "grpc-retry-pushback-ms" && pushback !== undefined ? [pushback] : [],
  };
  return Object.assign(new Error(`${code} ${details}`), { code, details, metadata });
}

const EXHAUSTED = { outcome: "busy", scope: "over-quota" };

test.each([
  [serviceError(8, "out of quota"), { ...EXHAUSTED, retriable: "safe" }],
  [serviceError(8, "out of quota", "250"), { ...EXHAUSTED, retriable: "safe", pauseMs: 250 }],
  [serviceError(8, "out of quota", "-1"), { ...EXHAUSTED, retriable: "never" }],
  [
    serviceError(8, "Received message larger than max (5 vs. 4)"),
    { outcome: "ignored", retriable: "never" },
  ],
  [
    serviceError(14, "Connection dropped"),
    { outcome: "busy", retriable: "if-idempotent", scope: "busy-here" },
  ],
  [
    serviceError(14, "No connection established. Last error: ECONNREFUSED"),
    { outcome: "failed", retriable: "safe" },
  ],
  [serviceError(4, "Deadline exceeded"), { outcome: "failed", retriable: "if-idempotent" }],
  [serviceError(6, "exists"), { outcome: "ignored", retriable: "never" }],
])("%s", (error, expected) => {
  expect(classifyGrpcError(error)).toEqual(expected);
});

test.each([
  undefined,
  new Error("8"),
  Object.assign(new Error("duplicate"), { code: 11_000 }),
  Object.assign(new Error("no"), { code: 8, details: "x" }),
  Object.assign(new Error("no"), { code: 8, details: "x", metadata: null }),
])("%s is no error of gRPC", (error) => {
  expect(classifyGrpcError(error)).toBeUndefined();
});
