import { SluiceError } from "@sluice/core";
import type { Verdict } from "./verdict.ts";

const GIVEN_UP: Verdict = { outcome: "ignored", retriable: "never" };
const NOT_THE_PEERS: Verdict = { outcome: "ignored", retriable: "never" };
const NOT_CONNECTED: Verdict = { outcome: "failed", retriable: "safe" };
/** The peer was not even asked, so it says nothing of its load. */
const NOT_ASKED: Verdict = { outcome: "ignored", retriable: "safe" };
const BROKEN: Verdict = { outcome: "failed", retriable: "if-idempotent" };
const STREAM_REFUSED: Verdict = { outcome: "busy", retriable: "safe", scope: "busy-here" };
const TOLD_TO_CALM: Verdict = { outcome: "busy", retriable: "if-idempotent", scope: "over-quota" };

/** Codes of Node, its TLS and HTTP/2, and undici (`UND_`). */
const BY_CODE: ReadonlyMap<string, Verdict> = new Map<string, Verdict>([
  ["ECONNREFUSED", NOT_CONNECTED],
  ["UND_ERR_CONNECT_TIMEOUT", NOT_CONNECTED],
  ["EHOSTUNREACH", BROKEN],
  ["ENETUNREACH", BROKEN],
  ["EHOSTDOWN", BROKEN],
  ["ENETDOWN", BROKEN],
  ["ETIMEDOUT", BROKEN],
  ["ECONNRESET", BROKEN],
  ["ECONNABORTED", BROKEN],
  ["ENETRESET", BROKEN],
  ["ENOTCONN", BROKEN],
  ["EPROTO", BROKEN],
  ["ESOCKETTIMEDOUT", BROKEN],
  ["ERR_STREAM_PREMATURE_CLOSE", BROKEN],
  ["ERR_SOCKET_CONNECTION_TIMEOUT", NOT_CONNECTED],
  ["EPIPE", BROKEN],
  ["UND_ERR_SOCKET", BROKEN],
  ["UND_ERR_HEADERS_TIMEOUT", BROKEN],
  ["UND_ERR_BODY_TIMEOUT", BROKEN],
  // What axios says in a browser, where the network tells no more.
  ["ERR_NETWORK", BROKEN],
  ["ERR_CANCELED", GIVEN_UP],
  ["UND_ERR_ABORTED", GIVEN_UP],
  ["ENOTFOUND", NOT_ASKED],
  // The peer ends this connection in good order; the stream was not opened any more.
  ["ERR_HTTP2_GOAWAY_SESSION", NOT_ASKED],
  ["ERR_HTTP2_STREAM_ERROR", BROKEN],
  ["ERR_HTTP2_STREAM_CANCEL", BROKEN],
  ["ERR_HTTP2_ERROR", BROKEN],
  ["ERR_HTTP2_SESSION_ERROR", BROKEN],
  // No addresses or files left on this side, or a certificate that will be no better next time.
  ["EADDRNOTAVAIL", NOT_THE_PEERS],
  ["EMFILE", NOT_THE_PEERS],
  ["ENFILE", NOT_THE_PEERS],
  ["CERT_HAS_EXPIRED", NOT_THE_PEERS],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", NOT_THE_PEERS],
  ["SELF_SIGNED_CERT_IN_CHAIN", NOT_THE_PEERS],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", NOT_THE_PEERS],
  ["ERR_TLS_CERT_ALTNAME_INVALID", NOT_THE_PEERS],
  // A request that is none, or a client that its owner has closed.
  ["ERR_INVALID_URL", NOT_THE_PEERS],
  ["ERR_INVALID_ARG_TYPE", NOT_THE_PEERS],
  ["ERR_INVALID_ARG_VALUE", NOT_THE_PEERS],
  ["ERR_ASSERTION", NOT_THE_PEERS],
  ["UND_ERR_INVALID_ARG", NOT_THE_PEERS],
  ["UND_ERR_NOT_SUPPORTED", NOT_THE_PEERS],
  ["UND_ERR_REQ_CONTENT_LENGTH_MISMATCH", NOT_THE_PEERS],
  ["UND_ERR_CLOSED", NOT_THE_PEERS],
  ["UND_ERR_DESTROYED", NOT_THE_PEERS],
  ["UND_ERR_INVALID_RETURN_VALUE", NOT_THE_PEERS],
  ["UND_ERR_MAX_ORIGINS_REACHED", NOT_THE_PEERS],
]);

/** Families of codes, for those that are not listed: undici, Node's HTTP parser, name resolution. */
const BY_PREFIX: readonly (readonly [prefix: string, verdict: Verdict])[] = [
  ["UND_ERR_", BROKEN],
  ["HPE_", BROKEN],
  ["EAI_", NOT_ASKED],
];

