import { ConfigError } from "@sluice/core";
import { readSecretText, Secret } from "./secret.ts";
import type { ReadSecret, SecretSetting } from "./secret.ts";
import { show } from "./settings-map.ts";
import type { SettingsMap } from "./settings-map.ts";

/** Numaflow's `sentinel`, as it is written. */
export interface SentinelBlock {
  readonly masterName: string;
  /** Each as `host:port`. */
  readonly endpoints: readonly string[];
  readonly sentinelAuth?: AuthBlock;
  readonly redisAuth?: AuthBlock;
  readonly sentinelTLS?: TlsBlock;
  readonly redisTLS?: TlsBlock;
}

interface AuthBlock {
  readonly username?: SecretSetting;
  readonly password?: SecretSetting;
}

interface TlsBlock {
  readonly insecureSkipVerify?: boolean;
  readonly caCertSecret?: SecretSetting;
  readonly certSecret?: SecretSetting;
  readonly keySecret?: SecretSetting;
}

export interface SentinelSettings {
  readonly masterName: string;
  readonly endpoints: readonly Endpoint[];
  readonly sentinel: AccessSettings;
  readonly redis: AccessSettings;
}

interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** Credentials and TLS for one kind of server; undefined: none. */
export interface AccessSettings {
  readonly auth: AuthSettings | undefined;
  readonly tls: TlsSettings | undefined;
}

interface AuthSettings {
  readonly username: Secret | undefined;
  readonly password: Secret;
}

export interface TlsSettings {
  /** Whether the server's certificate is checked. */
  readonly isVerified: boolean;
  /** PEM; undefined: the authorities that Node.js trusts. */
  readonly ca: string | undefined;
  /** PEM of the client's certificate and private key; both or none. */
  readonly cert: string | undefined;
  readonly key: Secret | undefined;
}

/** The reader of referenced secrets, and the list that warnings are added to. */
export interface Reading {
  readonly readSecret: ReadSecret | undefined;
  readonly warnings: string[];
}

/** Sentinels in one block; deployments have 3 to 7. */
const ENDPOINTS_MAX = 100;

const KEYS: readonly (keyof SentinelBlock)[] = [
  "masterName",
  "endpoints",
  "sentinelAuth",
  "redisAuth",
  "sentinelTLS",
  "redisTLS",
];

/** Reads the `sentinel` of a `redisStore`. */
export function readSentinel(redis: SettingsMap, reading: Reading): SentinelSettings {
  const { warnings } = reading;
  // Numaflow's guide writes these keys with underscores, its schema without.
  const sentinel = redis.map("sentinel", KEYS, { isSnakeCaseKnown: true, warnings });
  if (sentinel === undefined) throw redis.error("sentinel", "a map with masterName and endpoints");
  const masterName = sentinel.text("masterName");
  if (masterName === undefined) throw sentinel.error("masterName", "a text that is not empty");
  return {
    masterName,
    endpoints: readEndpoints(sentinel),
    sentinel: {
      auth: readAuth(sentinel, "sentinelAuth", reading),
      tls: readTls(sentinel, "sentinelTLS", reading),
    },
    redis: {
      auth: readAuth(sentinel, "redisAuth", reading),
      tls: readTls(sentinel, "redisTLS", reading),
    },
  };
}

function readEndpoints(sentinel: SettingsMap): readonly Endpoint[] {
  const value = sentinel.get("endpoints");
  const isList = Array.isArray(value) && value.length >= 1 && value.length <= ENDPOINTS_MAX;
  if (!isList) {
    throw sentinel.error("endpoints", `a list of 1 to ${ENDPOINTS_MAX} texts such as "host:26379"`);
  }
  return value.map((each: unknown, i) => {
    const endpoint = typeof each === "string" ? parseEndpoint(each) : undefined;
    if (endpoint !== undefined) return endpoint;
    const place = `${sentinel.at("endpoints")}[${i}]`;
    throw new ConfigError(`${place} is ${show(each)}; it must be a text such as "host:26379"`);
  });
}

function parseEndpoint(text: string): Endpoint | undefined {
  const parts = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/.exec(text);
  const host = parts?.[1] ?? parts?.[2];
  const port = Number(parts?.[3]);
  if (host === undefined || port < 1 || port > 65_535) return undefined;
  return { host, port };
}

function readAuth(
  sentinel: SettingsMap,
  key: string,
  { readSecret }: Reading,
): AuthSettings | undefined {
  const auth = sentinel.map(key, ["username", "password"]);
  if (auth === undefined) return undefined;
  const username = readSecretText(auth, "username", readSecret);
  const password = readSecretText(auth, "password", readSecret);
  if (password !== undefined) {
    const user = username === undefined ? undefined : new Secret(username);
    return { username: user, password: new Secret(password) };
  }
  if (username === undefined) return undefined;
  throw new ConfigError(`${auth.at("username")} is there without a password; it must have one`);
}

function readTls(
  sentinel: SettingsMap,
  key: string,
  { readSecret, warnings }: Reading,
): TlsSettings | undefined {
  const secrets = ["caCertSecret", "certSecret", "keySecret"] as const;
  const tls = sentinel.map(key, ["insecureSkipVerify", ...secrets]);
  if (tls === undefined) return undefined;
  const isVerified = tls.flag("insecureSkipVerify") !== true;
  const [ca, cert, clientKey] = secrets.map((each) => readSecretText(tls, each, readSecret));
  if ((cert === undefined) !== (clientKey === undefined)) {
    const [there, missing] =
      cert === undefined ? ["keySecret", "certSecret"] : ["certSecret", "keySecret"];
    throw new ConfigError(`${tls.at(there)} is there without ${missing}; it must have one`);
  }
  if (!isVerified) {
    const idle = ca === undefined ? "" : ", and caCertSecret has no effect";
    const place = `${tls.at("insecureSkipVerify")} is true`;
    warnings.push(`${place}: any server is accepted as the store${idle}`);
  }
  return { isVerified, ca, cert, key: clientKey === undefined ? undefined : new Secret(clientKey) };
}
