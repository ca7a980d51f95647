import type { Clock } from "@sluice/core";
import type { FleetState } from "@sluice/fleet";
import type { LiveMember, LivePoolDetail, LivePoolPast } from "../live-message.ts";
import { PAST_MS, withPresent } from "../pool-past.ts";
import { poolDetail } from "./pool-detail.ts";
import type { OwnPool } from "./pool-detail.ts";
import { RosterWatch } from "./pool-roster.ts";
import type { SharedStore } from "./pool-roster.ts";

/** A member that did not leave is gone when it was missing this long, ms: a store that lost its data has all back sooner. */
const GONE_AFTER_MS = 10_000;
/** The greatest age of a roster that a newly opened page is sent, ms. An older one is left out, because the next is being read. */
const FRESH_MS = 3_000;
/** Members that are gone, of one pool. A pool that is redeployed often has had many. */
const GONE_MAX = 24;

/** What a process sees of one of its pools over time: its roster, its past, and members that are gone. */
export class WatchedPool {
  readonly #watch: RosterWatch | undefined;
  readonly #clock: Clock;
  readonly #seen = new Map<string, { readonly member: LiveMember; readonly atMs: number }>();
  #past: readonly LivePoolPast[] = [];
  #lookedAtMs: number;
  #readAtMs = -Infinity;
  #standing = "";

  constructor(name: string, shared: SharedStore | undefined, clock: Clock) {
    this.#watch = shared && new RosterWatch(shared, name, clock);
    this.#clock = clock;
    this.#lookedAtMs = clock.now();
  }

  /** Whether nothing is left of its past. A pipeline that restarts is in no pool meanwhile, and then has its past again. */
  get isOver(): boolean {
    return this.#clock.now() - this.#lookedAtMs > PAST_MS;
  }

  /** What its members held in the last 15 minutes, oldest first. */
  get past(): readonly LivePoolPast[] {
    return this.#past;
  }

  /** Whether a page may be told: the roster is of just now, or the store does not answer. */
  get isFresh(): boolean {
    if (this.#watch === undefined || !this.#watch.isAnswering) return true;
    const { known } = this.#watch;
    return known !== undefined && this.#clock.now() - known.atMs <= FRESH_MS;
  }

  /** Asks the store if it is time. Answers whether there is something that `read` has not seen. */
  look(fleet: FleetState | undefined, isLooked: boolean): boolean {
    this.#lookedAtMs = this.#clock.now();
    if (this.#watch === undefined) return false;
    const { size = 1, standing = "" } = fleet?.membership ?? {};
    this.#watch.look({ isLooked, size });
    const { known, isAnswering } = this.#watch;
    return (
      (known?.atMs ?? -Infinity) > this.#readAtMs || this.#standing !== `${standing} ${isAnswering}`
    );
  }

  /** The pool as a page shows it now; keeps it as a part of the past. */
  read(own: OwnPool, wallMs: number): LivePoolDetail {
    const watch = this.#watch;
    const nowMs = this.#clock.now();
    const detail = poolDetail(own, watch, { nowMs, wallMs });
    if (watch === undefined) return detail;
    const { known, isAnswering } = watch;
    this.#readAtMs = known?.atMs ?? -Infinity;
    this.#standing = `${own.fleet?.membership?.standing ?? ""} ${isAnswering}`;
    if (known?.roster !== undefined)
      for (const member of detail.members)
        this.#seen.set(`${member.id} ${member.incarnation}`, { member, atMs: known.atMs });
    const whole = { ...detail, members: [...detail.members, ...this.#gone(detail, nowMs)] };
    // Before the first answer only this member is known, which would look like a join of all others.
    if (known !== undefined || !detail.store.isAnswering)
      this.#past = withPresent(this.#past, whole);
    return whole;
  }

  #gone({ members }: LivePoolDetail, nowMs: number): readonly LiveMember[] {
    const here = new Set(members.map(({ id }) => id));
    const answeredAtMs = this.#watch?.known?.atMs ?? -Infinity;
    const gone: LiveMember[] = [];
    for (const [key, { member, atMs }] of this.#seen) {
      const goneForMs = nowMs - atMs + member.syncAgeMs;
      if (goneForMs > PAST_MS) this.#seen.delete(key);
      const { id, isThis, where, incarnation, state } = member;
      const hasLeft = state === "left";
      const isMissed = hasLeft || state === "lease-ended" || answeredAtMs - atMs > GONE_AFTER_MS;
      if (here.has(id) || !isMissed || goneForMs > PAST_MS) continue;
      gone.push({
        id,
        isThis,
        ...(where !== undefined && { where }),
        incarnation,
        share: 0,
        syncAgeMs: Math.round(goneForMs),
        goneForMs: Math.round(goneForMs),
        state: hasLeft ? "left" : "lease-ended",
      });
    }
    return gone.toSorted((a, b) => a.syncAgeMs - b.syncAgeMs).slice(0, GONE_MAX);
  }
}
