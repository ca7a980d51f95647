/** What a member may use, in parts, and until when by its own monotonic clock. */
export interface Lease {
  readonly told: number;
  readonly untilMs: number;
  /**
   * What the member was asked to give back but still uses until it sends its next sync, on the lease
   * it had. Without it these parts would lie idle while no other member can know that they are free.
   */
  readonly more: number;
  readonly moreUntilMs: number;
}

export const NO_LEASE: Lease = {
  told: 0,
  untilMs: Number.NEGATIVE_INFINITY,
  more: 0,
  moreUntilMs: Number.NEGATIVE_INFINITY,
};

/** The parts that may be used at this instant. Asked at every grant: a lease ends by itself. */
export function usableParts(lease: Lease, nowMs: number): number {
  if (nowMs < lease.moreUntilMs) return lease.more;
  return nowMs < lease.untilMs ? lease.told : 0;
}

/** A sync is sent: it reports what is left after everything that was asked back is released. */
export function release(lease: Lease): Lease {
  return { ...lease, more: 0, moreUntilMs: Number.NEGATIVE_INFINITY };
}

/** The store has answered a sync that was sent at `sentAtMs`. The lease counts from the send. */
export function retell(
  lease: Lease,
  reply: { readonly told: number; readonly isRenewed: boolean },
  at: { readonly sentAtMs: number; readonly nowMs: number; readonly leaseMs: number },
): Lease {
  const before = at.nowMs < lease.untilMs ? lease.told : 0;
  const isAskedBack = reply.told < before;
  return {
    told: reply.told,
    untilMs: reply.isRenewed ? at.sentAtMs + at.leaseMs : lease.untilMs,
    more: isAskedBack ? before : 0,
    moreUntilMs: isAskedBack ? lease.untilMs : Number.NEGATIVE_INFINITY,
  };
}
