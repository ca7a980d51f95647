import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { joinFleet, MemoryStore } from "../src/index.ts";
import type { FleetEvent, FleetLimiter, JoinOptions, PoolStore } from "../src/index.ts";

/** By this time after a change, ms, every member has its share: a stale age and four syncs are enough. */
export const SETTLED_MS = 10_000;

/** Options of which some may be taken away. */
type Options = { readonly [Name in keyof JoinOptions]?: JoinOptions[Name] | undefined };

/** A pool in virtual time. */
export function newWorld(defaults: Options = {}) {
  const timer = new VirtualTimer();
  const store = new MemoryStore(timer);
  let seed = 0;

  /** Joins as time passes; the test advances the time before it awaits the promise. */
  function join(member: string, options: Options = {}) {
    const events: FleetEvent[] = [];
    const warnings: string[] = [];
    const given = {
      member,
      store,
      rateLimit: { max: 1000, min: 1000 },
      runtime: { timer, random: new SeededRandom(++seed) },
      onEvent: (event: FleetEvent) => void events.push(event),
      onWarning: (warning: string) => void warnings.push(warning),
      ...defaults,
      ...options,
    };
    const kept: Partial<JoinOptions> = Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== undefined),
    );
    const joined = joinFleet({ pool: "shop/orders", ...kept });
    joined.catch(() => {});
    return { joined, events, warnings };
  }

  /** Members `m-0` and on, after all have their shares. */
  async function joinAll(count: number, options: Options = {}) {
    const joins = Array.from({ length: count }, (_, i) => join(`m-${i}`, options).joined);
    await timer.advance(SETTLED_MS);
    return Promise.all(joins);
  }

  return { timer, store, join, joinAll };
}

/** Takes all there is, every `everyMs`, and answers what each got. */
export async function takeAll(
  timer: VirtualTimer,
  limiters: readonly FleetLimiter[],
  { ms, everyMs = 5, ask = 100_000 }: { ms: number; everyMs?: number; ask?: number },
): Promise<number[]> {
  const got = limiters.map(() => 0);
  for (let leftMs = ms; leftMs > 0; leftMs -= everyMs) {
    await timer.advance(everyMs);
    for (const [i, limiter] of limiters.entries())
      got[i] = (got[i] ?? 0) + (limiter.tryAcquireUpTo(ask)?.count ?? 0);
  }
  return got;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** A store between a pool and its members that can be made to fail. */
export class FaultyStore implements PoolStore {
  readonly #store: PoolStore;
  fault: "none" | "down" | "hanging" | "senseless" = "none";

  constructor(store: PoolStore) {
    this.#store = store;
  }

  async sync(request: Parameters<PoolStore["sync"]>[0]): ReturnType<PoolStore["sync"]> {
    const reply = await this.#pass(() => this.#store.sync(request));
    if (this.fault !== "senseless" || reply.kind !== "told") return reply;
    return { ...reply, told: -1 };
  }

  leave(request: Parameters<PoolStore["leave"]>[0]): Promise<void> {
    return this.#pass(() => this.#store.leave(request));
  }

  setLimits(pool: string, text: string): Promise<number> {
    return this.#pass(() => this.#store.setLimits(pool, text));
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  #pass<T>(call: () => Promise<T>): Promise<T> {
    if (this.fault === "down") return Promise.reject(new Error("no connection"));
    if (this.fault === "hanging") return new Promise(() => {});
    return call();
  }
}
