/** The parts of `redis://[user:password@]host[:port][/database]`, decoded. */
export interface RedisUrl {
  readonly host: string;
  readonly port: number;
  /** Undefined if the URL names none. */
  readonly database: number | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** Whether the scheme is `rediss:`. */
  readonly isTls: boolean;
}

/** For error messages. The URL itself is never shown, since it may contain a password. */
export const URL_SYNTAX = "redis://[user:password@]host[:port][/database], or rediss:// for TLS";

const DEFAULT_PORT = 6379;
/** The largest database number accepted; Redis has 16 databases unless configured otherwise. */
export const DATABASE_MAX = 9999;
const DATABASE = /^\/?(\d{0,4})$/;

/** Undefined for any text that is not such a URL: another scheme, a query, a fragment, no host. */
export function parseRedisUrl(text: unknown): RedisUrl | undefined {
  if (typeof text !== "string" || !URL.canParse(text)) return undefined;
  const { protocol, hostname, port, pathname, search, hash, username, password } = new URL(text);
  const [, database] = DATABASE.exec(pathname) ?? [];
  const isRedis = protocol === "redis:" || protocol === "rediss:";
  if (!isRedis || hostname === "" || search !== "" || hash !== "" || database === undefined)
    return undefined;
  try {
    return {
      host: hostname.replaceAll(/^\[|\]$/g, ""),
      port: port === "" ? DEFAULT_PORT : Number(port),
      database: database === "" ? undefined : Number(database),
      username: decodeURIComponent(username) || undefined,
      password: decodeURIComponent(password) || undefined,
      isTls: protocol === "rediss:",
    };
  } catch {
    // A percent sign that encodes nothing.
    return undefined;
  }
}
