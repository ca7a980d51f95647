/** Milliseconds that a lease lasts, from the sending of the call that took it. */
export const QUOTA_LEASE_MS = 1000;

/** A rate that every key has: `limit` tokens per `periodMs`, of which at most `burst` are saved up. */
export interface QuotaPolicy {
  /** 1 to 64 letters, digits, `.`, `_` and `-`; the balance of a key is stored under it. */
  readonly name: string;
  readonly limit: number;
  readonly periodMs: number;
  readonly burst: number;
}

/** The end of a lease: all of it counts as used, except what is unused. */
export interface SettledLease {
  readonly leased: number;
  readonly unused: number;
  /** As the reply that granted the lease has it. */
  readonly term: number;
}

/** Whole tokens throughout. */
export interface QuotaRequest {
  /** Names the limiter and the client; at most 512 characters. */
  readonly key: string;
  /** All of them are charged, or none. One to 16. */
  readonly policies: readonly QuotaPolicy[];
  /** Tokens for requests that wait for this call. As many are granted as there are. */
  readonly needed: number;
  /** The cost of the first of these requests: fewer are not granted. At most `needed`. */
  readonly least: number;
  /** Tokens to lease beyond `needed`. */
  readonly wanted: number;
  /** The part of the tokens left, 0 to 1, that the lease may take; rounded down. */
  readonly share: number;
  /** The lease that this process had on the key. */
  readonly settled: SettledLease | undefined;
}

/** What a policy has left after the call. */
export interface QuotaBalance {
  /** Whole tokens, never negative. */
  readonly remaining: number;
  /** Until `least` tokens (at least 1) are there, or one more than `remaining`. Undefined: no more will come. */
  readonly resetMs: number | undefined;
}

export interface QuotaReply {
  /** For `needed`. Less than `needed` only if a policy has no more. */
  readonly granted: number;
  readonly leased: number;
  readonly term: number;
  /** In the order of the policies of the request. */
  readonly balances: readonly QuotaBalance[];
}

/**
 * Quotas that several processes share. A call is executed at most once; if it fails, whether it was
 * executed is unknown.
 *
 * Of every policy: tokens granted and leased in any time `t` are at most `burst + limit × t ÷ periodMs`.
 * A lease counts against the burst until it is settled, or until it has surely ended: a process that
 * dies costs the tokens that it had leased and not used, once.
 */
export interface QuotaStore {
  take(request: QuotaRequest): Promise<QuotaReply>;
  close(): Promise<void>;
}
