import { ConfigError } from "@sluice/core";
import { requireKnownKeys, requireWhole } from "@sluice/core/internal";
import type { PoolStore } from "@sluice/fleet";
import type { PublishLimitSettings, SharedTarget } from "../limits/limit-settings.ts";

export const NAME = "gateway";
export const MAX_MEMBERS = 8;

/** The name is part of the pool's, which the store's keys are made of. */
const POOL_PART = /^[A-Za-z0-9._-]{1,64}$/;

/** How a gateway finds the others that share its limits. */
export interface FleetSettings {
  /** Gateways of one store that give the same name share their limits; "gateway" unless given. */
  readonly name?: string | undefined;
  /** The most gateways that run; 8 unless given. Without the store each uses a limit divided by it. */
  readonly maxMembers?: number | undefined;
}

const KEYS: ReadonlySet<string> = new Set(["name", "maxMembers"]);

interface SharedSettings {
  readonly limits?: PublishLimitSettings | undefined;
  readonly store?: PoolStore | undefined;
  readonly fleet?: FleetSettings | undefined;
}

/** The limits that are marked as shared. Throws a `ConfigError` if they cannot be, or without a store. */
export function sharedTargets({
  limits: { broker, groups = {} } = {},
  store,
  fleet = {},
}: SharedSettings): readonly SharedTarget[] {
  requireKnownKeys("fleet", fleet, KEYS);
  requireFleet(fleet);
  const targets: SharedTarget[] = [];
  if (broker?.shared === true) targets.push({ level: "broker" });
  for (const [name, { shared }] of Object.entries(groups))
    if (shared === true) targets.push({ level: "group", name });
  for (const target of targets) requireShareable(target);
  const [first] = targets;
  if (first !== undefined && store === undefined) {
    const where = first.level === "broker" ? "broker" : `groups.${first.name}`;
    throw new ConfigError(
      `limits.${where}.shared is true without a store; add store, such as redisStore({ url: "redis://127.0.0.1:6379" }), or remove shared`,
    );
  }
  return targets;
}

/** Refuses settings that no pool could be made of. */
export function requireFleet({ name = NAME, maxMembers = MAX_MEMBERS }: FleetSettings): void {
  requirePoolPart("fleet.name", name);
  requireWhole("fleet.maxMembers", maxMembers, 1, 1_000);
}

export function requireShareable(target: SharedTarget): void {
  if (target.level === "group") requirePoolPart("a shared group's name", target.name);
}

function requirePoolPart(where: string, name: string): void {
  if (POOL_PART.test(name)) return;
  throw new ConfigError(
    `${where} is "${name.slice(0, 80)}"; use 1 to 64 letters, digits, ".", "_" or "-", because it is part of keys in the store`,
  );
}
