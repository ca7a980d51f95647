import { createHash, timingSafeEqual } from "node:crypto";
import { refused } from "./answer.ts";
import type { Answer } from "./answer.ts";
import { hostOf, isUnforgeableHost } from "./http-address.ts";
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
  /** Whether it may change something: it gave a token, or none is needed. */
  readonly mayChange: boolean;
  /** Those of these full names of topics that the caller may know of. */
  visible(topics: readonly string[]): readonly string[];
}

export interface GuardOptions {
  /** Whether only programs of this machine connect. */
  readonly isLoopback: boolean;
  /** A bearer token that may do everything. */
  readonly token?: string | undefined;
  readonly roles?: RoleTokens | undefined;
  /** Whether routes with the access "read" need no token. Default: false. */
  readonly readWithoutToken?: boolean | undefined;
  /** A name of this server that pages of other origins cannot have: it is the operator's. */
  readonly advertisedHost?: string | undefined;
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
  "the Host header must be localhost, an address or the advertised host, because other names can be made to point here",
);

const ADMINISTRATOR: Caller = { mayChange: true, visible: (topics) => topics };
const READER: Caller = { mayChange: false, visible: (topics) => topics };

/** What browsers send with a request of their own page, and of a person who typed the address. */
const OWN_SITES: ReadonlySet<string | undefined> = new Set([undefined, "same-origin", "none"]);

/** Decides which requests are served, and for whom. */
export class Guard {
  readonly #isLoopback: boolean;
  readonly #tokenHash: Buffer | undefined;
  readonly #roles: RoleTokens | undefined;
  readonly #readWithoutToken: boolean;
  readonly #advertisedHost: string | undefined;

  constructor({
    isLoopback,
    token,
    roles,
    readWithoutToken = false,
    advertisedHost,
  }: GuardOptions) {
    this.#isLoopback = isLoopback;
    this.#tokenHash = token === undefined ? undefined : hashOf(token);
    this.#roles = roles;
    this.#readWithoutToken = readWithoutToken;
    this.#advertisedHost = advertisedHost?.toLowerCase();
  }

  /** A web page of another origin must not administer the broker of the user who looks at it. */
  refusalOfPage(headers: Headers): Answer | undefined {
    const { host = "", origin } = headers;
    if (this.#isLoopback && !this.#isOwnHost(host)) return FOREIGN_HOST;
    // A proxy in front may speak TLS. A port has one protocol, so both name this server.
    const own = [undefined, `http://${host}`, `https://${host}`];
    return own.includes(origin) ? undefined : FOREIGN_PAGE;
  }

  /** The caller, or the refusal. */
  async identify(access: RouteAccess, headers: Headers): Promise<Caller | Answer> {
    const isOpen = this.#tokenHash === undefined && this.#roles === undefined;
    if (access === "all") return isOpen ? ADMINISTRATOR : READER;
    // An image or a script of a foreign page has no Origin header. Links from elsewhere may lead to "all" only.
    if (!OWN_SITES.has(headers["sec-fetch-site"])) return FOREIGN_PAGE;
    if (isOpen) return ADMINISTRATOR;
    if (headers["authorization"] === undefined && access === "read" && this.#readWithoutToken)
      // Beyond this machine too, a name that was made to point here must not read without a token.
      return this.#isOwnHost(headers["host"] ?? "") ? READER : FOREIGN_HOST;
    const token = BEARER.exec(headers["authorization"] ?? "")?.[1];
    if (token === undefined) return NO_TOKEN;
    if (this.#tokenHash !== undefined && timingSafeEqual(hashOf(token), this.#tokenHash))
      return ADMINISTRATOR;
    const roles = this.#roles;
    if (roles === undefined) return NOT_VALID;
    const role = await roleOf(roles, token);
    if (role === undefined) return NOT_VALID;
    if (roles.mayAdminister(role)) return ADMINISTRATOR;
    if (access !== "client") return NO_ADMINISTRATOR;
    return { mayChange: false, visible: (topics) => roles.visible(role, topics) };
  }

  #isOwnHost(header: string): boolean {
    return isUnforgeableHost(header) || hostOf(header) === this.#advertisedHost;
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
