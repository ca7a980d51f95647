import { InvariantError } from "@sluice/core";
import type { Clock, Permit } from "@sluice/core";
import { createInboundConcurrency } from "./concurrency/inbound-concurrency.ts";
import type { InboundConcurrency } from "./concurrency/inbound-concurrency.ts";
import { shown } from "../check-options.ts";
import { readInboundOptions } from "./inbound-options.ts";
import type { InboundLimiterOptions, InboundSettings } from "./inbound-options.ts";
import { tellObservers } from "../observers.ts";
import type { InboundObserver } from "./observe/event.ts";
import { LocalQuotas } from "./quota/local-quotas.ts";
import { QuotaFields } from "./quota/quota-fields.ts";
import { createSharedQuotas } from "./quota/create-shared-quotas.ts";
import type { SharedQuotas } from "./quota/shared-quotas.ts";
import type { QuotaState, QuotaVerdict } from "./quota/verdict.ts";
import { refusal } from "./refusal.ts";
import type { AnswerHeaders, InboundReason, Refused } from "./refusal.ts";

/** A request that may be served. */
export interface Admitted {
  readonly admitted: true;
  /** The quota fields, for the answer. */
  readonly headers: AnswerHeaders;
  /** Given if concurrency is limited; the caller ends it when the answer is out or given up. */
  readonly permit: Permit | undefined;
}

export type InboundDecision = Admitted | Refused;

/** Says when the client of a request has gone, as a response of node:http does. */
export interface LeavingClient {
  once(event: "close", listener: () => void): unknown;
}

/** Limits requests that come in. */
export interface InboundLimiter {
  /**
   * Admits a request of `key`, or tells what to answer instead: at once if that is known, else after a
   * wait for a permit or for the store. A request is charged to all policies and gets a permit, or is
   * refused and costs nothing. The answer names the key's own excess before the server's lack of capacity. Keys of more than
   * 256 characters are told apart by their two ends. A `cost` above 1e9 counts as 1e9.
   *
   * A request whose `client` leaves while the request waits for a permit is refused, and others move up.
   */
  admit(
    key: string,
    cost?: number,
    client?: LeavingClient,
  ): InboundDecision | Promise<InboundDecision>;
  /** Keys now held, of the policy that holds most. */
  readonly keys: number;
  readonly inFlight: number;
  /** Requests that wait for a permit. */
  readonly waiting: number;
  /** What `inFlight` may reach now; undefined if it is not limited. */
  readonly concurrencyLimit: number | undefined;
  /** Returns what is leased of shared quotas. The store stays open. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A limiter whose quotas are in this process, so that it can always decide at once. */
export interface LocalInboundLimiter extends InboundLimiter {
  /** As `admit`, but a request that would have to wait for a permit is refused. */
  check(key: string, cost?: number, nowMs?: number): InboundDecision;
}

/**
 * A limiter for inbound requests, of any framework or none.
 *
 * @example
 * const limiter = createInboundLimiter({ rate: "100/min", concurrency: 50 });
 * const decision = await limiter.admit(userId);
 * if (!decision.admitted) return answer(decision.status, decision.headers, decision.body);
 */
export function createInboundLimiter(
  options: InboundLimiterOptions & { readonly store?: undefined },
): LocalInboundLimiter;
export function createInboundLimiter(options: InboundLimiterOptions): InboundLimiter;
export function createInboundLimiter(options: InboundLimiterOptions): InboundLimiter {
  return new QuotaLimiter(readInboundOptions(options));
}

/** A request on its way to a decision. */
interface Asked {
  readonly key: string;
  readonly cost: number;
  readonly sinceMs: number;
  readonly client: LeavingClient | undefined;
}

class QuotaLimiter implements LocalInboundLimiter {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #policies: readonly string[];
  readonly #fields: QuotaFields;
  readonly #local: LocalQuotas;
  readonly #shared: SharedQuotas | undefined;
  readonly #concurrency: InboundConcurrency | undefined;
  readonly #observers: readonly InboundObserver[];

