import type { RedisStoreOptions, RedisTls } from "../store/redis/options.ts";
import type { AccessSettings, TlsSettings } from "./sentinel-settings.ts";
import type { SentinelStoreSettings, SingleSettings } from "./store-settings.ts";

/** What opens the Redis store that a `rateLimit` block describes. */
export function redisOptionsOf(
  settings: SingleSettings | SentinelStoreSettings,
): RedisStoreOptions {
  if (settings.mode === "single") return { url: settings.url };
  const { masterName, endpoints, sentinel, redis, db } = settings;
  return {
    ...loginOf(redis),
    sentinel: { masterName, endpoints, database: db, ...loginOf(sentinel) },
  };
}

interface Login {
  readonly username?: string;
  readonly password?: string;
  readonly tls?: RedisTls;
}

function loginOf({ auth, tls }: AccessSettings): Login {
  return {
    ...(auth?.username === undefined ? {} : { username: auth.username }),
    ...(auth === undefined ? {} : { password: auth.password }),
    ...(tls === undefined ? {} : { tls: tlsOf(tls) }),
  };
}

function tlsOf({ isVerified, ca, cert, key }: TlsSettings): RedisTls {
  return {
    ...(isVerified ? {} : { insecureSkipVerify: true }),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}
