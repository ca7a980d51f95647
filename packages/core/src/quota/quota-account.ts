import { QUOTA_LEASE_MS } from "./quota-store.ts";
import type {
  QuotaBalance,
  QuotaPolicy,
  QuotaReply,
  QuotaRequest,
  SettledLease,
} from "./quota-store.ts";

/** What a store keeps of a key. `quota.lua` keeps the same and counts alike, to the last digit. */
export interface QuotaAccount {
  /** The store's time of the last call. */
  atMs: number;
  /** Number of the lease term that `leased` belongs to; a term is `QUOTA_LEASE_MS` long. */
  term: number;
  /** Tokens of leases that were taken in this term and in the one before, and are not settled. */
  leased: number;
  leasedBefore: number;
  /** Balances by name of policy; negative after a request that cost more than the burst. */
  readonly tokens: Map<string, number>;
}

/** Balances are doubles: a token that has come but for rounding counts as come. */
const ROUNDING = 1e-6;

/**
 * Longest time in a reply or in the store, in ms: 31,000 years. Beyond it a debt at a rate of one a year would not
 * fit the integers of Redis, and its error would look like a lost store.
 */
const FAR_MS = 1_000_000_000_000_000;

/** Executes a request on an account at the store's time. */
export function takeQuota(
  account: QuotaAccount,
  { policies, needed, least, wanted, share, settled }: QuotaRequest,
  nowMs: number,
): QuotaReply {
  const before = policies.map((policy) => accrued(account, policy, nowMs));
  account.atMs = nowMs;
  beginTerm(account, Math.floor(nowMs / QUOTA_LEASE_MS));
  const returned = settled === undefined ? 0 : settle(account, settled);
  const out = account.leased + account.leasedBefore;
  const tokens = before.map((balance) => balance + returned);
  // A full balance is enough for any cost, so that nothing is refused for ever for being large.
  const isEnough = policies.every(({ burst }, i) => {
    const most = burst - out;
    return most > 0 && (tokens[i] ?? 0) + ROUNDING >= Math.min(least, most);
  });
  const there = Math.max(0, Math.floor(Math.min(...tokens) + ROUNDING));
  const granted = needed > 0 && isEnough ? Math.max(Math.min(needed, there), least) : 0;
  const leased = Math.min(wanted, Math.floor(Math.max(0, there - granted) * share));
  account.leased += leased;
  const goal = granted < needed ? least : 1;
  return {
    granted,
    leased,
    term: account.term,
    balances: policies.map((policy, i) => {
      const left = (tokens[i] ?? 0) - granted - leased;
      account.tokens.set(policy.name, left);
      return balanceOf(policy, left, goal);
    }),
  };
}

/** Milliseconds after which an account without calls is as good as new. */
export function quotaIdleMs(
  { leased, leasedBefore, tokens }: QuotaAccount,
  policies: readonly QuotaPolicy[],
): number {
  let idleMs = leased + leasedBefore > 0 ? 2 * QUOTA_LEASE_MS : 0;
  for (const { name, limit, periodMs, burst } of policies)
    idleMs = Math.max(idleMs, ((burst - (tokens.get(name) ?? burst)) * periodMs) / limit);
  return Math.min(FAR_MS, Math.ceil(idleMs) + 1);
}

/**
 * The balance now, without what comes back. While leases are out the balance fills up to the burst less
 * these, so that `balance + leases ≤ burst` at every instant. A term that ends makes room, for what
 * comes after its end.
 */
function accrued(account: QuotaAccount, policy: QuotaPolicy, nowMs: number): number {
  const { term, leased, leasedBefore } = account;
  const { name, limit, periodMs, burst } = policy;
  const firstEndMs = (term + 1) * QUOTA_LEASE_MS;
  let tokens = account.tokens.get(name) ?? burst;
  let atMs = account.atMs;
  const fill = (untilMs: number, out: number): void => {
    if (untilMs <= atMs) return;
    tokens = Math.min(burst - out, tokens + ((untilMs - atMs) * limit) / periodMs);
    atMs = untilMs;
  };
  fill(Math.min(nowMs, firstEndMs), leased + leasedBefore);
  fill(Math.min(nowMs, firstEndMs + QUOTA_LEASE_MS), leased);
  fill(nowMs, 0);
  return tokens;
}

/**
 * Leases of the last term but one have ended by their holders' clocks, whatever became of them. After the
 * store's clock was set back, all leases count as taken now: else they would count until it has caught up.
 */
function beginTerm(account: QuotaAccount, term: number): void {
  if (term === account.term) return;
  if (term < account.term) {
    account.leased += account.leasedBefore;
    account.leasedBefore = 0;
    account.term = term;
    return;
  }
  account.leasedBefore = term === account.term + 1 ? account.leased : 0;
  account.leased = 0;
  account.term = term;
}

/** Answers the tokens that come back. Of a lease whose term has ended nothing comes back. */
function settle(account: QuotaAccount, { leased, unused, term }: SettledLease): number {
  if (term === account.term && leased <= account.leased) account.leased -= leased;
  else if (term === account.term - 1 && leased <= account.leasedBefore)
    account.leasedBefore -= leased;
  else return 0;
  return unused;
}

function balanceOf(
  { limit, periodMs, burst }: QuotaPolicy,
  tokens: number,
  goal: number,
): QuotaBalance {
  const remaining = Math.max(0, Math.floor(tokens + ROUNDING));
  const target = Math.min(burst, Math.max(goal, remaining + 1));
  if (tokens >= target) return { remaining, resetMs: undefined };
  const resetMs = Math.ceil(((target - tokens) * periodMs) / limit - ROUNDING);
  return { remaining, resetMs: Math.min(FAR_MS, Math.max(1, resetMs)) };
}
