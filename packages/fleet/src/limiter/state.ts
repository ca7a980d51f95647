import type { Clock, RampOptions } from "@sluice/core";
import type { Standing } from "../member/membership.ts";
import type { EpochClock } from "../pacing/epoch-clock.ts";
import type { Pacing } from "../pacing/pacing.ts";
import type { SavedLevel } from "../store/pool-store.ts";
import type { Ceiling } from "./ceiling.ts";
import type { ShareSource } from "./share-source.ts";

/** What a member knows of its pool. */
export interface MembershipState {
  readonly standing: Standing;
  /** Members of the pool at the last reply; 0 before the first. */
  readonly size: number;
  /** The share that it would have if every hand-over were complete, in parts of 10^9. */
  readonly fairParts: number;
  /** How long no share of the pool grows, because the store has lost memory; as of the last reply. */
  readonly learningMs: number;
  /** How long it still holds its share; 0 if it holds none. */
  readonly leaseLeftMs: number;
  /** Since the last sync was sent that was answered: the age of all that it knows. */
  readonly syncAgeMs: number | undefined;
  /** The level of others that it took up at its start. */
  readonly resumedFrom: SavedLevel | undefined;
  /** The version of the limits that were set for the whole pool; 0 for those it was started with. */
  readonly limitsVersion: number;
}

/** The figures of this instant. Reading it counts as no call and moves no ramp. */
export interface FleetState {
  readonly pool: string;
  /** Undefined where there is no store. */
  readonly member: string | undefined;
  /** Undefined where there is no store, and after `leave`. */
  readonly membership: MembershipState | undefined;
  /** Tokens a second of the whole pool, as its last call found it. 0 before the first; undefined: no limit. */
  readonly ceiling: number | undefined;
  /** What its ramp moves between: the limits that it was started with, or those that were set for the whole pool. Undefined: no limit. */
  readonly bounds: Omit<RampOptions, "mode"> | undefined;
  /** Tokens a second that this member may use of the ceiling, not rounded. */
  readonly share: number | undefined;
  /** Tokens that are there now. */
  readonly left: number | undefined;
  /** Used ÷ usable tokens, 0 to 1, of the last epoch with a call that is over. */
  readonly usage: number | undefined;
  /** Calls in the limiter's own queue. */
  readonly waiting: number;
  /** Tokens that those calls ask for. */
  readonly waitingTokens: number;
}

interface Parts {
  readonly name: { readonly pool: string; readonly member?: string };
  readonly timer: Clock;
  readonly epochClock: EpochClock;
  readonly paced?: { readonly ceiling: Ceiling; readonly pacing: Pacing };
  readonly share: ShareSource;
}

/** Reads the state of a limiter from its parts. Without a limit no clock is read. */
export function stateOf(
  { name, timer, epochClock, paced, share }: Parts,
  queue: { readonly size: number; readonly tokens: number },
  isClosed: boolean,
): FleetState {
  const common = {
    pool: name.pool,
    member: name.member,
    waiting: queue.size,
    waitingTokens: queue.tokens,
  };
  if (paced === undefined)
    return {
      ...common,
      membership: undefined,
      ceiling: undefined,
      bounds: undefined,
      share: undefined,
      left: undefined,
      usage: undefined,
    };
  const nowMs = timer.now();
  const entitlement = isClosed ? undefined : share.entitlementAt(nowMs);
  return {
    ...common,
    ...paced.pacing.glance(epochClock.at(nowMs), entitlement),
    membership: isClosed ? undefined : share.stateAt?.(nowMs),
    ceiling: paced.ceiling.shown,
    bounds: paced.ceiling.bounds,
    usage: paced.ceiling.usage,
  };
}
