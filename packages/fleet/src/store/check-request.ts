import { ConfigError } from "@sluice/core";
import { requireWhole } from "@sluice/core/internal";
import { PARTS } from "../ledger/parts.ts";
import { checkTiming } from "../ledger/timing.ts";
import { checkAbout } from "./about.ts";
import { requireMemberId, requireNonce, requirePoolName } from "./names.ts";
import type { LeaveReason, LeaveRequest, SyncRequest } from "./pool-store.ts";

/** About 31 years. */
const TIME_MAX_MS = 1e12;
const LIMITS_TEXT_MAX = 65_536;

/** Refuses a sync that no store may see. */
export function checkSync(request: SyncRequest): void {
  const { sequence, held, wanted, safeShare, level, limits, timing, resumeTtlMs } = request;
  checkWho(request);
  requireWhole("sequence", sequence, 1);
  requireWhole("held", held, 0, PARTS);
  if (wanted !== undefined) requireWhole("wanted", wanted, 0, PARTS);
  requireWhole("safeShare", safeShare, 0, PARTS);
  if (level !== undefined) requireWhole("level", level, 0);
  requireWhole("limits.version", limits.version, 0);
  if (limits.text !== undefined) checkLimits(request.pool, limits.text);
  checkTiming(timing);
  checkAbout(request);
  requireWhole("resumeTtlMs", resumeTtlMs, 0, TIME_MAX_MS);
}

/** Refuses a leave that no store may see. */
export function checkLeave(request: LeaveRequest): void {
  checkWho(request);
  requireLeaveReason(request.reason);
  if (request.level !== undefined) requireWhole("level", request.level, 0);
  checkTiming(request.timing);
  requireWhole("resumeTtlMs", request.resumeTtlMs, 0, TIME_MAX_MS);
}

/** Refuses limits for the pool that no store may see. */
export function checkLimits(pool: string, text: string): void {
  requirePoolName(pool);
  if (text.length <= LIMITS_TEXT_MAX) return;
  throw new ConfigError(
    `the limits are ${text.length} characters; at most ${LIMITS_TEXT_MAX} are kept`,
  );
}

function checkWho({ pool, member, nonce }: SyncRequest | LeaveRequest): void {
  requirePoolName(pool);
  requireMemberId(member);
  requireNonce(nonce);
}

const LEAVE_REASONS: ReadonlySet<string> = new Set<LeaveReason>(["redeploy", "pause"]);

/** An unknown word would be stored and read by the next member. */
export function requireLeaveReason(reason: LeaveReason): void {
  if (LEAVE_REASONS.has(reason)) return;
  throw new ConfigError(`the reason to leave is ${reason}; it must be redeploy or pause`);
}
