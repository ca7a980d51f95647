import { ConfigError } from "@sluice/core";
import type { Division } from "@sluice/core/internal";
import { POOL_MEMBERS_MAX } from "../ledger/parts.ts";
import { checkTiming, DEFAULT_TIMING, timingOf } from "../ledger/timing.ts";
import type { Timing } from "../ledger/timing.ts";
import type { MemberRules } from "../member/membership.ts";
import { requireMemberId, requirePoolName } from "../store/names.ts";
import type { PoolStore } from "../store/pool-store.ts";
import type { RedisStoreOptions } from "../store/redis/options/options.ts";
import { readRateLimit } from "./rate-limit.ts";
import type { RateLimitBlock, RateLimitSettings } from "./rate-limit.ts";
import type { ReadSecret } from "./secret.ts";
import { SettingsMap } from "./settings-map.ts";

/** How a share comes: whole at the top of every second, or spread over it. */
export type PacingName = "epoch" | "smooth";

/** What a member of a pool is started with. */
export interface FleetOptions {
  /** The pool's name: processes that name the same pool and store share its rate. */
  readonly pool: string;
  /** The process's id, unique in its pool. Default: a random one. */
  readonly member?: string;
  /** The rate of the whole pool. Without it nothing is limited. */
  readonly rateLimit?: RateLimitBlock;
  /**
   * Where the members meet: the address of a Redis server, the options of `redisStore`, or a store
   * that several limiters of this process use. A store that is made from an address or options is
   * closed by `leave()`. The block may name the store instead, or `replicas` tell the number of processes.
   * Default: none; one of the three is needed.
   */
  readonly store?: PoolStore | RedisStoreOptions | string;
  /** Instead of a store: this many processes run, each with its part of the ceiling. Default: none. */
  readonly replicas?: number;
  /**
   * `demand`: what idle members do not use goes to busy ones. `equal`: each member has the same share.
   * @default "demand"
   */
  readonly share?: MemberRules["share"];
  /**
   * How an equal share becomes whole tokens under `pacing: "epoch"`.
   * @default "rotate"
   */
  readonly division?: Division;
  /** @default "smooth" */
  readonly pacing?: PacingName;
  /**
   * The most processes that will run. A member without a lease has the ceiling divided by this, its
   * safe share.
   * @default 64
   */
  readonly maxMembers?: number;
  /**
   * What a member uses after the store was lost for longer than a lease: its safe share, nothing, or
   * what it had.
   * @default "safe-share"
   */
  readonly onStoreLoss?: MemberRules["onStoreLoss"];
  /**
   * Whether a joiner waits for its share, about two seconds, or starts at once on its safe share.
   * @default "agreement"
   */
  readonly joinOn?: MemberRules["joinOn"];
  /**
   * The same for all members of a pool. With `leaseMs` the times that are not given keep their proportion to it:
   * a lease of half the default has half the sync interval.
   */
  readonly timing?: Partial<Timing>;
}

/** Options with every default in place, that do not contradict each other. */
export interface FleetSettings {
  readonly pool: string;
  readonly member: string | undefined;
  readonly rateLimit: RateLimitSettings | undefined;
  /** A store that was given; one that the block describes is in `rateLimit`. */
  readonly store: PoolStore | undefined;
  /** A store to be made for this member. */
  readonly redis: RedisStoreOptions | undefined;
  /** How many processes divide the ceiling where no store counts them. */
  readonly replicas: number | undefined;
  readonly division: Division;
  readonly pacing: PacingName;
  readonly membership: MemberRules;
  /** Warnings about settings that are probably not intended, those of the block included. */
  readonly warnings: readonly string[];
}

const KEYS: readonly (keyof FleetOptions)[] = [
  "pool",
  "member",
  "rateLimit",
  "store",
  "replicas",
  "share",
  "division",
  "pacing",
  "maxMembers",
  "onStoreLoss",
  "joinOn",
  "timing",
];

const DEFAULT_MAX_MEMBERS = 64;
/** No store counts them: any number that leaves each of them parts of the ceiling will do. */
const REPLICAS_MAX = 1_000_000;

/** Options that mean nothing without a store. */
const OF_A_STORE = ["onStoreLoss", "joinOn", "maxMembers", "timing"] as const;

/** Reads what a member is started with; contradictions are refused, doubtful settings add a warning. */
export function readFleetOptions(
  options: unknown,
  { where = "", readSecret }: { readonly where?: string; readonly readSecret?: ReadSecret } = {},
): FleetSettings {
  const map = new SettingsMap(options, { path: where, known: KEYS });
  const rateLimit = map.has("rateLimit")
    ? readRateLimit(map.get("rateLimit"), {
        where: map.at("rateLimit"),
        ...(readSecret === undefined ? {} : { readSecret }),
      })
    : undefined;
  const settings = {
    pool: requireName(map, "pool", requirePoolName),
    member: map.has("member") ? requireName(map, "member", requireMemberId) : undefined,
    rateLimit,
    ...readGivenStore(map),
    replicas: map.whole("replicas", 1, REPLICAS_MAX),
    division: map.oneOf("division", ["rotate", "floor"]) ?? "rotate",
    pacing: map.oneOf("pacing", ["epoch", "smooth"]) ?? "smooth",
    membership: readMembership(map, rateLimit),
  } as const;
  refuseContradictions(map, settings);
  const warnings = [...(rateLimit?.warnings ?? []), ...doubtsAbout(map, settings)];
  return { ...settings, warnings };
}

function requireName(
  map: SettingsMap,
  key: "pool" | "member",
  check: (name: string) => void,
): string {
  const name = map.text(key);
  if (name === undefined) throw map.error(key, "a name");
  check(name);
  return name;
}

