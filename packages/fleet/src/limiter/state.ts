import type { Standing } from "../member/membership.ts";
import type { SavedLevel } from "../store/pool-store.ts";

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

/** What a limiter is at now. Looking counts as no call, and moves nothing. */
export interface FleetState {
  readonly pool: string;
  /** Undefined where no store knows the member. */
  readonly member: string | undefined;
  readonly membership: MembershipState | undefined;
  /** Tokens a second of the whole pool, as its last call found it. 0 before the first; undefined: no limit. */
  readonly ceiling: number | undefined;
  /** Tokens a second that this member may use of it, not rounded. */
  readonly share: number | undefined;
  /** Tokens that are there now. */
  readonly left: number | undefined;
  /** The used part, from 0 to 1, of the last epoch with a call that is over. */
  readonly utilisation: number | undefined;
  /** Calls that wait. */
  readonly waiting: number;
}
