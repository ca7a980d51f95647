import { classifyGrpc } from "./grpc.ts";
import type { Verdict } from "./verdict.ts";

/** No connection was made, so nothing was sent. */
const NOT_CONNECTED: Verdict = { outcome: "failed", retriable: "safe" };
/** The message is too large for this client or the peer: no matter of load, and the next is as large. */
const TOO_LARGE: Verdict = { outcome: "ignored", retriable: "never" };

const RESOURCE_EXHAUSTED = 8;
const UNAVAILABLE = 14;

/** How `@grpc/grpc-js` says that a message was larger than a limit, and that there is no connection. */
const LARGER_THAN_MAX = /message larger than max/i;
const NO_CONNECTION = /^(?:No connection established|Name resolution failed)/;

/** A `ServiceError` of `@grpc/grpc-js`, by its looks. */
interface ServiceErrorLike {
  readonly code: number;
  readonly details: string;
  readonly metadata: { get(name: string): unknown };
}

/**
 * What a `ServiceError` of `@grpc/grpc-js` means, its `grpc-retry-pushback-ms` included; undefined for
 * any other error. A peer that is exhausted has refused the call, so that a retry is safe, unless a message
 * was too large.
 */
export function classifyGrpcError(error: unknown): Verdict | undefined {
  if (!isServiceError(error)) return undefined;
  const { code, details, metadata } = error;
  const [pushback] = valuesOf(metadata, "grpc-retry-pushback-ms");
  if (code === RESOURCE_EXHAUSTED && LARGER_THAN_MAX.test(details)) return TOO_LARGE;
  if (code === UNAVAILABLE && NO_CONNECTION.test(details)) return NOT_CONNECTED;
  const verdict = classifyGrpc(code, pushback);
  return code === RESOURCE_EXHAUSTED && pushback === undefined
    ? { ...verdict, retriable: "safe" }
    : verdict;
}

function isServiceError(error: unknown): error is ServiceErrorLike {
  if (typeof error !== "object" || error === null) return false;
  if (!("code" in error && "details" in error && "metadata" in error)) return false;
  const { code, details, metadata } = error;
  if (typeof code !== "number" || typeof details !== "string") return false;
  return typeof metadata === "object" && metadata !== null && "get" in metadata;
}

function valuesOf(metadata: ServiceErrorLike["metadata"], name: string): readonly string[] {
  if (typeof metadata.get !== "function") return [];
  const values = metadata.get(name);
  return Array.isArray(values) ? values.filter((value) => typeof value === "string") : [];
}
