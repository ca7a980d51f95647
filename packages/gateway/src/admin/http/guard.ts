import { createHash, timingSafeEqual } from "node:crypto";
import { refused } from "./answer.ts";
import type { Answer } from "./answer.ts";
import { isUnforgeableHost } from "./http-address.ts";
import type { RouteAccess } from "./router.ts";

/** The roles of a broker's clients, for the administration of that broker. */
export interface RoleTokens {
  /** The role of a token; rejects if the token is not valid. */
  authenticate(token: string): Promise<{ readonly role: string }>;
  mayAdminister(role: string): boolean;
}

export interface GuardOptions {
  /** Whether only programs of this machine connect. */
  readonly isLoopback: boolean;
  /** A bearer token that may do everything. */
  readonly token?: string | undefined;
  readonly roles?: RoleTokens | undefined;
}

/** Headers by lower-case name. */
type Headers = Readonly<Record<string, string | undefined>>;

const BEARER = /^bearer +(\S+)$/i;
const UNAUTHENTICATED = refused(401, "authentication is required: Authorization: Bearer <token>", {
  "www-authenticate": "Bearer",
});
const NOT_VALID = refused(401, "the bearer token is not valid", { "www-authenticate": "Bearer" });
const NO_ADMINISTRATOR = refused(403, "this role has no right to administer the broker");
const FOREIGN_PAGE = refused(403, "requests of web pages of other origins are not served");
const FOREIGN_HOST = refused(
  403,
  "the Host header must be an address of this machine or localhost",
);

/** Decides which requests are served. Answers the refusal, or undefined if the request is served. */
export class Guard {
  readonly #isLoopback: boolean;
  readonly #tokenHash: Buffer | undefined;
  readonly #roles: RoleTokens | undefined;

  constructor({ isLoopback, token, roles }: GuardOptions) {
    this.#isLoopback = isLoopback;
    this.#tokenHash = token === undefined ? undefined : hashOf(token);
    this.#roles = roles;
  }

  /** Web pages: a page of another origin must not administer the broker of the one who looks at it. */
  refusalOfPage(headers: Headers): Answer | undefined {
    const { host = "", origin } = headers;
    if (this.#isLoopback && !isUnforgeableHost(host)) return FOREIGN_HOST;
    return origin === undefined || origin === `http://${host}` ? undefined : FOREIGN_PAGE;
  }

  async refusalOf(access: RouteAccess, headers: Headers): Promise<Answer | undefined> {
    if (access === "all" || (this.#tokenHash === undefined && this.#roles === undefined))
      return undefined;
    const token = BEARER.exec(headers["authorization"] ?? "")?.[1];
    if (token === undefined) return UNAUTHENTICATED;
    if (this.#tokenHash !== undefined && timingSafeEqual(hashOf(token), this.#tokenHash))
      return undefined;
    const role = await this.#roleOf(token);
    if (role === undefined) return NOT_VALID;
    return access === "client" || this.#roles?.mayAdminister(role) === true
      ? undefined
      : NO_ADMINISTRATOR;
  }

  async #roleOf(token: string): Promise<string | undefined> {
    try {
      return (await this.#roles?.authenticate(token))?.role;
    } catch {
      // Why is not told: it would help only a caller that guesses.
      return undefined;
    }
  }
}

/** Of one length for all tokens, as a comparison in constant time needs. */
function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
