import { ConfigError } from "@sluice/core";
import type { Timer } from "@sluice/core";
import type { Timing } from "../ledger/timing.ts";
import { POOL_MEMBERS_MAX } from "../ledger/parts.ts";
import type { Tally } from "../limiter/counts.ts";
import type { FleetEvent } from "../limiter/event.ts";
import type { FleetLimiter } from "../limiter/fleet-limiter.ts";
import type { PoolMember, PoolMemberObserver } from "../member/pool-member.ts";
import { StoreError } from "../store/store-error.ts";
import { DuplicateMemberError } from "./duplicate-member-error.ts";

/**
 * Between two warnings while the store does not answer. Raised, an operator learns later why a process
 * does not start; lowered, its log grows faster. 5 s is one lease: a shorter outage costs no share.
 */
const WARN_EVERY_MS = 5000;

export interface Entering {
  readonly pool: string;
  readonly member: PoolMember;
  readonly limiter: FleetLimiter;
  readonly timing: Timing;
  readonly timer: Timer;
  readonly signal: AbortSignal | undefined;
  readonly tell: (event: FleetEvent) => void;
  readonly warn: (warning: string) => void;
  readonly tally: Tally;
}

type Outcome = Parameters<PoolMemberObserver["onSync"]>[0];

/** Starts the membership, and waits until the store has accepted it or cannot be expected to. */
export async function enterPool(entering: Entering): Promise<void> {
  const { member, limiter, timer, signal, tell, warn, tally, pool } = entering;
  const over = new AbortController();
  let failure: Error | undefined;
  let lastError: unknown;
  let refusedAtMs: number | undefined;
  const onSync = (outcome: Outcome): void => {
    if (over.signal.aborted) return;
    if (outcome.kind === "failed") lastError = outcome.error;
    if (outcome.kind === "refused") refusedAtMs ??= timer.now();
    failure = failureOf(outcome, entering, timer.now() - (refusedAtMs ?? timer.now()));
    if (failure !== undefined || outcome.kind === "told") over.abort();
  };
  member.start({
    tally,
    onEvent: tell,
    onWarning: warn,
    onSync,
  });
  const either = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
  for (;;) {
    await timer.sleep(WARN_EVERY_MS, either).catch(() => {});
    if (either.aborted) break;
    if (refusedAtMs === undefined)
      warn(`the store of pool ${pool} has not answered yet${whyOf(lastError)}; still trying`);
  }
  if (failure === undefined && over.signal.aborted) return;
  // Reports why joining failed; an error of the final `leave` is dropped.
  await limiter.leave().catch(() => {});
  if (failure !== undefined) throw failure;
  signal?.throwIfAborted();
}

/** What cannot heal by itself. */
function failureOf(
  outcome: Outcome,
  { pool, timing }: Entering,
  refusedForMs: number,
): Error | undefined {
  if (outcome.kind === "failed") {
    const { error } = outcome;
    // Some options are checked only when they are used, such as a client library.
    if (error instanceof ConfigError) return error;
    return error instanceof StoreError && !error.canHeal ? error : undefined;
  }
  if (outcome.kind !== "refused") return undefined;
  switch (outcome.why) {
    case "pool-full":
      return new StoreError(
        `pool ${pool} has ${POOL_MEMBERS_MAX} members, the most that one pool can have; divide the rate among several pools`,
      );
    case "other-timing":
      return new ConfigError(
        `timing differs from that of the running members of pool ${pool}; use the same, or another pool name until they have left`,
      );
    case "id-taken":
      // A process that died without leaving has its id until its entry is stale.
      if (refusedForMs <= timing.staleMs + 2 * timing.syncIntervalMs) return undefined;
      return new DuplicateMemberError(
        `another living process in pool ${pool} has this member's id; give every process an id of its own, or none`,
      );
  }
}

function whyOf(error: unknown): string {
  return error instanceof Error ? ` (${error.message})` : "";
}
