import { requireWhole } from "../errors.ts";
import { systemClock } from "../system.ts";
import type { Clock } from "../time.ts";
import { checkQuotaRequest } from "./check-quota-request.ts";
import { quotaIdleMs, takeQuota } from "./quota-account.ts";
import type { QuotaAccount } from "./quota-account.ts";
import type { QuotaReply, QuotaRequest, QuotaStore } from "./quota-store.ts";

interface Kept {
  readonly account: QuotaAccount;
  untilMs: number;
}

/** Kept keys examined per new key. More than 1, so that the removal of idle keys catches up. */
const SWEEP_PER_NEW_KEY = 2;

/**
 * Quotas in the memory of one process: for tests, and as the reference for what other stores answer.
 * A key is forgotten once all its balances are full. At `maxKeys` the key that was used least recently
 * is forgotten, and its quota begins anew.
 */
export class MemoryQuotaStore implements QuotaStore {
  readonly #clock: Clock;
  readonly #maxKeys: number;
  /** In order of their last call. */
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Clock = systemClock, maxKeys: number = 1_000_000) {
    requireWhole("maxKeys", maxKeys, 1);
    this.#clock = clock;
    this.#maxKeys = maxKeys;
  }

  /** Number of keys held. */
  get size(): number {
    return this.#kept.size;
  }

  take(request: QuotaRequest): Promise<QuotaReply> {
    return new Promise((resolve) => {
      resolve(this.takeNow(request));
    });
  }

  /** As `take`, at once: for simulations, in which nothing waits. */
  takeNow(request: QuotaRequest): QuotaReply {
    checkQuotaRequest(request);
    const { key, policies } = request;
    const nowMs = this.#clock.now();
    const kept = this.#find(key, nowMs);
    const reply = takeQuota(kept.account, request, nowMs);
    kept.untilMs = nowMs + quotaIdleMs(kept.account, policies);
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return reply;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #find(key: string, nowMs: number): Kept {
    const known = this.#kept.get(key);
    if (known !== undefined && nowMs < known.untilMs) return known;
    let looks = SWEEP_PER_NEW_KEY;
    for (const [other, { untilMs }] of this.#kept) {
      if (nowMs < untilMs && this.#kept.size < this.#maxKeys) break;
      this.#kept.delete(other);
      if (--looks === 0) break;
    }
    return {
      account: { atMs: nowMs, term: 0, leased: 0, leasedBefore: 0, tokens: new Map() },
      untilMs: 0,
    };
  }
}