/** Messages by which openai and @anthropic-ai/sdk tell apart their errors without an answer. */
const SDK_ABORTED = "Request was aborted.";
const SDK_TIMED_OUT = "Request timed out.";

/** What the language throws at mistakes; `fetch` uses one of them for everything, see below. */
const MISTAKES = new Set(["TypeError", "RangeError", "ReferenceError", "SyntaxError", "URIError"]);

/** How `fetch` says that the network failed: in Node twice, then in three browsers. */
const FETCH_FAILED = new Set([
  "fetch failed",
  "terminated",
  "Failed to fetch",
  "NetworkError when attempting to fetch resource.",
  "Load failed",
]);

/** Causes of causes that are looked at; it also ends circles. */
const DEPTH_MAX = 8;

/**
 * What an error thrown by a call means for the peer's load and for a retry.
 *
 * The outermost error that is known decides, and causes are looked through. Before a connection is
 * made, a retry is safe; after that the peer may have begun. An abort is the caller's doing unless
 * a timeout caused it. Any error that is not one of the network says nothing of the peer, so it is ignored
 * and never retried: a violated unique key, a failed validation, a mistake in the program, a refusal of
 * ours.
 */
export function classifyError(error: unknown): Verdict {
  return knownError(error) ?? NOT_THE_PEERS;
}

/** The verdict on an error of the network, of the program or of ours; undefined for any other. */
export function knownError(error: unknown): Verdict | undefined {
  const links = chainOf(error);
  for (const link of links) {
    const verdict = verdictOf(link, links);
    if (verdict !== undefined) return verdict;
  }
  return links.some(isNetworkFailure) ? BROKEN : undefined;
}

/** An error or one of its causes; what of it is looked at may be anything. */
export interface Link {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly syscall?: unknown;
  /** What a name was looked up for, or a connection tried to. */
  readonly hostname?: unknown;
  readonly address?: unknown;
  readonly port?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** The error and its causes, from the outermost inwards; bounded. */
export function chainOf(error: unknown): readonly Link[] {
  const links: Link[] = [];
  let next = error;
  while (typeof next === "object" && next !== null && links.length < DEPTH_MAX) {
    const link: Link = next;
    links.push(link);
    // When all addresses of a host fail, the first stands for them.
    next = link.cause ?? (Array.isArray(link.errors) ? link.errors[0] : undefined);
  }
  return links;
}

function verdictOf(link: Link, links: readonly Link[]): Verdict | undefined {
  if (link instanceof SluiceError) return NOT_THE_PEERS;
  if (link.name === "TimeoutError") return BROKEN;
  if (link.name === "AbortError")
    return links.some(({ name }) => name === "TimeoutError") ? BROKEN : GIVEN_UP;
  const byCode = typeof link.code === "string" ? verdictOfCode(link.code) : undefined;
  if (byCode !== undefined) return refine(byCode, link, links);
  if (isUnanswered(link) && link.message === SDK_ABORTED) return GIVEN_UP;
  if (isUnanswered(link) && link.message === SDK_TIMED_OUT) return BROKEN;
  // What fetch throws for the network, its cause explains.
  return isMistake(link) && !isFetchFailure(link) ? NOT_THE_PEERS : undefined;
}

/** The same code may come from an attempt to connect, and HTTP/2 has its codes in the message only. */
function refine(verdict: Verdict, link: Link, links: readonly Link[]): Verdict {
  if (verdict !== BROKEN) return verdict;
  if (links.some(({ syscall }) => syscall === "connect")) return NOT_CONNECTED;
  if (typeof link.message !== "string") return verdict;
  if (link.message.includes("NGHTTP2_REFUSED_STREAM")) return STREAM_REFUSED;
  if (link.message.includes("NGHTTP2_ENHANCE_YOUR_CALM")) return TOLD_TO_CALM;
  return verdict;
}

function verdictOfCode(code: string): Verdict | undefined {
  return BY_CODE.get(code) ?? BY_PREFIX.find(([prefix]) => code.startsWith(prefix))?.[1];
}

/** Says that the network failed, and leaves it to its cause to say how. */
function isNetworkFailure(link: Link): boolean {
  return isFetchFailure(link) || isUnanswered(link);
}

function isFetchFailure(link: Link): boolean {
  return isMistake(link) && FETCH_FAILED.has(String(link.message));
}

/** An `APIError` of these SDKs for a call without an answer. By its looks: bundlers rename classes. */
function isUnanswered(link: Link): boolean {
  if (!("status" in link && "headers" in link && "requestID" in link)) return false;
  return link.status === undefined && link.headers === undefined;
}

function isMistake({ name }: Link): boolean {
  return typeof name === "string" && MISTAKES.has(name);
}
