import { requestOf } from "./request-like.ts";

type FetchInput = Parameters<typeof globalThis.fetch>[0];

/** Methods that may be executed twice, as HTTP has it. */
const IDEMPOTENT = new Set(["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"]);

/** Methods that have no body. */
const BODILESS = new Set(["GET", "HEAD"]);

/** Whether executing the request twice is as good as once. What is not known as one is not. */
export function isIdempotent(input: FetchInput, init: RequestInit | undefined): boolean {
  const request = requestOf(input);
  if (request === undefined && !isAddress(input)) return false;
  return IDEMPOTENT.has((init?.method ?? request?.method ?? "GET").toUpperCase());
}

/** Whether it can be sent again: a stream is gone once it was read, and so is a request's body. */
export function isReplayable(input: FetchInput, init: RequestInit | undefined): boolean {
  const request = requestOf(input);
  if (request === undefined && !isAddress(input)) return false;
  const body: unknown = init?.body ?? request?.body;
  if (body === undefined || body === null)
    // Some browsers do not show the body of a request.
    return request === undefined || "body" in request || BODILESS.has(request.method.toUpperCase());
  return (
    typeof body === "string" ||
    ArrayBuffer.isView(body) ||
    body instanceof ArrayBuffer ||
    body instanceof Blob ||
    body instanceof URLSearchParams ||
    body instanceof FormData
  );
}

function isAddress(input: FetchInput): boolean {
  return typeof input === "string" || input instanceof URL;
}
