import { aboutText } from "../../about.ts";
import type { LeaveRequest, SyncRequest } from "../../pool-store.ts";

type Argument = string | number | undefined;

/** The keys of a pool, in the order in which `ledger.lua` has them. */
export function ledgerKeys(pool: string): string[] {
  return ["members", "due", "ranks", "level", "limits"].map((what) => keyOf(pool, what));
}

export function limitsKey(pool: string): string {
  return keyOf(pool, "limits");
}

/** One hash tag for all keys of a pool, so that they are in one slot of a cluster. */
function keyOf(pool: string, what: string): string {
  return `sluice:{${pool}}:${what}`;
}

/** As `sync.lua` has them. */
export function syncArguments(request: SyncRequest): Argument[] {
  const { limits } = request;
  return [
    request.member,
    request.nonce,
    request.sequence,
    flag(request.isFirst),
    request.held,
    flag(request.isHeldUnleased),
    request.wanted,
    request.safeShare,
    flag(request.startsOnSafeShare),
    flag(request.needsRank),
    request.level,
    limits.version,
    flag(limits.text !== undefined),
    limits.text,
    timingText(request.timing),
    request.resumeTtlMs,
    aboutText(request),
  ];
}

/** As `leave.lua` has them. */
export function leaveArguments(request: LeaveRequest): Argument[] {
  return [
    request.member,
    request.nonce,
    request.level,
    request.reason,
    timingText(request.timing),
    request.resumeTtlMs,
  ];
}

/** As the header of a pool has it, so that the scripts compare texts. */
function timingText({
  syncIntervalMs,
  leaseMs,
  staleMs,
  timeoutMs,
}: SyncRequest["timing"]): string {
  return [syncIntervalMs, leaseMs, staleMs, timeoutMs].join(" ");
}

function flag(is: boolean): number {
  return is ? 1 : 0;
}
