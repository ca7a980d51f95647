import { ConfigError, Ramp } from "@sluice/core";
import type { Clock, RampOptions, Random, Timer } from "@sluice/core";
import { requireKnownKeys, requireWhole } from "@sluice/core/internal";
import type { Division } from "@sluice/core/internal";
import { systemRandom, systemTimer } from "@sluice/core/system";
import { equalShare } from "../ledger/parts.ts";
import { Ceiling } from "../limiter/ceiling.ts";
import { newTally } from "../limiter/counts.ts";
import type { FleetEvent } from "../limiter/event.ts";
import { FleetLimiter } from "../limiter/fleet-limiter.ts";
import type { ShareSource } from "../limiter/share-source.ts";
import type { Entitlement } from "../member/membership.ts";
import { PoolMember } from "../member/pool-member.ts";
import { EpochClock } from "../pacing/epoch-clock.ts";
import { EpochPacing } from "../pacing/epoch-pacing.ts";
import { epochAt } from "../pacing/pacing.ts";
import type { Pacing } from "../pacing/pacing.ts";
import { SmoothPacing } from "../pacing/smooth-pacing.ts";
import { readFleetOptions } from "../settings/fleet-options.ts";
import type { FleetOptions, FleetSettings } from "../settings/fleet-options.ts";
import { redisOptionsOf } from "../settings/redis-options-of.ts";
import type { ReadSecret } from "../settings/secret.ts";
import type { PoolStore } from "../store/pool-store.ts";
import { redisStore } from "../store/redis/store.ts";
import { enterPool } from "./enter-pool.ts";
import { nonceOf } from "./nonce.ts";
import { readPoolLimits } from "./pool-limits.ts";

/** How a process joins its pool. */
export interface JoinOptions extends FleetOptions {
  /**
   * Calls that may wait for tokens at once; `acquire` rejects further ones.
   * @default 10_000
   */
  readonly maxWaiting?: number;
  /**
   * Ends the joining: `joinFleet` rejects with the signal's reason, and leaves no timer and no
   * connection behind. Default: none.
   */
  readonly signal?: AbortSignal;
  /** Called for every decision. What it throws is ignored. Default: none. */
  readonly onEvent?: (event: FleetEvent) => void;
  /**
   * Called for settings that may not be meant, and while the store cannot be reached.
   * @default process.emitWarning
   */
  readonly onWarning?: (warning: string) => void;
  /** Reads the secrets that the block's store refers to. Default: such references are refused. */
  readonly readSecret?: ReadSecret;
  /** Time and randomness, for tests. Default: the real ones. */
  readonly runtime?: {
    readonly timer?: Timer;
    /** Dates calls, if not the timer: such as `createCachedClock()`, of the same time. */
    readonly clock?: Clock;
    readonly random?: Random;
  };
}

/** Calls. Raised, a burst waits instead of being rejected, and holds about 1 kB for each call. */
const MAX_WAITING = 10_000;

const RUNTIME_KEYS: ReadonlySet<string> = new Set(["timer", "clock", "random"]);

/**
 * Joins a pool of processes that share one rate. Resolves as soon as the store has answered; calls
 * then wait in the limiter's queue for the first share, which takes about two seconds in a running
 * pool. The process that finds the store empty starts at once on its safe share, the ceiling divided
 * by `maxMembers`. `limiter.ready()` waits for the whole share.
 *
 * While the store cannot be reached it keeps trying, and warns. It rejects only for what a person has
 * to mend: wrong options (`ConfigError`), a wrong password or a missing client library (`StoreError`
 * with `canHeal: false`), an id that another living process has (`DuplicateMemberError`).
 *
 * @example
 * const limiter = await joinFleet({
 *   pool: "shop/payments",
 *   rateLimit: { max: 100 },
 *   store: "redis://127.0.0.1:6379",
 *   maxMembers: 8,
 * });
 * await limiter.acquire(); // at most 100 a second over all processes
 * await limiter.leave();
 */
