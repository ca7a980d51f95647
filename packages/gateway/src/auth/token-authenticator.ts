import type { Clock } from "@sluice/core";
import { requireDuration, requireKnownKeys } from "@sluice/core/internal";
import { compactVerify } from "jose";
import type { CompactVerifyResult } from "jose";
import { AuthenticationError } from "./authentication-error.ts";
import { parseTokenClaims } from "./token-claims.ts";
import { tokenKeyOf } from "./token-key.ts";
import type { TokenKey, TokenKeyOptions } from "./token-key.ts";

export type TokenAuthenticatorOptions = TokenKeyOptions & {
  /** Milliseconds since 1970, as tokens count. */
  readonly wallClock: Clock;
  /** Fewer than the key allows, if others are never to be taken. */
  readonly algorithms?: readonly string[];
  /** Takes tokens that never end, as Pulsar's own tool makes them; false unless given. */
  readonly allowNoExpiry?: boolean;
  /** How far the issuer's clock may be from ours; a minute unless given. */
  readonly leewayMs?: number;
};

/** Whoever holds a token, as far as its issuer knows. */
interface Identity {
  readonly role: string;
  /** From here on the same token is refused, the leeway counted in; undefined if it never is. */
  readonly expiresAtMs: number | undefined;
}

export interface TokenAuthenticator {
  /** Tells whose token it is, or rejects with an `AuthenticationError`. */
  authenticate(token: string): Promise<Identity>;
}

/** Real tokens have a few hundred bytes; nothing of a longer one is looked at. */
const TOKEN_MAX_LENGTH = 16_384;

/** Three parts of base64url and not a character more; decoders are more generous. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

const KNOWN: ReadonlySet<string> = new Set([
  "secretKey",
  "publicKey",
  "wallClock",
  "algorithms",
  "allowNoExpiry",
  "leewayMs",
]);

/** Authenticates by signed JSON web tokens. The key stays within: nothing prints it. */
export function createTokenAuthenticator(options: TokenAuthenticatorOptions): TokenAuthenticator {
  requireKnownKeys("a token authenticator", options, KNOWN);
  const { wallClock, allowNoExpiry = false, leewayMs = 60_000 } = options;
  requireDuration("leewayMs", leewayMs);
  const tokenKey = tokenKeyOf(options, options.algorithms);

  return {
    async authenticate(token) {
      const payload = await verifiedPayload(token, tokenKey);
      const { role, startsAtMs, expiresAtMs } = parseTokenClaims(payload);
      const nowMs = wallClock.now();
      if (startsAtMs !== undefined && nowMs < startsAtMs - leewayMs)
        throw new AuthenticationError("the token is not valid yet");
      if (expiresAtMs === undefined) {
        if (allowNoExpiry) return { role, expiresAtMs };
        throw new AuthenticationError("a token must have an end, in exp");
      }
      const refusedAtMs = expiresAtMs + leewayMs;
      if (nowMs >= refusedAtMs) throw new AuthenticationError("the token has expired");
      return { role, expiresAtMs: refusedAtMs };
    },
  };
}

/** What the token says, once its signature is known to be right. */
async function verifiedPayload(token: string, tokenKey: TokenKey): Promise<Uint8Array> {
  if (token.length > TOKEN_MAX_LENGTH)
    throw new AuthenticationError(`a token has at most ${TOKEN_MAX_LENGTH} characters`);
  if (!COMPACT.test(token))
    throw new AuthenticationError("a token has three parts of base64url with dots between");
  const { payload, protectedHeader } = await verified(token, tokenKey);
  // Extensions that must be understood: none is, not even those that jose knows.
  if (protectedHeader.crit !== undefined || protectedHeader.b64 !== undefined)
    throw new AuthenticationError("a token must not have extensions");
  return payload;
}

async function verified(token: string, tokenKey: TokenKey): Promise<CompactVerifyResult> {
  const { key, algorithms } = tokenKey;
  try {
    return await compactVerify(token, key, { algorithms: [...algorithms] });
  } catch {
    // Why is not told: it would help only those who try.
    throw new AuthenticationError("the token's signature or header is not right");
  }
}
