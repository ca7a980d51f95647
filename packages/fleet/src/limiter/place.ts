import type { Ramp, RampOptions, Reason, Timer } from "@sluice/core";
import { Driver } from "../membership/driver.ts";
import type { DriverHost } from "../membership/driver.ts";
import type { Entitlement, MembershipChange, MembershipRules } from "../membership/membership.ts";
import { MemberSession } from "../membership/session.ts";
import type { Condition, Identity } from "../membership/session.ts";
import type {
  LeaveReason,
  PoolLimits,
  PoolStore,
  SavedLevel,
  SyncReply,
} from "../store/pool-store.ts";
import type { Ceiling } from "./ceiling.ts";
import type { Tally } from "./counts.ts";
import { DemandMeter } from "./demand-meter.ts";
import type { FleetEvent } from "./event.ts";
import { epochAt } from "../pacing/pacing.ts";
import type { EpochClock } from "../pacing/epoch-clock.ts";
import type { ShareSource, TokenQueue } from "./share-source.ts";
import type { MembershipState } from "./state.ts";

export interface PlaceOptions {
  readonly identity: Identity;
  readonly rules: MembershipRules;
  readonly resume: { readonly enabled: boolean; readonly ttlMs: number };
  readonly store: PoolStore;
  /** Whether the store was opened for this member, and is closed behind it. */
  readonly isStoreOwn: boolean;
  readonly timer: Timer;
  /** Learns from every reply where epochs begin. */
  readonly time: EpochClock;
  readonly ramp: Ramp;
  readonly ceiling: Ceiling;
  /** Reads limits that were set for the whole pool; throws if they cannot be right. */
  readonly readLimits: (text: string) => RampOptions;
}

/** Told when what may be used, or the limits, have changed. */
export interface PlaceObserver {
  onEvent(event: FleetEvent): void;
  onChange(): void;
  readonly tally: Tally;
}

/** One member's place in its pool: its session with the store, and what follows from the replies. */
export class Place implements ShareSource, DriverHost {
  readonly session: MemberSession;
  readonly #options: PlaceOptions;
  readonly #driver: Driver;
  readonly demand: DemandMeter;
  #queue: TokenQueue | undefined;
  #observer: PlaceObserver | undefined;
  #limitsVersion = 0;
  #live: number | undefined;
  #resumedFrom: SavedLevel | undefined;
  #lastError: unknown;

  constructor(options: PlaceOptions) {
    const { identity, rules, resume, store, timer } = options;
    const nowMs = timer.now();
    this.#options = options;
    this.demand = new DemandMeter(nowMs, rules.timing.leaseMs);
    // A level that nobody takes up again is not kept.
    const resumeTtlMs = resume.enabled ? resume.ttlMs : 0;
    this.session = new MemberSession(identity, rules, { nowMs, resumeTtlMs });
    this.#driver = new Driver(this.session, { store, timer }, this);
  }

  /** The last thing that went wrong with the store. */
  get lastError(): unknown {
    return this.#lastError;
  }

  get reason(): Reason {
    return this.session.membership.standing === "lost" ? "store-lost" : "fleet-share";
  }

  entitlementAt(nowMs: number): Entitlement | undefined {
    return this.session.membership.entitlementAt(nowMs);
  }

  isLeasedAt(nowMs: number): boolean {
    return this.session.membership.isLeasedAt(nowMs);
  }

  subscribe(queue: TokenQueue): void {
    this.#queue = queue;
  }

  /** Syncs from now on, until `leave`. */
  start(observer: PlaceObserver): void {
    this.#observer = observer;
    void this.#driver.run();
  }

  async leave(reason: LeaveReason): Promise<void> {
    const { rules, store, isStoreOwn } = this.#options;
    await this.#driver.stop(reason, this.#level, rules.timing.timeoutMs);
    if (isStoreOwn) await store.close();
  }

  stateAt(nowMs: number): MembershipState {
    const { membership, syncedAtMs } = this.session;
    return {
      standing: membership.standing,
      size: membership.size,
      reported: membership.report(0).size,
      live: this.#live,
      leaseLeftMs: this.isLeasedAt(nowMs) ? membership.leaseUntilMs - nowMs : 0,
      syncAgeMs: syncedAtMs === undefined ? undefined : nowMs - syncedAtMs,
      resumedFrom: this.#resumedFrom,
      limitsVersion: this.#limitsVersion,
    };
  }

  condition(): Condition {
    const nowMs = this.#options.timer.now();
    const isWaiting = this.#queue?.isWaiting() ?? false;
    const wanted = this.demand.read(nowMs, this.#options.ceiling.now, isWaiting);
    return { level: this.#level, wanted, limitsVersion: this.#limitsVersion };
  }

  onReply(reply: SyncReply, nowMs: number): void {
    const observer = this.#observer;
    if (observer === undefined) return;
    observer.tally.syncs++;
    if (reply.kind === "refused") return;
    if (reply.verdict === "agree") observer.tally.agreements++;
    else observer.tally.disagreements++;
    this.#live = reply.live;
    const { time } = this.#options;
    time.learn(reply.storeMs, this.session.syncedAtMs ?? nowMs, nowMs);
    if (reply.limits !== undefined) this.#setLimits(reply.limits, nowMs, observer);
    if (reply.saved !== undefined) this.#resume(reply.saved, nowMs, observer);
    // Parts may have come without anything else having changed.
    this.#onChange();
  }

  onFailure(error: unknown): void {
    this.#lastError = error;
    const observer = this.#observer;
    if (observer === undefined) return;
    observer.tally.syncFailures++;
    observer.onEvent({ type: "sync-failed", atMs: this.#options.timer.now(), error });
  }

  onChanges(changes: readonly MembershipChange[]): void {
    const atMs = this.#options.timer.now();
    for (const change of changes) this.#observer?.onEvent({ ...change, atMs });
    this.#onChange();
  }

  #onChange(): void {
    this.#observer?.onChange();
    this.#queue?.wake();
  }

  get #level(): number | undefined {
    return this.#options.ceiling.epoch === undefined ? undefined : this.#options.ramp.ceiling;
  }

  #resume(saved: SavedLevel, nowMs: number, observer: PlaceObserver): void {
    const { ramp, resume, time } = this.#options;
    const isTaken = saved.left === "running" || (resume.enabled && saved.left !== "pause");
    if (isTaken) {
      ramp.raiseTo(saved.level, epochAt(time.at(nowMs)));
      this.#resumedFrom = saved;
    }
    observer.onEvent({ type: "resume", atMs: nowMs, saved, isTaken });
  }

  #setLimits({ version, text }: PoolLimits, nowMs: number, observer: PlaceObserver): void {
    this.#limitsVersion = version;
    try {
      const limits = this.#options.readLimits(text);
      this.#options.ramp.rebound(limits, epochAt(this.#options.time.at(nowMs)));
      this.#options.ceiling.refresh();
      observer.onEvent({ type: "limits", atMs: nowMs, version, refused: undefined });
    } catch (error) {
      const refused = error instanceof Error ? error.message : String(error);
      observer.onEvent({ type: "limits", atMs: nowMs, version, refused });
    }
  }
}
