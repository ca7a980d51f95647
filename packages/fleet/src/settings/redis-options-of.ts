import { ConfigError } from "@sluice/core";
import type { RedisStoreOptions, RedisTls } from "../store/redis-options.ts";
import type { AccessSettings, TlsSettings } from "./sentinel-settings.ts";
import type { SentinelStoreSettings, SingleSettings } from "./store-settings.ts";

/** What opens the Redis store that a `rateLimit` block describes. */
export function redisOptionsOf(
  settings: SingleSettings | SentinelStoreSettings,
): RedisStoreOptions {
  if (settings.mode === "single") return { url: settings.url };
  const { masterName, endpoints, sentinel, redis, db } = settings;
  if (db !== 0) throw new ConfigError(`db is ${db}; with sentinels it must be 0`);
  return { ...loginOf(redis), sentinel: { masterName, endpoints, ...loginOf(sentinel) } };
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
  if (!isVerified) {
    throw new ConfigError(
      "insecureSkipVerify is true; a store must prove who it is, by caCertSecret",
    );
  }
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}