function readGivenStore(map: SettingsMap): Pick<FleetSettings, "store" | "redis"> {
  const given = map.get("store");
  if (given === undefined) return { store: undefined, redis: undefined };
  if (isPoolStore(given)) return { store: given, redis: undefined };
  if (typeof given === "string") return { store: undefined, redis: { url: given } };
  // `redisStore` checks the rest.
  if (isRedisOptions(given)) return { store: undefined, redis: given };
  // Not shown: it may hold a password.
  throw new ConfigError(
    `${map.at("store")} is no store; it must be an address such as "redis://127.0.0.1:6379", the options of redisStore, or what redisStore() or new MemoryStore() return`,
  );
}

function isRedisOptions(value: unknown): value is RedisStoreOptions {
  return typeof value === "object" && value !== null && REDIS_KEYS.some((key) => key in value);
}

const REDIS_KEYS = ["url", "client", "sentinel", "cluster"];

export function isPoolStore(value: unknown): value is PoolStore {
  if (typeof value !== "object" || value === null) return false;
  return ["sync", "leave", "setLimits", "close"].every(
    (method) => typeof Reflect.get(value, method) === "function",
  );
}

function readMembership(map: SettingsMap, rateLimit: RateLimitSettings | undefined): MemberRules {
  const hasStore = map.has("store") || rateLimit?.store !== undefined;
  return {
    timing: readTiming(map),
    maxMembers: map.whole("maxMembers", 1, POOL_MEMBERS_MAX) ?? DEFAULT_MAX_MEMBERS,
    onStoreLoss: map.oneOf("onStoreLoss", ["safe-share", "closed", "open"]) ?? "safe-share",
    joinOn: map.oneOf("joinOn", ["agreement", "safe-share"]) ?? "agreement",
    share: map.oneOf("share", ["equal", "demand"]) ?? (hasStore ? "demand" : "equal"),
    needsRank: map.get("pacing") === "epoch",
  };
}

function readTiming(map: SettingsMap): Timing {
  const given = map.map("timing", Object.keys(DEFAULT_TIMING));
  if (given === undefined) return DEFAULT_TIMING;
  const defaults = timingOf(given.whole("leaseMs", 1) ?? DEFAULT_TIMING.leaseMs);
  const time = (key: keyof Timing): number => given.whole(key, 1) ?? defaults[key];
  const timing = {
    syncIntervalMs: time("syncIntervalMs"),
    leaseMs: time("leaseMs"),
    staleMs: time("staleMs"),
    timeoutMs: time("timeoutMs"),
  };
  try {
    return checkTiming(timing);
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    throw new ConfigError(`${map.at("timing")}: ${cause.message}`, undefined, { cause });
  }
}

type Read = Omit<FleetSettings, "warnings">;

function refuseContradictions(map: SettingsMap, settings: Read): void {
  const { rateLimit, replicas, membership, division } = settings;
  const blockStore = `${map.at("rateLimit")}.store`;
  const isGiven = map.has("store");
  if (isGiven && rateLimit?.store !== undefined) {
    throw new ConfigError(`${map.at("store")} and ${blockStore} are both there; name one store`);
  }
  const hasStore = isGiven || rateLimit?.store !== undefined;
  if (hasStore && replicas !== undefined) {
    const place = isGiven ? map.at("store") : blockStore;
    throw new ConfigError(
      `${map.at("replicas")} and ${place} are both there; a store counts the members itself, so it must be one of them`,
    );
  }
  if (!hasStore) {
    if (rateLimit !== undefined && replicas === undefined)
      throw new ConfigError(
        `${map.at("store")} and ${map.at("replicas")} are both missing, so every process would have the whole rate; name a store such as "redis://127.0.0.1:6379", or the number of processes: replicas: 1 for this one alone`,
      );
    if (membership.share === "demand") throw map.error("share", "equal where there is no store");
    const idle = OF_A_STORE.find((key) => map.has(key));
    if (idle !== undefined) {
      throw new ConfigError(`${map.at(idle)} is there without a store; it must not be`);
    }
  }
  const max = rateLimit?.ramp.max;
  if (replicas !== undefined && max !== undefined && division === "floor" && max < replicas) {
    throw map.error("replicas", `at most max, ${max}, with division floor: all would get nothing`);
  }
}

function doubtsAbout(map: SettingsMap, settings: Read): readonly string[] {
  const { rateLimit, replicas, membership } = settings;
  if (rateLimit === undefined) return [];
  const doubts: string[] = [];
  const block = map.at("rateLimit");
  const isShared = map.has("store") || rateLimit.store?.kind === "redis";
  if (!isShared && replicas === undefined) {
    doubts.push(
      `${block}.store is memory: each of several processes would have the whole rate; name a Redis server, or ${map.at("replicas")}`,
    );
  }
  if (!isShared && rateLimit.resume.enabled) {
    doubts.push(`${block}.resumedRampUp has no effect without a store that outlives the process`);
  }
  const { maxMembers, onStoreLoss, joinOn } = membership;
  const usesSafeShare = onStoreLoss !== "closed" || joinOn === "safe-share";
  if (!isShared || !usesSafeShare) return doubts;
  if (!map.has("maxMembers"))
    doubts.push(
      `${map.at("maxMembers")} is not set: while the store is lost each process has 1/${maxMembers} of the rate; set it to the most processes that you run`,
    );
  if (rateLimit.ramp.max < maxMembers)
    doubts.push(
      `${block}.max is ${rateLimit.ramp.max}, less than ${map.at("maxMembers")}, ${maxMembers}: a safe share is less than one token a second`,
    );
  return doubts;
}
