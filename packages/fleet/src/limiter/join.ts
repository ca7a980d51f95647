import { ConfigError, Ramp } from "@sluice/core";
import type { Clock, RampOptions, Random, Timer } from "@sluice/core";
import { requireKnownKeys, requireWhole } from "@sluice/core/internal";
import type { Division } from "@sluice/core/internal";
import { systemRandom, systemTimer } from "@sluice/core/system";
import type { Entitlement } from "../membership/membership.ts";
import { readFleetOptions } from "../settings/fleet-options.ts";
import type { FleetOptions, FleetSettings } from "../settings/fleet-options.ts";
import { readRateLimit } from "../settings/rate-limit.ts";
import type { RateLimitBlock } from "../settings/rate-limit.ts";
import { redisOptionsOf } from "../settings/redis-options-of.ts";
import type { ReadSecret } from "../settings/secret.ts";
import { PARTS } from "../store/pool-store.ts";
import type { PoolStore } from "../store/pool-store.ts";
import { redisStore } from "../store/redis-store.ts";
import { StoreError } from "../store/store-error.ts";
import { Ceiling } from "./ceiling.ts";
import { newTally } from "./counts.ts";
import { DuplicateMemberError } from "./duplicate-member-error.ts";
import { EpochPacing } from "./epoch-pacing.ts";
import type { FleetEvent } from "./event.ts";
import { FleetLimiter } from "./fleet-limiter.ts";
import type { Entitling } from "./fleet-limiter.ts";
import { epochAt } from "./pacing.ts";
import type { Pacing } from "./pacing.ts";
import { Place } from "./place.ts";
import { PoolTime } from "./pool-time.ts";
import { SmoothPacing } from "./smooth-pacing.ts";

/** What a process says to join its pool. */
export interface JoinOptions extends FleetOptions {
  /** Calls that may wait for tokens at once; further ones get none. 10,000 if not given. */
  readonly maxWaiting?: number;
  /** Ends the joining: it rejects with the signal's reason, and nothing is left behind. */
  readonly signal?: AbortSignal;
  /** Told of every decision. What it throws is lost. */
  readonly onEvent?: (event: FleetEvent) => void;
  /** Told of settings that may not be meant. */
  readonly onWarning?: (warning: string) => void;
  readonly readSecret?: ReadSecret;
  /** Time and randomness; the real ones if not given. */
  readonly runtime?: {
    readonly timer?: Timer;
    /** Dates calls, if not the timer: such as `createCachedClock()`, of the same time. */
    readonly clock?: Clock;
    readonly random?: Random;
  };
}

const MAX_WAITING = 10_000;

const RUNTIME_KEYS: ReadonlySet<string> = new Set(["timer", "clock", "random"]);

/**
 * Joins the pool and answers once this process has its share of the ceiling, which takes about a
 * lease, or at once with `joinOn: "safe-share"`. It then syncs with the store until `leave`.
 *
 * Rejects with a `StoreError` if nothing was agreed on in the time that the slowest case takes, with
 * a `DuplicateMemberError` if another process that lives has this id, with the reason of the signal.
 */
export async function joinFleet(options: JoinOptions): Promise<FleetLimiter> {
  const {
    maxWaiting = MAX_WAITING,
    signal,
    onEvent,
    onWarning,
    readSecret,
    runtime,
    ...fleet
  } = options;
  signal?.throwIfAborted();
  if (runtime !== undefined) requireKnownKeys("runtime", runtime, RUNTIME_KEYS);
  const timer = runtime?.timer ?? systemTimer;
  const settings = readFleetOptions(fleet, readSecret === undefined ? {} : { readSecret });
  for (const warning of settings.warnings) onWarning?.(warning);
  requireWhole("maxWaiting", maxWaiting, 0);
  const tally = newTally();
  const emit = tellingOf(onEvent);
  const { pool, rateLimit } = settings;
  const time = new PoolTime();
  const common = { timer, clock: runtime?.clock, time, maxWaiting, tally };
  if (rateLimit === undefined)
    return new FleetLimiter({ ...common, name: { pool }, entitling: alone(1, "floor") });

  const ramp = new Ramp(rateLimit.ramp, { epoch: epochAt(timer.now()) });
  const ceiling = new Ceiling(ramp, ({ step, ceiling: level, usage }) => {
    tally.steps[step]++;
    emit({ type: "step", atMs: timer.now(), step, ceiling: level, usage });
  });
  const paced = { ceiling, pacing: pacingOf(settings, ceiling, time) };
  const store = settings.store ?? openStore(settings);
  if (store === undefined) {
    const entitling = alone(settings.replicas ?? 1, settings.division);
    return new FleetLimiter({ ...common, name: { pool }, paced, entitling });
  }

  const random = runtime?.random ?? systemRandom;
  const member = settings.member ?? `m-${nonceOf(random).slice(0, 12)}`;
  const place = new Place({
    identity: { pool, member, nonce: nonceOf(random) },
    rules: settings.membership,
    resume: rateLimit.resume,
    store,
    isStoreOwn: settings.store === undefined,
    timer,
    time,
    ramp,
    ceiling,
    readLimits,
  });
  const limiter = new FleetLimiter({ ...common, name: { pool, member }, paced, entitling: place });
  await takePlace({ place, limiter, settings, timer, signal, emit, tally });
  return limiter;
}

