import { either, flag, JSON_SCHEMA, lineOfText, list, map, whole } from "@sluice/lab/file";
import type { Problem } from "@sluice/lab/file";
import * as v from "valibot";

interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

/** `store.redis`: one of `url`, `sentinel` and `cluster`. */
export interface FlowRedis {
  readonly url?: string | undefined;
  readonly sentinel?:
    | {
        readonly masterName: string;
        readonly endpoints: readonly RedisAddress[];
        readonly database?: number | undefined;
      }
    | undefined;
  readonly cluster?: { readonly nodes: readonly RedisAddress[] } | undefined;
  readonly username?: string | undefined;
  readonly passwordFile?: string | undefined;
  readonly tls?: boolean | undefined;
}

/** Where gateways meet that share limits. */
export type FlowStore = "memory" | { readonly redis: FlowRedis };

const ADDRESSES_MAX = 1_000;
const EXAMPLE = "{ redis: { url: redis://127.0.0.1:6379 } }";

const addresses = list(map({ host: lineOfText(), port: whole(1, 65_535) }), ADDRESSES_MAX);

/** The message does not show the value: it may hold a password. */
export const redisUrl: v.GenericSchema<unknown, string> = v.pipe(
  v.custom<string>(
    (value) => typeof value === "string" && /^rediss?:\/\//.test(value) && URL.canParse(value),
    "is no address of Redis; expected redis://[user:password@]host[:port][/database], or rediss:// for TLS",
  ),
  v.metadata({ [JSON_SCHEMA]: { type: "string", pattern: "^rediss?://" } }),
);

const redis = v.pipe(
  map({
    url: v.optional(redisUrl),
    sentinel: v.optional(
      map({
        masterName: lineOfText(),
        endpoints: addresses,
        database: v.optional(whole(0, 9_999)),
      }),
    ),
    cluster: v.optional(map({ nodes: addresses })),
    username: v.optional(lineOfText()),
    passwordFile: v.optional(lineOfText()),
    tls: v.optional(flag()),
  }),
  v.check(
    (given) => [given.url, given.sentinel, given.cluster].filter((one) => one).length === 1,
    "has not exactly one of url, sentinel and cluster; keep one",
  ),
);

export const storeField: v.GenericSchema<unknown, FlowStore> = either(
  [v.literal("memory"), map({ redis })],
  (value) => {
    if (value === "memory") return v.literal("memory");
    if (typeof value === "object" && value !== null) return map({ redis });
    return v.custom<never>(
      () => false,
      `is neither memory nor a map; expected memory or ${EXAMPLE}`,
    );
  },
);

/** A limit cannot be shared by gateways that do not meet. */
export function sharingMistake(store: FlowStore, path: readonly string[]): readonly Problem[] {
  if (store !== "memory") return [];
  const message = `needs a store that other gateways reach; add store: ${EXAMPLE}, or remove it`;
  return [{ path, message, isMissing: false }];
}