export async function joinFleet(options: JoinOptions): Promise<FleetLimiter> {
  requireOptions(options);
  const {
    maxWaiting = MAX_WAITING,
    signal,
    onEvent,
    onWarning = (warning: string) => process.emitWarning(warning, "SluiceWarning"),
    readSecret,
    runtime,
    ...fleet
  } = options;
  signal?.throwIfAborted();
  if (runtime !== undefined) requireKnownKeys("runtime", runtime, RUNTIME_KEYS);
  const timer = runtime?.timer ?? systemTimer;
  const settings = readFleetOptions(fleet, readSecret === undefined ? {} : { readSecret });
  requireWhole("maxWaiting", maxWaiting, 0);
  const tally = newTally();
  const tell = guarded(onEvent);
  const warn = guarded(onWarning);
  for (const warning of settings.warnings) warn(warning);
  const { pool, rateLimit } = settings;
  const time = new EpochClock();
  const common = { timer, clock: runtime?.clock, epochClock: time, maxWaiting, tally };
  if (rateLimit === undefined)
    return new FleetLimiter({ ...common, name: { pool }, share: alone(1, "floor") });

  const ramp = new Ramp(rateLimit.ramp, { epoch: epochAt(timer.now()) });
  const ceiling = new Ceiling(ramp, ({ step, ceiling: level, usage }) => {
    tally.steps[step]++;
    tell({ type: "step", atMs: timer.now(), step, ceiling: level, usage });
  });
  const paced = { ceiling, pacing: pacingOf(settings, ceiling, time) };
  const created = settings.store === undefined ? createStore(settings) : undefined;
  const store = settings.store ?? created;
  if (store === undefined) {
    const share = alone(settings.replicas ?? 1, settings.division);
    const setOwn = (own: RampOptions, nowMs: number): void => {
      ramp.rebound(own, epochAt(time.at(nowMs)));
      ceiling.refresh();
    };
    return new FleetLimiter({ ...common, name: { pool }, paced, share, setOwn });
  }

  const random = runtime?.random ?? systemRandom;
  const id = settings.member ?? `m-${nonceOf(random).slice(0, 12)}`;
  const member = new PoolMember({
    identity: { pool, member: id, nonce: nonceOf(random) },
    rules: settings.membership,
    resume: rateLimit.resume,
    store,
    ownsStore: created !== undefined,
    timer,
    time,
    ramp,
    ceiling,
    ownLimits: rateLimit.ramp,
    readLimits: readPoolLimits,
  });
  const limiter = new FleetLimiter({
    ...common,
    name: { pool, member: id },
    paced,
    share: member,
    setOwn: (own, nowMs) => member.setOwnLimits(own, nowMs),
  });
  await enterPool({
    pool,
    member,
    limiter,
    timing: settings.membership.timing,
    timer,
    signal,
    tell,
    warn,
    tally,
  });
  return limiter;
}

/** A caller without types may pass any value. */
function requireOptions(options: unknown): void {
  if (typeof options === "object" && options !== null) return;
  throw new ConfigError(
    `joinFleet was called with ${String(options)}; it needs options, such as { pool: "payments", rateLimit: { max: 100 }, store: "redis://127.0.0.1:6379" }`,
  );
}

function pacingOf({ pacing, division }: FleetSettings, ceiling: Ceiling, time: EpochClock): Pacing {
  return pacing === "smooth"
    ? new SmoothPacing(ceiling, time)
    : new EpochPacing(ceiling, division, time);
}

/** The store that the options describe. One in memory serves this process alone, so none is made. */
function createStore({ rateLimit, redis, membership }: FleetSettings): PoolStore | undefined {
  const { syncIntervalMs, timeoutMs: lateAfterMs } = membership.timing;
  // A reply counts until the next sync is sent.
  const timeoutMs = syncIntervalMs + lateAfterMs;
  if (redis !== undefined) return redisStore({ timeoutMs, ...redis });
  const described = rateLimit?.store;
  if (described === undefined || described.kind === "memory") return undefined;
  return redisStore({ ...redisOptionsOf(described), timeoutMs });
}

/** One of a given number of processes that no store counts, and so without a rank among them. */
function alone(replicas: number, division: Division): ShareSource {
  const entitlement: Entitlement =
    division === "floor"
      ? { kind: "seat", seat: { poolSize: replicas, rank: 0 } }
      : { kind: "parts", parts: equalShare(replicas) };
  return {
    entitlementAt: () => entitlement,
    isLeasedAt: () => true,
    reason: "fleet-share",
    leave: () => Promise.resolve(),
  };
}

/** A callback of the user whose errors change nothing: the limiter must go on. */
function guarded<T>(callback: ((value: T) => void) | undefined): (value: T) => void {
  if (callback === undefined) return () => {};
  return (value) => {
    try {
      const returned: unknown = callback(value);
      // An async function is accepted for a callback that returns nothing.
      if (returned instanceof Promise) returned.catch(() => undefined);
    } catch {
      // Waiting calls must be served all the same.
    }
  };
}
