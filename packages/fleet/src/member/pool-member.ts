import type { Ramp, RampOptions, Reason, Timer } from "@sluice/core";
import type { Ceiling } from "../limiter/ceiling.ts";
import type { Tally } from "../limiter/counts.ts";
import { DemandMeter } from "../limiter/demand-meter.ts";
import type { FleetEvent } from "../limiter/event.ts";
import type { ShareSource, TokenQueue } from "../limiter/share-source.ts";
import type { MembershipState } from "../limiter/state.ts";
import type { EpochClock } from "../pacing/epoch-clock.ts";
import { EPOCH_MS, epochAt } from "../pacing/pacing.ts";
import type {
  KnownLimits,
  LeaveReason,
  PoolLimits,
  PoolStore,
  SavedLevel,
  SyncReply,
  Told,
} from "../store/pool-store.ts";
import type { Entitlement, MemberRules, MembershipChange, Standing } from "./membership.ts";
import { MemberSession } from "./session.ts";
import type { Condition, Identity } from "./session.ts";
import { SyncLoop } from "./sync-loop.ts";
import type { SyncLoopHost } from "./sync-loop.ts";

export interface PoolMemberOptions {
  readonly identity: Identity;
  readonly rules: MemberRules;
  readonly resume: { readonly enabled: boolean; readonly ttlMs: number };
  readonly store: PoolStore;
  /** Whether the store was created for this member, and is closed when the member leaves. */
  readonly ownsStore: boolean;
  readonly timer: Timer;
  /** Learns from every reply where epochs begin. */
  readonly time: EpochClock;
  readonly ramp: Ramp;
  readonly ceiling: Ceiling;
  /** The limits that it is started with; those of the whole pool go before them. */
  readonly ownLimits: RampOptions;
  /** Reads limits that were set for the whole pool, "" for `own`; throws if they are wrong. */
  readonly readLimits: (text: string, own: RampOptions) => RampOptions;
}

/** What a pool member tells and asks the limiter and its observers. */
export interface PoolMemberObserver {
  readonly tally: Tally;
  onEvent(event: FleetEvent): void;
  /** The store has answered, also with a refusal; or a sync has failed. */
  onSync(outcome: SyncReply | { readonly kind: "failed"; readonly error: unknown }): void;
  onWarning(warning: string): void;
}

/** Why a member has no tokens, by its standing. */
const REASONS: Readonly<Record<Standing, Reason>> = {
  joining: "fleet-joining",
  member: "fleet-share",
  lost: "store-lost",
  refused: "fleet-refused",
};

const NO_RUN_ID =
  "the store's user may not call INFO, so a failover to older data goes unnoticed and may exceed the limit for one lease; grant it +info";

/** One process's membership of its pool: its session with the store, and what follows from the replies. */
export class PoolMember implements ShareSource, SyncLoopHost {
  readonly #session: MemberSession;
  readonly #options: PoolMemberOptions;
  readonly #loop: SyncLoop;
  readonly demand: DemandMeter;
  #queue: TokenQueue | undefined;
  #observer: PoolMemberObserver | undefined;
  #own: RampOptions;
  #limits: PoolLimits = { version: 0, text: "" };
  /** The version that the store knew last; lower than ours if the store has lost the limits. */
  #storeLimitsVersion = 0;
  #resumedFrom: SavedLevel | undefined;
  #hasWarned = false;
  /** Failed syncs since the store has answered last. */
  #failing: { readonly sinceMs: number; count: number } | undefined;
  #isReady = false;

  constructor(options: PoolMemberOptions) {
    const { identity, rules, resume, store, timer } = options;
    const nowMs = timer.now();
    this.#options = options;
    this.#own = options.ownLimits;
    this.demand = new DemandMeter(nowMs, rules.timing.leaseMs);
    // A level that no member resumes is not kept.
    const resumeTtlMs = resume.enabled ? resume.ttlMs : 0;
    this.#session = new MemberSession(identity, rules, { nowMs, resumeTtlMs });
    this.#loop = new SyncLoop(this.#session, { store, timer }, this);
  }

  get standing(): Standing {
    return this.#session.membership.standing;
  }

  /** Whether the member has had its fair share at least once. */
  get isReady(): boolean {
    return this.#isReady;
  }

  get reason(): Reason {
    return REASONS[this.standing];
  }

  entitlementAt(nowMs: number): Entitlement | undefined {
    return this.#session.membership.entitlementAt(nowMs);
  }

  isLeasedAt(nowMs: number): boolean {
    return this.#session.membership.isLeasedAt(nowMs);
  }

  subscribe(queue: TokenQueue): void {
    this.#queue = queue;
  }

  /** Syncs from now on, until `leave`. */
  start(observer: PoolMemberObserver): void {
    this.#observer = observer;
    void this.#loop.run();
  }

  async leave(reason: LeaveReason): Promise<void> {
    const { rules, store, ownsStore } = this.#options;
    await this.#loop.stop(reason, this.#level, rules.timing.syncIntervalMs);
    if (ownsStore) await store.close();
  }

