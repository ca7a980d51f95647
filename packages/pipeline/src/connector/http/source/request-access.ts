import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/**
 * Whether a web page makes the request. Any page that a user of this machine looks at could post here: a browser asks
 * for no permission if the body is called text/plain. Browsers add `Origin` to every POST, and other clients do not.
 */
export function isOfPage({ headers }: IncomingMessage): boolean {
  const { origin, "sec-fetch-site": site = "none" } = headers;
  return origin !== undefined || site !== "none";
}

/** Compares hashes, so that the time says nothing of the token. */
export function hasToken({ headers }: IncomingMessage, token: string): boolean {
  const [, given = ""] = /^Bearer (.+)$/i.exec(headers.authorization ?? "") ?? [];
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
