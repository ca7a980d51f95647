import { ConfigError } from "@sluice/core";
import type { Timer } from "@sluice/core";
import { requireDuration, requireKnownKeys } from "@sluice/core/internal";
import { systemTimer } from "@sluice/core/system";
import { ConnectionError } from "../error/connection-error.ts";
import { printable } from "../error/printable.ts";
import { withDeadline } from "../wait/with-deadline.ts";
import type { Authentication } from "./authentication.ts";

export interface OAuth2Options {
  /**
   * The issuer; its token endpoint is read from `/.well-known/openid-configuration`.
   * Default: none; `issuerUrl` or `tokenUrl` is needed.
   */
  readonly issuerUrl?: string | undefined;
  /** The token endpoint itself, instead of `issuerUrl`. Default: none. */
  readonly tokenUrl?: string | undefined;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The audience that the token is asked for. Default: none. */
  readonly audience?: string | undefined;
  /** The scope that the token is asked for. Default: none. */
  readonly scope?: string | undefined;
  /** For one HTTP request. @default 10000 */
  readonly requestTimeoutMs?: number | undefined;
  /** Replaced in tests. Default: the real clock. */
  readonly timer?: Timer | undefined;
}

interface AccessToken {
  readonly text: string;
  readonly receivedAtMs: number;
  readonly lifetimeMs: number;
}

const KNOWN: ReadonlySet<string> = new Set([
  "issuerUrl",
  "tokenUrl",
  "clientId",
  "clientSecret",
  "audience",
  "scope",
  "requestTimeoutMs",
  "timer",
]);

const REQUEST_TIMEOUT_MS = 10_000;

/** Largest answer of an issuer, in bytes: documents and tokens have a few KiB. */
const ANSWER_BYTES_MAX = 262_144;

/** Assumed lifetime if the issuer does not say one, in ms; RFC 6749 leaves it open. */
const DEFAULT_LIFETIME_MS = 300_000;

/** A token is replaced after this part of its lifetime, so that it does not expire on its way. */
const RENEW_AFTER = 0.9;

/**
 * An AUTH_CHALLENGE reuses a token that is younger than this, in ms: one expiry challenges all
 * connections of a client at about the same time, and one request serves them.
 */
const FRESH_MS = 5_000;

/**
 * OAuth 2.0 client credentials (RFC 6749 §4.4), for brokers with the method "token". The access token
 * is cached for 90 % of its lifetime; concurrent connections share one request. While the issuer
 * fails, a cached token is used until it expires.
 */
export function oauth2Authentication(options: OAuth2Options): Authentication {
  const tokens = new AccessTokens(checked(options));
  return {
    methodName: "token",
    credentials: () => tokens.current(),
    refresh: () => tokens.fresh(),
  };
}

class AccessTokens {
  readonly #options: OAuth2Options;
  readonly #timer: Timer;
  #token: AccessToken | undefined;
  #requesting: Promise<AccessToken> | undefined;

  constructor(options: OAuth2Options) {
    this.#options = options;
    this.#timer = options.timer ?? systemTimer;
  }

  async current(): Promise<string> {
    const cached = this.#token;
    if (cached === undefined) return (await this.#request()).text;
    const ageMs = this.#timer.now() - cached.receivedAtMs;
    if (ageMs < cached.lifetimeMs * RENEW_AFTER) return cached.text;
    try {
      return (await this.#request()).text;
    } catch (error) {
      if (ageMs < cached.lifetimeMs) return cached.text;
      throw error;
    }
  }

  async fresh(): Promise<string> {
    const cached = this.#token;
    const isFresh = cached !== undefined && this.#timer.now() - cached.receivedAtMs < FRESH_MS;
    return isFresh ? cached.text : (await this.#request()).text;
  }

  #request(): Promise<AccessToken> {
    this.#requesting ??= this.#requestOnce().finally(() => {
      this.#requesting = undefined;
    });
    return this.#requesting;
  }

