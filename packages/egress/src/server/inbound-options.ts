import { ConfigError } from "@sluice/core";
import type { Clock, QuotaStore, Timer } from "@sluice/core";
import { requireKnownKeys, requireWhole } from "@sluice/core/internal";
import { systemTimer } from "@sluice/core/system";
import { readObservers } from "../observers.ts";
import { readRate } from "../rate-setting.ts";
import type { Rate, RateSetting } from "../rate-setting.ts";
import type { InboundConcurrencyOptions, InboundLimit } from "./concurrency/inbound-concurrency.ts";
import type { InboundObserver } from "./observe/event.ts";

/** How requests are judged while the store is lost. */
export type OnStoreLoss = "share" | "closed" | "open";

export interface InboundLimiterOptions {
  /** Names the limiter in events, metrics and the store. @default "inbound" */
  readonly name?: string;
  /** What each key may send; the policy is named `default`. */
  readonly rate?: RateSetting;
  /** Instead of one rate several that hold at once, by name: such as a burst and a day's quota. Default: none. */
  readonly policies?: Readonly<Record<string, RateSetting>>;
  /** Most keys held for each policy. Beyond it newcomers share one quota. @default 100_000 */
  readonly maxKeys?: number;
  /** Requests in flight at once, of all keys together, shared fairly among keys. Default: not limited. */
  readonly concurrency?: InboundLimit | InboundConcurrencyOptions;
  /** Shares the quotas among processes with the same `name`. The caller closes it. Default: none. */
  readonly store?: QuotaStore;
  /**
   * While the store is lost: `share` limits this process to quota ÷ `processes`, `closed` refuses with 503,
   * `open` admits all.
   * @default "share"
   */
  readonly onStoreLoss?: OnStoreLoss;
  /** Most processes that share the store; for `onStoreLoss: "share"`. @default 16 */
  readonly processes?: number;
  /** One function or several, which get every event. Default: none. */
  readonly observers?: InboundObserver | readonly InboundObserver[];
  /**
   * For tests. Requests wait only on a clock that can sleep, such as `VirtualTimer`.
   * Default: the real time.
   */
  readonly clock?: Clock | Timer;
}

export const INBOUND_KEYS: ReadonlySet<string> = new Set([
  "name",
  "rate",
  "policies",
  "maxKeys",
  "concurrency",
  "store",
  "onStoreLoss",
  "processes",
  "observers",
  "clock",
] satisfies (keyof InboundLimiterOptions)[]);

/** Options once they are checked. */
export interface InboundSettings {
  readonly name: string;
  readonly rates: readonly (readonly [name: string, rate: Rate])[];
  readonly maxKeys: number;
  readonly concurrency: InboundLimit | InboundConcurrencyOptions | undefined;
  readonly store: QuotaStore | undefined;
  readonly onStoreLoss: OnStoreLoss;
  readonly processes: number;
  readonly observers: readonly InboundObserver[];
  readonly clock: Clock;
  /** Undefined if the clock cannot sleep. */
  readonly timer: Timer | undefined;
}

const WORD = /^[\w.-]{1,64}$/;
const LOSS: ReadonlySet<string> = new Set<OnStoreLoss>(["share", "closed", "open"]);
const PROCESSES_MAX = 10_000;
/** As `QuotaRequest` has it. */
const SHARED_POLICIES_MAX = 16;

export function readInboundOptions(options: InboundLimiterOptions): InboundSettings {
  // Programs without types call this with nothing, or with what is not options.
  const found: unknown = options;
  if (typeof found !== "object" || found === null)
    throw new ConfigError(
      'an inbound limiter has no options; use for instance { rate: "100/min" }',
    );
  requireKnownKeys("an inbound limiter", options, INBOUND_KEYS);
  const {
    name = "inbound",
    maxKeys = 100_000,
    concurrency,
    store,
    onStoreLoss = "share",
  } = options;
  const { processes = 16, clock = systemTimer } = options;
  const rates = ratesOf(options);
  if (rates.length === 0 && concurrency === undefined)
    throw new ConfigError(
      'an inbound limiter limits nothing; give it a rate ("100/min"), policies or a concurrency (50)',
    );
  if (!WORD.test(name))
    throw new ConfigError(`name is "${name}"; use up to 64 letters, digits, "_.-"`);
  requireWhole("maxKeys", maxKeys, 1);
  requireWhole("processes", processes, 1, PROCESSES_MAX);
  if (!LOSS.has(onStoreLoss))
    throw new ConfigError(`onStoreLoss is "${onStoreLoss}"; use "share", "closed" or "open"`);
  const timer = canSleep(clock) ? clock : undefined;
  checkStore(store, rates.length, timer);
  return {
    name,
    rates,
    maxKeys,
    concurrency,
    store,
    onStoreLoss,
    processes,
    observers: readObservers(options.observers),
    clock,
    timer,
  };
}

function canSleep(clock: Clock | Timer): clock is Timer {
  return "sleep" in clock;
}

function checkStore(store: QuotaStore | undefined, rates: number, timer: Timer | undefined): void {
  if (store === undefined) return;
  // Programs without types pass null, or the store of a fleet.
  const found: unknown = store;
  const isStore = typeof found === "object" && found !== null && "take" in found;
  if (!isStore || typeof found.take !== "function")
    throw new ConfigError(
      "store is no quota store; use redisQuotaStore({ url }) of @sluice/fleet, not redisStore",
    );
  if (rates === 0)
    throw new ConfigError("a store shares quotas, and there are none; give a rate or policies");
  if (rates > SHARED_POLICIES_MAX)
    throw new ConfigError(
      `a store takes ${SHARED_POLICIES_MAX} policies, and there are ${rates}; use several limiters`,
    );
  if (timer === undefined)
    throw new ConfigError(
      "a limiter with a store returns leases in time, and its clock cannot sleep; use a VirtualTimer",
    );
}

function ratesOf({ rate, policies }: InboundLimiterOptions): [string, Rate][] {
  if (rate !== undefined && policies !== undefined)
    throw new ConfigError("an inbound limiter takes a rate or policies, not both");
  if (rate !== undefined) return [["default", rateOf("rate", rate)]];
  if (Array.isArray(policies))
    throw new ConfigError('policies is a list; give each a name, such as { burst: "10/s" }');
  return Object.entries(policies ?? {}).map(([name, setting]) => {
    if (!WORD.test(name))
      throw new ConfigError(`"${name}" names no policy; use up to 64 letters, digits, "_.-"`);
    return [name, rateOf(name, setting)];
  });
}

/** Says what to do about things that are taken for rates. */
function rateOf(name: string, setting: RateSetting): Rate {
  const found: unknown = setting;
  if (typeof found === "string") return readRate(name, setting);
  if (typeof found !== "object" || found === null)
    throw new ConfigError(
      `${name} is ${String(found)}; write it as "100/s", "1000/min" or "5/10s"`,
    );
  if ("admit" in found)
    throw new ConfigError(`${name} is an inbound limiter; give it as limiter: { limiter }`);
  if ("tryAcquire" in found)
    throw new ConfigError(
      `${name} is a limiter with tryAcquire, which has one balance for all keys; write the rate of each key as "100/s", and share it with store: redisQuotaStore({ url })`,
    );
  return readRate(name, setting);
}
