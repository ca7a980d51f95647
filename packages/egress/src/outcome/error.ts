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
  ["EPIPE", BROKEN],
  ["UND_ERR_SOCKET", BROKEN],
  ["UND_ERR_HEADERS_TIMEOUT", BROKEN],
  ["UND_ERR_BODY_TIMEOUT", BROKEN],
  ["ENOTFOUND", NOT_ASKED],
  ["EAI_AGAIN", NOT_ASKED],
  // The peer ends this connection in good order; the stream was not opened any more.
  ["ERR_HTTP2_GOAWAY_SESSION", NOT_ASKED],
  ["ERR_HTTP2_STREAM_ERROR", BROKEN],
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
]);

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
 * a timeout caused it. Mistakes in the program, our own refusals and whatever is no error are
 * ignored and never retried. Any other error counts as a failure of the peer: it may be load.
 */
export function classifyError(error: unknown): Verdict {
  const links = chainOf(error);
  for (const link of links) {
    const verdict = verdictOf(link, links);
    if (verdict !== undefined) return verdict;
  }
  // By its looks: errors of another realm are none of this one's.
  return typeof links[0]?.message === "string" ? BROKEN : NOT_THE_PEERS;
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
  const byCode = typeof link.code === "string" ? BY_CODE.get(link.code) : undefined;
  if (byCode !== undefined) return refine(byCode, link, links);
  // What fetch throws for the network, its cause explains.
  return isMistake(link) && !FETCH_FAILED.has(String(link.message)) ? NOT_THE_PEERS : undefined;
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

function isMistake({ name }: Link): boolean {
  return typeof name === "string" && MISTAKES.has(name);
}
