type FetchInput = Parameters<typeof globalThis.fetch>[0];

/** Methods that may be executed twice, as HTTP has it. */
const IDEMPOTENT = new Set(["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"]);

/** Whether executing the request twice is as good as once. */
export function isIdempotent(input: FetchInput, init: RequestInit | undefined): boolean {
  const method = init?.method ?? (input instanceof Request ? input.method : "GET");
  return IDEMPOTENT.has(method.toUpperCase());
}

/** Whether it can be sent again: a stream is gone once it was read, and so is a request's body. */
export function isReplayable(input: FetchInput, init: RequestInit | undefined): boolean {
  const body: unknown = init?.body ?? (input instanceof Request ? input.body : undefined);
  if (body === undefined || body === null || typeof body === "string") return true;
  return (
    ArrayBuffer.isView(body) ||
    body instanceof ArrayBuffer ||
    body instanceof Blob ||
    body instanceof URLSearchParams ||
    body instanceof FormData
  );
}
