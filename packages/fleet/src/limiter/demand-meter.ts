import { PARTS } from "../ledger/parts.ts";
import type { DemandSink } from "./share-source.ts";

/**
 * Wanted ÷ measured demand while no call is short of tokens. Raised, it lets a member take a larger
 * rise without waiting, and leaves that much of the ceiling idle. 1.25 leaves a fifth of each share idle.
 */
const HEADROOM = 1.25;

/**
 * The same while calls are short of tokens: callers that wait ask for less than they would take. 4
 * brings a member from a quarter of its demand to all of it in one sync; a smaller number takes more syncs.
 */
const HEADROOM_SHORT = 4;

/**
 * Parts that a member wants at least while its calls are short. An idle member has too few tokens for
 * its first busy interval to show its demand. Raised, a member that is short for a moment borrows more
 * of the ceiling for that moment. A tenth is the equal share in a pool of ten.
 */
const SHORT_MIN = PARTS / 10;

/**
 * Parts that a member without calls keeps, so that its first call does not wait for a sync. Raised,
 * idle members hold more of the ceiling: a hundred of them hold 100 × IDLE, which is a tenth.
 */
const IDLE = PARTS / 1000;

/**
 * A member wants at least this part of what it wanted at the sync before. Raised, a member keeps its share
 * longer through a lull, and others wait longer for it. With 0.5 and two syncs a second, a batch
 * job that pauses for half a second keeps half of its share; a member that stops is idle within 5 s.
 */
const DECAY = 0.5;

/** How long a new member's demand is unknown, ms: one lease by default. */
const UNKNOWN_MS = 5000;

/** What was seen between two syncs. */
export interface Demand {
  /** Tokens that calls asked for, in a second. */
  readonly perSecond: number;
  /** Tokens in a second of the whole pool; 0 before the first call. */
  readonly ceiling: number;
  /** Whether tokens were missing: not at all, in this interval only, or in the one before too. */
  readonly short: "no" | "once" | "again";
}

/**
 * Parts of the ceiling that a member wants: `headroom × perSecond ÷ ceiling`, within bounds.
 * All, if calls are short of tokens and nothing tells by how much.
 */
export function wantedParts({ perSecond, ceiling, short }: Demand): number {
  if (short === "again" || (short === "once" && (perSecond === 0 || ceiling === 0))) return PARTS;
  if (ceiling === 0) return IDLE;
  const [headroom, least] = short === "once" ? [HEADROOM_SHORT, SHORT_MIN] : [HEADROOM, IDLE];
  const parts = Math.ceil((headroom * perSecond * PARTS) / ceiling);
  return Math.min(PARTS, Math.max(least, parts));
}

/** Measures one member's demand between syncs. The tokens of each call are told once. */
export class DemandMeter implements DemandSink {
  readonly #knownAtMs: number;
  #sinceMs: number;
  #tokens = 0;
  #isShort = false;
  #wasShort = false;
  #wanted = 0;

  /** The demand of a new member is not known for its first `unknownMs`, unless its calls are short of tokens. */
  constructor(nowMs: number, unknownMs: number = UNKNOWN_MS) {
    this.#sinceMs = nowMs;
    this.#knownAtMs = nowMs + unknownMs;
  }

  onRequested(count: number): void {
    this.#tokens += count;
  }

  onShort(): void {
    this.#isShort = true;
  }

  onDeposited(count: number): void {
    this.#tokens = Math.max(0, this.#tokens - count);
    this.#isShort = false;
  }

  /**
   * The parts to want at this sync, undefined while that is not known; starts a new interval.
   * `isWaiting`: calls wait for tokens now.
   */
  read(nowMs: number, ceiling: number, isWaiting: boolean): number | undefined {
    const elapsedMs = nowMs - this.#sinceMs;
    const perSecond = elapsedMs > 0 ? (this.#tokens * 1000) / elapsedMs : 0;
    const isShort = this.#isShort || isWaiting;
    const again = this.#wasShort ? "again" : "once";
    const measured = wantedParts({ perSecond, ceiling, short: isShort ? again : "no" });
    this.#wanted = Math.max(measured, Math.ceil(DECAY * this.#wanted));
    this.#wasShort = isShort;
    this.#isShort = false;
    this.#tokens = 0;
    this.#sinceMs = nowMs;
    if (nowMs >= this.#knownAtMs) return this.#wanted;
    return isShort ? PARTS : undefined;
  }
}