/** What a member is started with, and does not change while it runs. */
const OF_THE_START = ["store", "resumedRampUp", "resumeTtl", "ttl"] as const;

/**
 * Sets other limits for a whole pool while it runs. Every member takes them up at its next sync, and
 * so does every newcomer, whatever it was started with: also that of the next deploy, until they are
 * set again or the pool was gone for a while (`resumeTtl`, or twice the stale age; a day if nobody
 * ever synced). Answers their version.
 */
export async function setPoolLimits(
  store: PoolStore,
  pool: string,
  rateLimit: RateLimitBlock,
): Promise<number> {
  readRateLimit(rateLimit);
  const other = OF_THE_START.find((key) => rateLimit[key] !== undefined);
  if (other !== undefined)
    throw new ConfigError(`rateLimit.${other} is there; a pool that runs keeps what it has`);
  return store.setLimits(pool, JSON.stringify(rateLimit));
}

function readLimits(text: string): RampOptions {
  return readRateLimit(JSON.parse(text)).ramp;
}

function pacingOf({ pacing, division }: FleetSettings, ceiling: Ceiling, time: PoolTime): Pacing {
  return pacing === "smooth"
    ? new SmoothPacing(ceiling, time)
    : new EpochPacing(ceiling, division, time);
}

/** The store that a block describes. One in memory is of this process alone: it needs none. */
function openStore({ rateLimit, membership }: FleetSettings): PoolStore | undefined {
  const described = rateLimit?.store;
  if (described === undefined || described.kind === "memory") return undefined;
  return redisStore({ ...redisOptionsOf(described), timeoutMs: membership.timing.timeoutMs });
}

/** One of so many processes that nobody counts, and so without a rank among them. */
function alone(replicas: number, division: Division): Entitling {
  const entitlement: Entitlement =
    division === "floor"
      ? { kind: "seat", seat: { poolSize: replicas, rank: 0 } }
      : { kind: "parts", parts: Math.floor(PARTS / replicas) };
  return {
    entitlementAt: () => entitlement,
    isLeasedAt: () => true,
    reason: "fleet-share",
    leave: () => Promise.resolve(),
  };
}

/** What an observer throws is lost, since the limiter must go on. */
function tellingOf(onEvent: JoinOptions["onEvent"]): (event: FleetEvent) => void {
  if (onEvent === undefined) return () => {};
  return (event) => {
    try {
      const told: unknown = onEvent(event);
      // An observer may be an async function, whatever its type says.
      if (told instanceof Promise) told.catch(() => undefined);
    } catch {
      // Those who wait for tokens are not to suffer for it.
    }
  };
}

function nonceOf(random: Random): string {
  const digits = Array.from({ length: 4 }, () => Math.floor(random.next() * 2 ** 32));
  return digits.map((word) => word.toString(16).padStart(8, "0")).join("");
}

interface Joining {
  readonly place: Place;
  readonly limiter: FleetLimiter;
  readonly settings: FleetSettings;
  readonly timer: Timer;
  readonly signal: AbortSignal | undefined;
  readonly emit: (event: FleetEvent) => void;
  readonly tally: ReturnType<typeof newTally>;
}

/** Starts the membership, and waits until there is something to use. */
async function takePlace(joining: Joining): Promise<void> {
  const { place, limiter, settings, timer, signal, emit, tally } = joining;
  const { timing } = settings.membership;
  const settled = new AbortController();
  const isSettled = (): boolean => place.entitlementAt(timer.now()) !== undefined;
  place.start({
    tally,
    isWaiting: () => limiter.waiting > 0,
    onEvent: emit,
    onChange: () => {
      if (isSettled()) settled.abort();
      limiter.onChange();
    },
  });
  if (isSettled()) return;
  // A member that died just before is counted until it is stale, and then a lease passes.
  const patienceMs = timing.staleMs + timing.leaseMs + 4 * timing.syncIntervalMs;
  const either = signal === undefined ? settled.signal : AbortSignal.any([settled.signal, signal]);
  await timer.sleep(patienceMs, either).catch(() => {});
  if (isSettled()) return;
  // Why it failed matters more than that the store cannot be told.
  await limiter.leave().catch(() => {});
  signal?.throwIfAborted();
  if (place.session.membership.standing === "refused")
    throw new DuplicateMemberError(`another process in ${settings.pool} has this member's id`);
  const { lastError } = place;
  const why = lastError instanceof StoreError ? `: ${lastError.message}` : "";
  throw new StoreError(`no share was agreed on in ${settings.pool} within ${patienceMs} ms${why}`, {
    cause: lastError,
  });
}
