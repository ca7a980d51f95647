import type { QuotaPolicy, QuotaReply, QuotaStore, Timer } from "@sluice/core";
import { KeyLease, leaseBounds } from "./key-lease.ts";
import type { LeaseBounds } from "./key-lease.ts";
import type { QuotaVerdict } from "./verdict.ts";

/** What the quotas report of their store. */
interface StoreListener {
  onCall(durationMs: number, reply: QuotaReply): void;
  /** The store did not answer; quotas go on by `onStoreLoss`. Once per outage. */
  onLost(error: unknown): void;
  onBack(lostMs: number): void;
}

export interface SharedQuotasOptions {
  readonly store: QuotaStore;
  /** Put before the keys, so that limiters do not share quotas by accident. */
  readonly name: string;
  readonly policies: readonly QuotaPolicy[];
  readonly timer: Timer;
  readonly maxKeys: number;
  /** Judges requests while the store is lost. */
  readonly fallback: (key: string, cost: number, nowMs: number) => QuotaVerdict;
  readonly listener: StoreListener;
}

interface Entry {
  readonly key: string;
  readonly lease: KeyLease;
  /** Requests that wait for a call. */
  waiting: Waiting[];
  isAsking: boolean;
}

interface Called {
  readonly isShort: boolean;
  readonly atMs: number;
}

interface Waiting {
  readonly cost: number;
  readonly onVerdict: (verdict: QuotaVerdict) => void;
}

/** Pause before a lost store is asked again, in ms. Raised, a store that is back is noticed later. */
const PROBE_MS = 500;

/**
 * Most tokens that requests wait for in one call; later requests wait for the next call. Stores count up to
 * 1e12, and an error of the store for one key would count as its loss for all keys.
 */
const NEEDED_MAX = 1_000_000_000;

/**
 * Quotas that several processes share through a store: at most one call per request, and most requests
 * of a hot key are answered from a lease. Requests of one key that come during a call share the next.
 */
export class SharedQuotas {
  readonly #options: SharedQuotasOptions;
  readonly #bounds: LeaseBounds;
  /** In order of their last call; at `maxKeys` the oldest goes. */
  readonly #entries = new Map<string, Entry>();
  /** Those with a lease that may have to be returned, in the order in which the leases end. */
  readonly #leases = new Set<Entry>();
  #lostAtMs: number | undefined;
  #probeAtMs = 0;
  #isReturning = false;
  readonly #ended = new AbortController();

  constructor(options: SharedQuotasOptions) {
    this.#options = options;
    this.#bounds = leaseBounds(options.policies);
  }

  /** Keys now held. */
  get size(): number {
    return this.#entries.size;
  }

  get isLost(): boolean {
    return this.#lostAtMs !== undefined;
  }