  async #requestOnce(): Promise<AccessToken> {
    const { clientId, clientSecret, audience, scope } = this.#options;
    const form = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: clientId,
      client_secret: clientSecret,
    });
    if (audience !== undefined) form.set("audience", audience);
    if (scope !== undefined) form.set("scope", scope);
    const url = await this.#tokenUrl();
    const { access_token: text, expires_in: seconds } = await this.#json(url, form);
    if (typeof text !== "string" || text === "")
      throw new ConnectionError(`the answer of ${url.host} has no access_token`);
    const isLifetime = typeof seconds === "number" && seconds > 0;
    const lifetimeMs = isLifetime ? seconds * 1_000 : DEFAULT_LIFETIME_MS;
    this.#token = { text, receivedAtMs: this.#timer.now(), lifetimeMs };
    return this.#token;
  }

  async #tokenUrl(): Promise<URL> {
    const { tokenUrl, issuerUrl = "" } = this.#options;
    if (tokenUrl !== undefined) return requireSafeUrl("tokenUrl", tokenUrl);
    const base = issuerUrl.replace(/\/+$/, "");
    const url = requireSafeUrl("issuerUrl", `${base}/.well-known/openid-configuration`);
    const { token_endpoint: endpoint } = await this.#json(url);
    if (typeof endpoint !== "string")
      throw new ConnectionError(`${url.host} names no token_endpoint; set tokenUrl instead`);
    return requireSafeUrl("token_endpoint", endpoint);
  }

  /** GET, or POST if there is a form. Redirects are refused: they would take the secret elsewhere. */
  #json(url: URL, form?: URLSearchParams): Promise<Readonly<Record<string, unknown>>> {
    const ms = this.#options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
    const what = `the OAuth2 request to ${url.host}`;
    return withDeadline(this.#timer, { ms, what }, async (signal) => {
      try {
        const body = form ?? null;
        const method = form === undefined ? "GET" : "POST";
        const headers = { accept: "application/json" };
        const answer = await fetch(url, { method, body, headers, redirect: "error", signal });
        const content = parsed(await boundedText(answer));
        if (answer.ok && content !== undefined) return content;
        const { error, error_description: description } = content ?? {};
        const words = [error, description].filter((word) => typeof word === "string").join(": ");
        throw new ConnectionError(
          `${what} failed with HTTP ${answer.status} ${printable(words)}`.trim(),
        );
      } catch (cause) {
        signal.throwIfAborted();
        if (cause instanceof ConnectionError) throw cause;
        throw new ConnectionError(`${what} failed; is the URL right and reachable?`, { cause });
      }
    });
  }
}

async function boundedText(answer: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const body: AsyncIterable<Uint8Array> | null = answer.body;
  for await (const part of body ?? []) {
    bytes += part.length;
    if (bytes > ANSWER_BYTES_MAX)
      throw new ConnectionError(`an OAuth2 answer has more than ${ANSWER_BYTES_MAX} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** Undefined if it is not a JSON object. */
function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function checked(options: OAuth2Options): OAuth2Options {
  if (typeof options !== "object")
    throw new ConfigError(
      'oauth2Authentication needs options, as in { issuerUrl: "https://issuer", clientId: "id", clientSecret: "secret" }',
    );
  requireKnownKeys("oauth2Authentication", options, KNOWN);
  const { issuerUrl, tokenUrl, clientId, clientSecret, requestTimeoutMs } = options;
  if ((issuerUrl === undefined) === (tokenUrl === undefined))
    throw new ConfigError("oauth2Authentication needs one of issuerUrl and tokenUrl");
  if (issuerUrl !== undefined) requireSafeUrl("issuerUrl", issuerUrl);
  if (tokenUrl !== undefined) requireSafeUrl("tokenUrl", tokenUrl);
  for (const [name, text] of Object.entries({ clientId, clientSecret }))
    if (typeof text !== "string" || text === "")
      throw new ConfigError(`oauth2Authentication needs ${name}, a string that is not empty`);
  if (requestTimeoutMs !== undefined) requireDuration("requestTimeoutMs", requestTimeoutMs, 1);
  return options;
}

/** The client secret goes there: only over TLS, or to this machine. */
function requireSafeUrl(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url?.hostname ?? "");
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback)) return url;
  throw new ConfigError(
    `${name} is not an https:// URL; the client secret is sent there, so http:// is for loopback addresses only`,
  );
}