  constructor(settings: InboundSettings) {
    const { name, clock, timer, rates, maxKeys, concurrency, observers } = settings;
    this.#name = name;
    this.#clock = clock;
    this.#observers = observers;
    this.#policies = rates.map(([policy]) => policy);
    this.#fields = new QuotaFields(rates);
    this.#shared = createSharedQuotas(settings);
    this.#local = new LocalQuotas(
      clock,
      this.#shared === undefined ? rates.map(([, rate]) => rate) : [],
      maxKeys,
    );
    this.#concurrency =
      concurrency === undefined ? undefined : createInboundConcurrency(clock, timer, concurrency);
  }

  get keys(): number {
    return this.#shared?.size ?? this.#local.size;
  }

  get inFlight(): number {
    return this.#concurrency?.limiter.inFlight ?? 0;
  }

  get waiting(): number {
    return this.#concurrency?.permits.waiting ?? 0;
  }

  get concurrencyLimit(): number | undefined {
    return this.#concurrency?.limiter.limit;
  }

  check(key: string, cost: number = 1, nowMs: number = this.#clock.now()): InboundDecision {
    if (this.#shared !== undefined)
      throw new InvariantError("check() cannot wait for the store of this limiter; use admit()");
    const asked = {
      key: bounded(key),
      cost: requireCost(cost),
      sinceMs: nowMs,
      client: undefined,
    };
    return this.#checkLocal(asked) ?? this.#noPermit(asked, undefined, nowMs);
  }

  admit(
    key: string,
    cost: number = 1,
    client?: LeavingClient,
  ): InboundDecision | Promise<InboundDecision> {
    const nowMs = this.#clock.now();
    const asked = { key: bounded(key), cost: requireCost(cost), sinceMs: nowMs, client };
    if (this.#shared === undefined) return this.#checkLocal(asked) ?? this.#wait(asked, undefined);
    const verdict = this.#shared.take(asked.key, asked.cost, nowMs);
    return verdict instanceof Promise
      ? verdict.then((later) => this.#onVerdict(asked, later, this.#clock.now()))
      : this.#onVerdict(asked, verdict, nowMs);
  }

  async close(): Promise<void> {
    await this.#shared?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Undefined if only a permit is missing. */
  #checkLocal(asked: Asked): InboundDecision | undefined {
    const { key, cost, sinceMs } = asked;
    if (this.#concurrency === undefined) {
      const verdict = this.#local.take(key, cost, sinceMs);
      return verdict.isEnough
        ? this.#admitted(asked, verdict, undefined, sinceMs)
        : this.#overQuota(asked, verdict.states, sinceMs);
    }
    const found = this.#local.look(key, cost, sinceMs);
    if (!found.isEnough) return this.#overQuota(asked, found.states, sinceMs);
    const permit = this.#concurrency.permits.tryAcquire(key, sinceMs);
    return permit === undefined ? undefined : this.#charge(asked, permit, sinceMs);
  }

  /** Charges a request that has its permit. The quota may have been used up while the request waited. */
  #charge(asked: Asked, permit: Permit, nowMs: number): InboundDecision {
    const verdict = this.#local.take(asked.key, asked.cost, nowMs);
    if (verdict.isEnough) return this.#admitted(asked, verdict, permit, nowMs);
    permit.end("ignored", nowMs);
    return this.#overQuota(asked, verdict.states, nowMs);
  }

  #onVerdict(
    asked: Asked,
    verdict: QuotaVerdict,
    nowMs: number,
  ): InboundDecision | Promise<InboundDecision> {
    if (!verdict.isEnough) {
      const isClosed = verdict.states.length === 0;
      return isClosed
        ? this.#refused(asked, { reason: "store-lost", retryAfterMs: 1000, states: [] }, nowMs)
        : this.#overQuota(asked, verdict.states, nowMs);
    }
    if (this.#concurrency === undefined) return this.#admitted(asked, verdict, undefined, nowMs);
    const permit = this.#concurrency.permits.tryAcquire(asked.key, nowMs);
    return permit === undefined
      ? this.#wait(asked, verdict)
      : this.#admitted(asked, verdict, permit, nowMs);
  }

  /** Waits for a permit; `charged` is the verdict of a shared quota that was charged already. */
  #wait(
    asked: Asked,
    charged: QuotaVerdict | undefined,
  ): InboundDecision | Promise<InboundDecision> {
    const permits = this.#concurrency?.permits;
    const nowMs = this.#clock.now();
    if (permits?.canWait !== true) return this.#noPermit(asked, charged, nowMs);
    return new Promise((resolve) => {
      const leave = permits.wait(asked.key, nowMs, (permit, waitedMs) => {
        const thenMs = nowMs + waitedMs;
        if (permit === undefined) resolve(this.#noPermit(asked, charged, thenMs));
        else if (charged === undefined) resolve(this.#charge(asked, permit, thenMs));
        else resolve(this.#admitted(asked, charged, permit, thenMs));
      });
      asked.client?.once("close", () => leave(this.#clock.now()));
    });
  }

  #admitted(
    { key, cost, sinceMs }: Asked,
    { states }: QuotaVerdict,
    permit: Permit | undefined,
    nowMs: number,
  ): Admitted {
    if (this.#observers.length > 0)
      tellObservers(this.#observers, {
        type: "admitted",
        limiter: this.#name,
        atMs: nowMs,
        key,
        cost,
        waitedMs: nowMs - sinceMs,
        inFlight: this.inFlight,
        limit: this.concurrencyLimit,
      });
    return { admitted: true, headers: this.#fields.of(states), permit };
  }

  #overQuota(asked: Asked, states: readonly QuotaState[], nowMs: number): Refused {
    const waitsMs = states.map(({ isEnough, resetMs = 0 }) => (isEnough ? 0 : resetMs));
    const retryAfterMs = Math.max(...waitsMs);
    return this.#refused(asked, { reason: "over-quota", retryAfterMs, states }, nowMs);
  }

  #noPermit(asked: Asked, charged: QuotaVerdict | undefined, nowMs: number): Refused {
    const { limiter, retryAfterMs = 0 } = this.#concurrency ?? {};
    if (charged !== undefined) this.#shared?.giveBack(asked.key, asked.cost, nowMs);
    const { states } = charged ?? this.#local.look(asked.key, asked.cost, nowMs);
    const waitMs = Math.max(retryAfterMs, limiter?.pauseMs(1, nowMs) ?? 0);
    return this.#refused(asked, { reason: "concurrency", retryAfterMs: waitMs, states }, nowMs);
  }

  #refused({ key, sinceMs }: Asked, facts: RefusalOf, nowMs: number): Refused {
    const { reason, retryAfterMs, states } = facts;
    const violated =
      reason === "over-quota" ? this.#policies.filter((_, i) => states[i]?.isEnough === false) : [];
    if (this.#observers.length > 0)
      tellObservers(this.#observers, {
        type: "refused",
        limiter: this.#name,
        atMs: nowMs,
        key,
        reason,
        violated,
        retryAfterMs,
        waitedMs: nowMs - sinceMs,
      });
    const quotaHeaders = states.length === 0 ? {} : this.#fields.of(states);
    return refusal({ reason, retryAfterMs, quotaHeaders, violated });
  }
}

interface RefusalOf {
  readonly reason: InboundReason;
  readonly retryAfterMs: number;
  /** Empty if the quotas are not known. */
  readonly states: readonly QuotaState[];
}

/**
 * The largest cost of one request; more counts as this. A cost may come from the client, as the length of a
 * body does: a request that a store cannot count must not look like a lost store, which is lost for all keys.
 */
const COST_MAX = 1_000_000_000;

function requireCost(cost: number): number {
  if (Number.isSafeInteger(cost) && cost >= 0) return Math.min(cost, COST_MAX);
  throw new InvariantError(`cost is ${shown(cost)}; use a whole number of requests, 0 or more`);
}

const KEY_LENGTH_MAX = 256;

function bounded(key: string): string {
  if (typeof key !== "string")
    throw new InvariantError(
      `key is ${shown(key)}; use a text that tells clients apart, such as an address or a user`,
    );
  if (key.length <= KEY_LENGTH_MAX) return key;
  return key.slice(0, KEY_LENGTH_MAX / 2) + key.slice(-KEY_LENGTH_MAX / 2);
}