  take(key: string, cost: number, nowMs: number): QuotaVerdict | Promise<QuotaVerdict> {
    const entry = this.#entries.get(key) ?? this.#newEntry(key);
    // Requests that come during a call count as well: if they did not, a key whose requests come faster than
    // the replies of the store would never be leased.
    entry.lease.count(nowMs);
    const known = entry.isAsking ? undefined : entry.lease.answer(cost, nowMs);
    if (known !== undefined) return known;
    if (this.#lostAtMs !== undefined) {
      if (nowMs >= this.#probeAtMs) this.#probe(entry, nowMs);
      return this.#options.fallback(key, cost, nowMs);
    }
    return new Promise((resolve) => {
      entry.waiting.push({ cost, onVerdict: resolve });
      if (!entry.isAsking) void this.#askFor(entry);
    });
  }

  /** A request that was charged is not served after all. */
  giveBack(key: string, cost: number, nowMs: number): void {
    this.#entries.get(key)?.lease.giveBack(cost, nowMs);
  }

  /** Returns all leases. The store stays open. */
  async close(): Promise<void> {
    this.#ended.abort();
    const held = [...this.#entries.values()].filter(
      ({ lease, isAsking }) => lease.returnAtMs !== undefined && !isAsking,
    );
    this.#entries.clear();
    this.#leases.clear();
    await Promise.all(held.map((entry) => this.#call(entry, 0, 0).catch(() => undefined)));
  }

  #newEntry(key: string): Entry {
    const entry = {
      key,
      lease: new KeyLease(this.#bounds),
      waiting: [],
      isAsking: false,
    };
    for (const [oldest, held] of this.#entries) {
      if (this.#entries.size < this.#options.maxKeys) break;
      if (held.isAsking) continue;
      this.#entries.delete(oldest);
      this.#leases.delete(held);
      if (held.lease.returnAtMs !== undefined) this.#return(held);
    }
    if (this.#entries.size < this.#options.maxKeys) this.#entries.set(key, entry);
    return entry;
  }

  /** Asks until every request that waits for the key has its verdict. */
  async #askFor(entry: Entry): Promise<void> {
    const { lease } = entry;
    entry.isAsking = true;
    try {
      while (entry.waiting.length > 0) {
        const needed = neededBy(entry.waiting);
        const [first] = entry.waiting;
        // Judged at the time of the reply: on a busy machine a late one would have ended by a later time, and
        // the same requests would ask again, and be charged again, for as long as the machine is busy.
        const { isShort, atMs: nowMs } = await this.#call(entry, needed, first?.cost ?? 0);
        const waiting = entry.waiting;
        entry.waiting = [];
        for (const each of waiting) {
          const verdict = lease.spend(each.cost, nowMs);
          if (verdict !== undefined) each.onVerdict(verdict);
          else if (isShort) each.onVerdict(lease.refused(each.cost, nowMs));
          else entry.waiting.push(each);
        }
      }
    } catch (error) {
      this.#lose(error);
      this.#fallBack(entry);
    } finally {
      entry.isAsking = false;
      this.#keep(entry);
    }
  }

  /** One call; answers when its reply came, and whether the store had less than was needed. */
  async #call(entry: Entry, needed: number, least: number): Promise<Called> {
    const { store, name, policies, timer, listener } = this.#options;
    const sentAtMs = timer.now();
    const asked = entry.lease.ask(needed, least, sentAtMs);
    const reply = await store.take({ key: `${name}:${entry.key}`, policies, ...asked });
    const nowMs = timer.now();
    entry.lease.onReply(reply, asked, sentAtMs, nowMs);
    listener.onCall(nowMs - sentAtMs, reply);
    this.#recover(nowMs);
    return { isShort: reply.granted < needed, atMs: nowMs };
  }

  #keep(entry: Entry): void {
    if (!this.#entries.delete(entry.key)) return;
    this.#entries.set(entry.key, entry);
    this.#leases.delete(entry);
    if (entry.lease.returnAtMs === undefined) return;
    this.#leases.add(entry);
    this.#keepReturning();
  }

  /** One call in the background, whose failure changes nothing. */
  #return(entry: Entry): void {
    entry.isAsking = true;
    this.#call(entry, 0, 0)
      .catch((error: unknown) => {
        this.#lose(error);
      })
      .finally(() => {
        entry.isAsking = false;
        if (this.isLost) this.#fallBack(entry);
        else if (entry.waiting.length > 0) void this.#askFor(entry);
      });
  }

  #fallBack(entry: Entry): void {
    const nowMs = this.#options.timer.now();
    for (const { cost, onVerdict } of entry.waiting.splice(0))
      onVerdict(this.#options.fallback(entry.key, cost, nowMs));
  }

  #probe(entry: Entry, nowMs: number): void {
    this.#probeAtMs = nowMs + PROBE_MS;
    if (!entry.isAsking) this.#return(entry);
  }

  #lose(error: unknown): void {
    const nowMs = this.#options.timer.now();
    this.#probeAtMs = nowMs + PROBE_MS;
    if (this.#lostAtMs !== undefined) return;
    this.#lostAtMs = nowMs;
    this.#options.listener.onLost(error);
  }

  #recover(nowMs: number): void {
    if (this.#lostAtMs === undefined) return;
    const lostMs = nowMs - this.#lostAtMs;
    this.#lostAtMs = undefined;
    this.#options.listener.onBack(lostMs);
  }

  /** Returns unused leases before they end; sleeps only while there are leases. */
  #keepReturning(): void {
    if (this.#isReturning) return;
    this.#isReturning = true;
    this.#returnUnused()
      .catch(() => undefined)
      .finally(() => {
        this.#isReturning = false;
      });
  }

  async #returnUnused(): Promise<void> {
    const { timer } = this.#options;
    for (;;) {
      const nowMs = timer.now();
      let nextMs: number | undefined;
      for (const entry of this.#leases) {
        const { returnAtMs } = entry.lease;
        if (returnAtMs !== undefined && returnAtMs > nowMs) {
          nextMs = returnAtMs;
          break;
        }
        this.#leases.delete(entry);
        // To a lost store nothing can be returned: what is left is used, or ends with the lease.
        if (returnAtMs !== undefined && !entry.isAsking && !this.isLost) this.#return(entry);
      }
      if (nextMs === undefined) return;
      await timer.sleep(nextMs - nowMs, this.#ended.signal);
    }
  }
}

/** The tokens of the first requests that one call may ask for, at least those of the first. */
function neededBy(waiting: readonly Waiting[]): number {
  let needed = 0;
  for (const { cost } of waiting) {
    if (needed > 0 && needed + cost > NEEDED_MAX) break;
    needed += cost;
  }
  return needed;
}
