import { ConfigError } from "@sluice/core";
import type { Division } from "@sluice/core/internal";
import type { MembershipRules } from "../membership/membership.ts";
import { checkTiming, DEFAULT_TIMING } from "../membership/timing.ts";
import type { Timing } from "../membership/timing.ts";
import { requireMemberId, requirePoolName } from "../store/names.ts";
import type { PoolStore } from "../store/pool-store.ts";
import { readRateLimit } from "./rate-limit.ts";
import type { RateLimitBlock, RateLimitSettings } from "./rate-limit.ts";
import type { ReadSecret } from "./secret.ts";
import { SettingsMap } from "./settings-map.ts";

/** How a share comes: whole at the top of every second, or spread over it. */
export type PacingName = "epoch" | "smooth";

/** What a member of a pool is told at its start. */
export interface FleetOptions {
  readonly pool: string;
  /** Made up if not given. */
  readonly member?: string;
  /** Not given: no limit. */
  readonly rateLimit?: RateLimitBlock;
  /** Where members meet. Instead of it the block may describe one, or `replicas` tell their number. */
  readonly store?: PoolStore;
  /** So many processes run, each with its part of the ceiling, and no store counts them. */
  readonly replicas?: number;
  readonly share?: MembershipRules["share"];
  readonly division?: Division;
  readonly pacing?: PacingName;
  /** The safe share, of those who have no agreement, is one of so many parts of the ceiling. */
  readonly maxMembers?: number;
  readonly onStoreLoss?: MembershipRules["onStoreLoss"];
  readonly joinOn?: MembershipRules["joinOn"];
  readonly timing?: Partial<Timing>;
}

/** Options with every default in place, that do not contradict each other. */
export interface FleetSettings {
  readonly pool: string;
  readonly member: string | undefined;
  readonly rateLimit: RateLimitSettings | undefined;
  /** A store that was given; one that the block describes is in `rateLimit`. */
  readonly store: PoolStore | undefined;
  /** How many processes divide the ceiling where no store counts them. */
  readonly replicas: number | undefined;
  readonly division: Division;
  readonly pacing: PacingName;
  readonly membership: MembershipRules;
  /** What may not be meant, that of the block included. */
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
const MEMBERS_MAX = 1_000_000;

/** Without a store nobody could act by these. */
const OF_A_STORE = ["onStoreLoss", "joinOn", "maxMembers", "timing"] as const;

/** Reads what a member is started with; contradictions are refused, doubts are told. */
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
    store: readGivenStore(map),
    replicas: map.whole("replicas", 1, MEMBERS_MAX),
    division: map.oneOf("division", ["rotate", "floor"]) ?? "rotate",
    pacing: map.oneOf("pacing", ["epoch", "smooth"]) ?? "smooth",
    membership: readMembership(map),
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

function readGivenStore(map: SettingsMap): PoolStore | undefined {
  const store = map.get("store");
  if (store === undefined || isPoolStore(store)) return store;
  // Not shown: a url may be here by mistake, with a password.
  throw new ConfigError(
    `${map.at("store")} is no store; it must be one that redisStore({ url }) returns, or a MemoryStore`,
  );
}

function isPoolStore(value: unknown): value is PoolStore {
  if (typeof value !== "object" || value === null) return false;
  return ["sync", "leave", "setLimits", "close"].every(
    (method) => typeof Reflect.get(value, method) === "function",
  );
}

function readMembership(map: SettingsMap): MembershipRules {
  return {
    timing: readTiming(map),
    maxMembers: map.whole("maxMembers", 1, MEMBERS_MAX) ?? DEFAULT_MAX_MEMBERS,
    onStoreLoss: map.oneOf("onStoreLoss", ["safe-share", "closed", "open"]) ?? "safe-share",
    joinOn: map.oneOf("joinOn", ["agreement", "safe-share"]) ?? "agreement",
    share: map.oneOf("share", ["equal", "demand"]) ?? "equal",
  };
}

function readTiming(map: SettingsMap): Timing {
  const given = map.map("timing", Object.keys(DEFAULT_TIMING));
  if (given === undefined) return DEFAULT_TIMING;
  const time = (key: keyof Timing): number => given.whole(key, 1) ?? DEFAULT_TIMING[key];
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
  const { rateLimit, store, replicas, membership, division } = settings;
  const blockStore = `${map.at("rateLimit")}.store`;
  if (store !== undefined && rateLimit?.store !== undefined) {
    throw new ConfigError(`${map.at("store")} and ${blockStore} are both there; one store must do`);
  }
  const hasStore = store !== undefined || rateLimit?.store !== undefined;
  if (hasStore && replicas !== undefined) {
    const place = store === undefined ? blockStore : map.at("store");
    throw new ConfigError(
      `${map.at("replicas")} and ${place} are both there; a store counts the members itself, so it must be one of them`,
    );
  }
  if (!hasStore) {
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
  const { rateLimit, store, replicas, membership } = settings;
  if (rateLimit === undefined) return [];
  const doubts: string[] = [];
  const block = map.at("rateLimit");
  const isShared = store !== undefined || rateLimit.store?.kind === "redis";
  if (!isShared && replicas === undefined) {
    doubts.push(
      `${block} is for this process alone: each of several would have all of it; name a store, or ${map.at("replicas")}`,
    );
  }
  if (!isShared && rateLimit.resume.enabled) {
    doubts.push(`${block}.resumedRampUp has no effect without a store that outlives the process`);
  }
  const { maxMembers, onStoreLoss, joinOn } = membership;
  const usesSafeShare = onStoreLoss !== "closed" || joinOn === "safe-share";
  if (isShared && usesSafeShare && rateLimit.ramp.max < maxMembers) {
    doubts.push(
      `${block}.max is ${rateLimit.ramp.max}, less than ${map.at("maxMembers")}, ${maxMembers}: a safe share is less than one token a second`,
    );
  }
  return doubts;
}
