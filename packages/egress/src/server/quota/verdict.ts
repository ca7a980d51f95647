/** What a key has left of a policy. */
export interface QuotaState {
  /** Whether it is enough for what was asked. */
  readonly isEnough: boolean;
  /** Whole requests, never negative. */
  readonly remaining: number;
  /** Until it is enough; if it is, until there is more. Undefined when there is no more to come. */
  readonly resetMs: number | undefined;
}

/** What the quotas of a key say of a request. */
export interface QuotaVerdict {
  /** Whether the request has been charged to all policies; else it cost nothing. */
  readonly isEnough: boolean;
  /** Of each policy, in their order. */
  readonly states: readonly QuotaState[];
}