  stateAt(nowMs: number): MembershipState {
    const { membership } = this.#session;
    const { standing, size, fairParts, learningMs, syncedAtMs } = membership;
    return {
      standing,
      size,
      fairParts,
      learningMs,
      leaseLeftMs: this.isLeasedAt(nowMs) ? membership.leaseUntilMs - nowMs : 0,
      syncAgeMs: syncedAtMs === undefined ? undefined : nowMs - syncedAtMs,
      resumedFrom: this.#resumedFrom,
      limitsVersion: this.#limits.version,
    };
  }

  /** Other limits of its own: they hold at once, unless there are some for the whole pool. Throws if they are wrong; then nothing has changed. */
  setOwnLimits(own: RampOptions, nowMs: number): void {
    const former = this.#own;
    this.#own = own;
    try {
      if (this.#limits.text === "") this.#apply("", nowMs);
    } catch (error) {
      this.#own = former;
      throw error;
    }
  }

  condition(): Condition {
    const nowMs = this.#options.timer.now();
    const isWaiting = this.#queue?.isWaiting() ?? false;
    const wanted = this.demand.read(nowMs, this.#options.ceiling.now, isWaiting);
    return { level: this.#level, wanted, limits: this.#knownLimits, used: this.#usedAt(nowMs) };
  }

  onReply(reply: SyncReply, sentAtMs: number, nowMs: number): void {
    const observer = this.#observer;
    if (observer === undefined) return;
    observer.tally.syncs++;
    if (reply.kind === "told") this.#learn(reply, { sentAtMs, nowMs }, observer);
    this.#onBack(observer, nowMs);
    observer.onSync(reply);
    this.#queue?.wake();
  }

  onFailure(error: unknown): void {
    const observer = this.#observer;
    if (observer === undefined) return;
    const atMs = this.#options.timer.now();
    observer.tally.syncFailures++;
    this.#failing ??= { sinceMs: atMs, count: 0 };
    this.#failing.count++;
    observer.onEvent({ type: "sync-failed", atMs, error });
    observer.onSync({ kind: "failed", error });
  }

  onChanges(changes: readonly MembershipChange[]): void {
    const atMs = this.#options.timer.now();
    this.#isReady ||= this.standing === "member";
    for (const change of changes) this.#observer?.onEvent({ ...change, atMs });
    this.#queue?.wake();
  }

  #onBack(observer: PoolMemberObserver, nowMs: number): void {
    if (this.#failing === undefined) return;
    const { sinceMs, count: failures } = this.#failing;
    this.#failing = undefined;
    observer.onEvent({ type: "sync-back", atMs: nowMs, failures, afterMs: nowMs - sinceMs });
  }

  /** Of the last epoch that is over: 0 once one has passed without a call. */
  #usedAt(nowMs: number): number | undefined {
    const { ceiling, time } = this.#options;
    const isIdle = ceiling.epoch !== undefined && time.at(nowMs) >= ceiling.endMs + EPOCH_MS;
    return isIdle ? 0 : ceiling.usage;
  }

  get #level(): number | undefined {
    return this.#options.ceiling.epoch === undefined ? undefined : this.#options.ramp.ceiling;
  }

  get #knownLimits(): KnownLimits {
    const { version, text } = this.#limits;
    return { version, text: this.#storeLimitsVersion < version ? text : undefined };
  }

  #learn(
    reply: Told,
    { sentAtMs, nowMs }: { readonly sentAtMs: number; readonly nowMs: number },
    observer: PoolMemberObserver,
  ): void {
    this.#options.time.learn(reply.storeMs, sentAtMs, nowMs);
    this.#storeLimitsVersion = reply.limitsVersion;
    if (reply.limits !== undefined) this.#setLimits(reply.limits, nowMs, observer);
    if (reply.saved !== undefined) this.#resume(reply.saved, nowMs, observer);
    if (reply.hasRunId || this.#hasWarned) return;
    this.#hasWarned = true;
    observer.onWarning(NO_RUN_ID);
  }

  #resume(saved: SavedLevel, nowMs: number, observer: PoolMemberObserver): void {
    const { ramp, resume, time } = this.#options;
    const isTaken = saved.left === "running" || (resume.enabled && saved.left !== "pause");
    if (isTaken) {
      ramp.raiseTo(saved.level, epochAt(time.at(nowMs)));
      this.#resumedFrom = saved;
    }
    observer.onEvent({ type: "resume", atMs: nowMs, saved, isTaken });
  }

  #setLimits(limits: PoolLimits, nowMs: number, observer: PoolMemberObserver): void {
    const { version, text } = limits;
    this.#limits = limits;
    try {
      this.#apply(text, nowMs);
      observer.onEvent({ type: "limits", atMs: nowMs, version, refused: undefined });
    } catch (error) {
      const refused = error instanceof Error ? error.message : String(error);
      observer.onEvent({ type: "limits", atMs: nowMs, version, refused });
    }
  }

  /** Throws if the limits are wrong; then nothing has changed. */
  #apply(text: string, nowMs: number): void {
    const { ramp, ceiling, time, readLimits } = this.#options;
    ramp.rebound(readLimits(text, this.#own), epochAt(time.at(nowMs)));
    ceiling.refresh();
  }
}
