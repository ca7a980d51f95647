import { QUOTA_LEASE_MS } from "@sluice/core";
import type { QuotaBalance, QuotaPolicy, QuotaReply, QuotaRequest } from "@sluice/core";
import type { QuotaState, QuotaVerdict } from "./verdict.ts";

/**
 * Time over which requests of a key are counted, in ms: a lease is as large as this count. Raised, keys
 * with fewer requests are leased, and idle leases hold more tokens back. Half of a lease, so that a
 * steady key uses its lease up before it ends.
 */
const WINDOW_MS = QUOTA_LEASE_MS / 2;
/** Recent requests from which a key is leased. With fewer a lease that must be returned costs more calls than it saves. */
const HOT_FROM = 4;
/**
 * Most tokens of a lease, or this part of the burst if that is more: 1 ÷ 33 calls per request. Raised, fewer
 * calls; but what is used of a lease counts as unused until the next call, so a quota that is nearly full loses
 * up to the sum of all leases (at 1200 requests/s with 1000/s and leases of 150: 5.7 % of the first 6 s).
 */
const LEASE_MAX = 32;
const LEASE_MAX_PART = 1 / 256;
/**
 * A lease that does not fill up again while it lasts is at most this part of the burst: other processes find it missing. Of
 * 10 requests an hour none is leased, of 5,000 a day 32.
 */
const LEASE_PART_SLOW = 1 / 64;
/**
 * The part of what is left that the lease of a key with fewer recent requests than `LEASE_MAX` may take, so
 * that the next processes find some. Hotter keys use a lease within half a second and may take all: with half,
 * a quota that is used up took 0.066 calls per request instead of 0.029.
 */
const LEASE_SHARE = 1 / 2;
/**
 * Requests of a process per call while the quota is used up: 1 ÷ 0.042, below the goal of 0.05 calls per
 * request. Raised, fewer calls, and tokens wait longer in the store.
 */
const REQUESTS_PER_CALL = 24;
/**
 * The part of the largest lease that a process takes while the quota is used up: 20 of 32 tokens. Raised, fewer calls; but
 * tokens wait in the leases of some processes while others refuse. With 32 tokens and 33 requests per call about 40 tokens
 * of four processes at twice 600/s were on their way at any time, more than 1 % of 5 s; with these two numbers 17 to 27.
 */
const LEASE_PART_EXHAUSTED = 20 / 32;
/** Longest time without a call while the quota is used up, and the part of the time in which it fills. */
const SILENCE_MAX_MS = 500;
const SILENCE_MAX_PART = 1 / 4;
/** An unused lease is returned this long before it ends: the call takes time, and late returns are lost. */
const RETURN_BEFORE_MS = 250;

/** Bounds that follow from the policies, the same for all keys. */
export interface LeaseBounds {
  readonly leaseMax: number;
  readonly silenceMaxMs: number;
}

/** The bounds of the strictest of all policies. */
export function leaseBounds(
  policies: readonly Pick<QuotaPolicy, "burst" | "limit" | "periodMs">[],
): LeaseBounds {
  const each = policies.map(({ burst, limit, periodMs }) => ({
    leaseMax: Math.min(
      Math.max(LEASE_MAX, burst * LEASE_MAX_PART),
      Math.max((limit * QUOTA_LEASE_MS) / periodMs, burst * LEASE_PART_SLOW),
    ),
    silenceMaxMs: Math.min(SILENCE_MAX_MS, ((burst * periodMs) / limit) * SILENCE_MAX_PART),
  }));
  return {
    leaseMax: Math.floor(Math.min(...each.map(({ leaseMax }) => leaseMax))),
    silenceMaxMs: Math.min(...each.map(({ silenceMaxMs }) => silenceMaxMs)),
  };
}

type Ask = Pick<QuotaRequest, "needed" | "least" | "wanted" | "share" | "settled">;

/**
 * What one process knows of one key that several share: its lease, and until when the store has nothing
 * more. Most requests of a hot key are answered from these two, without a call.
 */
export class KeyLease {
  readonly #silenceMaxMs: number;
  readonly #leaseMax: number;
  /** Tokens to hand out. */
  #left = 0;
  #leased = 0;
  #term = 0;
  #untilMs = Number.NEGATIVE_INFINITY;
  /** Requests, each weighing e^(−age ÷ WINDOW_MS). */
  #recent = 0;
  #recentAtMs = Number.NEGATIVE_INFINITY;
  /** Before this instant the store has less than `#deniedCost`. */
  #deniedUntilMs = Number.NEGATIVE_INFINITY;
  #deniedCost = Number.POSITIVE_INFINITY;
  #isExhausted = false;
  #balances: readonly QuotaBalance[] = [];
  #balancesAtMs = 0;

  constructor({ leaseMax, silenceMaxMs }: LeaseBounds) {
    this.#leaseMax = leaseMax;
    this.#silenceMaxMs = silenceMaxMs;
  }

