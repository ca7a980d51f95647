import { AuthenticationError } from "./authentication-error.ts";

/** Whom a token names, and until when. */
export interface TokenClaims {
  readonly role: string;
  /** By wall time, as is the end; undefined if it has always been valid. */
  readonly startsAtMs: number | undefined;
  /** Undefined if it never ends. */
  readonly expiresAtMs: number | undefined;
}

const ROLE_MAX_LENGTH = 256;

/** A role goes into logs and metrics. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;

/** Beyond it milliseconds are not exact, and no calendar goes there. */
const SECONDS_MAX = 8_640_000_000_000;

/** Reads what a signature has vouched for. */
export function parseTokenClaims(payload: Uint8Array): TokenClaims {
  const claims = parseObject(payload);
  const { sub } = claims;
  if (typeof sub !== "string" || sub.trim() === "")
    throw new AuthenticationError("a token must name its role in sub");
  if (sub.length > ROLE_MAX_LENGTH || UNPRINTABLE.test(sub))
    throw new AuthenticationError(
      `a token's role has at most ${ROLE_MAX_LENGTH} characters, none of them a control character`,
    );
  return {
    role: sub,
    startsAtMs: parseInstantMs("nbf", claims.nbf),
    expiresAtMs: parseInstantMs("exp", claims.exp),
  };
}

interface RawClaims {
  readonly sub?: unknown;
  readonly exp?: unknown;
  readonly nbf?: unknown;
}

function parseObject(payload: Uint8Array): RawClaims {
  const value = parseJson(payload);
  if (typeof value === "object" && value !== null) return value;
  throw new AuthenticationError("a token's payload is not a JSON object");
}

function parseJson(payload: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload));
  } catch {
    // No cause: an error of JSON.parse repeats the text.
    throw new AuthenticationError("a token's payload is not JSON");
  }
}

function parseInstantMs(name: string, seconds: unknown): number | undefined {
  if (seconds === undefined) return undefined;
  if (typeof seconds === "number" && Math.abs(seconds) <= SECONDS_MAX) return seconds * 1000;
  throw new AuthenticationError(`a token's ${name} is not an instant in seconds`);
}
