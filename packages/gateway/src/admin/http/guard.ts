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
  /** Those of these full names of topics that the role may publish to or subscribe to. */
  visible(role: string, topics: readonly string[]): readonly string[];
}

/** Who makes a request. */
export interface Caller {
  /** Those of these full names of topics that the caller may know of. */
  visible(topics: readonly string[]): readonly string[];
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
const CHALLENGE = { "www-authenticate": "Bearer" };
const NO_TOKEN = refused(401, "a token is required: Authorization: Bearer <token>", CHALLENGE);
const NOT_VALID = refused(401, "the bearer token is not valid", CHALLENGE);
const NO_ADMINISTRATOR = refused(403, "this role has no right to administer the broker");
const FOREIGN_PAGE = refused(403, "requests of web pages of other origins are not served");
const FOREIGN_HOST = refused(
  403,
  "the Host header must be localhost or an address, because names can be made to point here",
);

const ALL_VISIBLE: Caller = { visible: (topics) => topics };

/** Decides which requests are served, and for whom. */
export class Guard {
  readonly #isLoopback: boolean;
  readonly #tokenHash: Buffer | undefined;
  readonly #roles: RoleTokens | undefined;

  constructor({ isLoopback, token, roles }: GuardOptions) {
    this.#isLoopback = isLoopback;
    this.#tokenHash = token === undefined ? undefined : hashOf(token);
    this.#roles = roles;
  }

  /** A web page of another origin must not administer the broker of the user who looks at it. */
  refusalOfPage(headers: Headers): Answer | undefined {
    const { host = "", origin } = headers;
    if (this.#isLoopback && !isUnforgeableHost(host)) return FOREIGN_HOST;
    return origin === undefined || origin === `http://${host}` ? undefined : FOREIGN_PAGE;
  }

  /** The caller, or the refusal. */
  async identify(access: RouteAccess, headers: Headers): Promise<Caller | Answer> {
    if (access === "all" || (this.#tokenHash === undefined && this.#roles === undefined))
      return ALL_VISIBLE;
    const token = BEARER.exec(headers["authorization"] ?? "")?.[1];
    if (token === undefined) return NO_TOKEN;
    if (this.#tokenHash !== undefined && timingSafeEqual(hashOf(token), this.#tokenHash))
      return ALL_VISIBLE;
    const roles = this.#roles;
    if (roles === undefined) return NOT_VALID;
    const role = await roleOf(roles, token);
    if (role === undefined) return NOT_VALID;
    if (roles.mayAdminister(role)) return ALL_VISIBLE;
    if (access === "admin") return NO_ADMINISTRATOR;
    return { visible: (topics) => roles.visible(role, topics) };
  }
}

async function roleOf(roles: RoleTokens, token: string): Promise<string | undefined> {
  try {
    return (await roles.authenticate(token)).role;
  } catch {
    // Why is not told: it would help only a caller that guesses.
    return undefined;
  }
}

/** Of one length for all tokens, as a comparison in constant time needs. */
function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