  /** When an unused lease should be returned; undefined if there is none. */
  get returnAtMs(): number | undefined {
    return this.#left > 0 ? this.#untilMs - RETURN_BEFORE_MS : undefined;
  }

  /** A request has come: leases are as large as the number of recent requests. */
  count(nowMs: number): void {
    this.#recent = this.#decayed(nowMs) + 1;
    this.#recentAtMs = nowMs;
  }

  /** A verdict that needs no call; undefined if the store must be asked. */
  answer(cost: number, nowMs: number): QuotaVerdict | undefined {
    const charged = this.spend(cost, nowMs);
    if (charged !== undefined) return charged;
    if (cost < this.#deniedCost || nowMs >= this.#deniedUntilMs) return undefined;
    return this.refused(cost, nowMs);
  }

  /** Charges a request to the lease, if that is enough. */
  spend(cost: number, nowMs: number): QuotaVerdict | undefined {
    if (cost > this.#left || nowMs >= this.#untilMs) return undefined;
    this.#left -= cost;
    return { isEnough: true, states: this.#states(1, nowMs) };
  }

  /** A request that was charged is not served after all. What no lease can take back is lost. */
  giveBack(cost: number, nowMs: number): void {
    if (nowMs < this.#untilMs) this.#left = Math.min(this.#leased, this.#left + cost);
  }

  refused(cost: number, nowMs: number): QuotaVerdict {
    return { isEnough: false, states: this.#states(cost, nowMs) };
  }

  /** The call for requests that wait, the first of which costs `least`. It ends the lease. */
  ask(needed: number, least: number, nowMs: number): Ask {
    const recent = this.#decayed(nowMs);
    const settled = this.#settle(nowMs);
    return {
      needed,
      least,
      wanted: needed > 0 && recent >= HOT_FROM ? Math.ceil(Math.min(this.#mostLeased, recent)) : 0,
      share: recent >= LEASE_MAX || this.#isExhausted ? 1 : LEASE_SHARE,
      settled,
    };
  }

  /** The reply to a call that was sent at `sentAtMs`. */
  onReply(reply: QuotaReply, asked: Ask, sentAtMs: number, nowMs: number): void {
    const { granted, leased, term, balances } = reply;
    this.#leased = leased;
    this.#term = term;
    this.#untilMs = sentAtMs + QUOTA_LEASE_MS;
    // A reply that comes after the end of the lease is good for the requests that waited for it only.
    this.#left = granted + (nowMs < this.#untilMs ? leased : 0);
    if (nowMs >= this.#untilMs) this.#untilMs = nowMs + 1;
    this.#balances = balances;
    this.#balancesAtMs = nowMs;
    const isShort = granted < asked.needed;
    this.#isExhausted = isShort || balances.some(({ remaining }) => remaining < 1);
    if (!this.#isExhausted) {
      this.#deniedUntilMs = Number.NEGATIVE_INFINITY;
      return;
    }
    this.#deniedCost = isShort ? Math.max(1, asked.least) : 1;
    const resetMs = Math.max(
      0,
      ...balances.map(({ remaining, resetMs: ms = 0 }) => (remaining < this.#deniedCost ? ms : 0)),
    );
    this.#deniedUntilMs = nowMs + Math.max(resetMs, this.#silenceMs(nowMs));
  }

  get #mostLeased(): number {
    return this.#isExhausted ? this.#leaseMax * LEASE_PART_EXHAUSTED : this.#leaseMax;
  }

  #silenceMs(nowMs: number): number {
    const recent = this.#decayed(nowMs);
    if (recent < HOT_FROM) return 0;
    return Math.min(this.#silenceMaxMs, (REQUESTS_PER_CALL * WINDOW_MS) / recent);
  }

  #settle(nowMs: number): QuotaRequest["settled"] {
    if (this.#leased === 0) return undefined;
    const unused = nowMs < this.#untilMs ? Math.min(this.#left, this.#leased) : 0;
    const settled = { leased: this.#leased, unused, term: this.#term };
    this.#leased = 0;
    this.#left = 0;
    return settled;
  }

  #decayed(nowMs: number): number {
    return this.#recent * Math.exp((this.#recentAtMs - nowMs) / WINDOW_MS);
  }

  /** As the store said last, with what is left of the lease. Other processes may have used some since. */
  #states(cost: number, nowMs: number): QuotaState[] {
    const ageMs = nowMs - this.#balancesAtMs;
    const waitMs = Math.max(1, this.#deniedUntilMs - nowMs);
    return this.#balances.map(({ remaining, resetMs }) => {
      const isEnough = remaining + this.#left >= cost;
      const leftMs = resetMs === undefined ? undefined : Math.max(1, resetMs - ageMs);
      return {
        isEnough,
        remaining: remaining + this.#left,
        resetMs: isEnough ? leftMs : Math.max(leftMs ?? 1, waitMs),
      };
    });
  }
}
