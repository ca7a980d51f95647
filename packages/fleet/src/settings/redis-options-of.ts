import type { RedisStoreOptions } from "../store/redis/options/options.ts";
import type { RedisTls } from "../store/redis/options/target.ts";
import type { AccessSettings, TlsSettings } from "./sentinel-settings.ts";
import type { SentinelStoreSettings, SingleSettings } from "./store-settings.ts";

/** The options of `redisStore` for the store that a `rateLimit` block describes. */
export function redisOptionsOf(
  settings: SingleSettings | SentinelStoreSettings,
): RedisStoreOptions {
  if (settings.mode === "single") return { url: settings.url.reveal() };
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
    ...(auth?.username === undefined ? {} : { username: auth.username.reveal() }),
    ...(auth === undefined ? {} : { password: auth.password.reveal() }),
    ...(tls === undefined ? {} : { tls: tlsOf(tls) }),
  };
}

function tlsOf({ isVerified, ca, cert, key }: TlsSettings): RedisTls {
  return {
    ...(isVerified ? {} : { insecureSkipVerify: true }),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key: key.reveal() }),
  };
}
