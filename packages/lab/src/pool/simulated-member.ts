import { Ramp } from "@sluice/core";
import type { RampOptions, Random } from "@sluice/core";
import { SECOND_MS } from "@sluice/core/internal";
import type { Division } from "@sluice/core/internal";
import {
  Ceiling,
  DemandMeter,
  EpochPacing,
  exactShare,
  MemberSession,
  EpochClock,
  SmoothPacing,
} from "@sluice/fleet/sim";
import type {
  Entitlement,
  MembershipChange,
  MemberRules,
  Pacing,
  SyncReply,
  SyncRequest,
} from "@sluice/fleet/sim";
import type { EventLoop, Scheduled } from "../simulation/engine/event-loop.ts";
import { newLink } from "./simulated-store.ts";
import type { Link, SimulatedStore } from "./simulated-store.ts";

/** What all members of a pool have in common. */
export interface PoolRules {
  readonly pool: string;
  readonly rateLimit: RampOptions;
  readonly membership: MemberRules;
  readonly pacing: "smooth" | "epoch";
  readonly division: Division;
  /** By how much a process is late when it is due, as a real one is. */
  readonly lagMs: (random: Random) => number;
}

/** What one process is. */
export interface ProcessOptions {
  /** Its id, or with a number behind it if a process of that id was there already. */
  readonly name: string;
  readonly id: string;
  /** Tokens that it asks for in a second; all it can get unless given. */
  readonly asksPerSecond?: number | undefined;
  /** Its monotonic clock: what it read when the run began, and how fast it runs. */
  readonly clock: { readonly startMs: number; readonly rate: number };
  readonly random: Random;
}

/** Sees all that a process does, by the clock of the process. */
export interface ProcessWatcher {
  onSent(process: SimulatedMember, request: SyncRequest, nowMs: number): void;
  /** A reply was handed to the session, whether or not it still counts. */
  onReply(process: SimulatedMember, answer: Answer, changes: readonly MembershipChange[]): void;
  /** It was due: a sync may have been given up. */
  onDue(process: SimulatedMember, nowMs: number, changes: readonly MembershipChange[]): void;
  onGrant(process: SimulatedMember, count: number): void;
}

interface Answer {
  readonly sequence: number;
  readonly reply: SyncReply;
  readonly nowMs: number;
}

/** Where a process lives. */
export interface World {
  readonly loop: EventLoop;
  readonly store: SimulatedStore;
  readonly watcher: ProcessWatcher;
}

/** So many batches fit into what can be saved up: nothing is lost between two looks. */
const LOOKS_PER_BURST = 8;
/** Between two looks of one that asks for a certain rate, at least. */
const ASK_MIN_MS = 5;
/** Time goes on between two looks, whatever sums of fractions come to. */
const STEP_MIN_MS = 0.01;
/** No level is resumed after all have gone: a scenario begins where it says. */
const RESUME_TTL_MS = 0;

/**
 * A process with one member: the real session and the real pacing, driven by a simulated clock
 * against a simulated store. It takes tokens whenever it can.
 */
export class SimulatedMember {
  readonly name: string;
  readonly id: string;
  readonly session: MemberSession;
  readonly link: Link;
  readonly #world: World;
  readonly #rules: PoolRules;
  readonly #options: ProcessOptions;
  readonly #ramp: Ramp;
  readonly #ceiling: Ceiling;
  readonly #pacing: Pacing;
  readonly #demand: DemandMeter;
  /** What fell due while it was stopped. */
  readonly #overdue: (() => void)[] = [];
  #isPaused = false;
  #hasEnded = false;
  #hasJoined = false;
  readonly #time = new EpochClock();
  #due: Scheduled | undefined;
  #look: Scheduled | undefined;
  #askedSinceMs: number;
  #taken = 0;

  constructor(options: ProcessOptions, rules: PoolRules, world: World) {
    this.name = options.name;
    this.id = options.id;
    this.link = newLink(options.random);
    this.#options = options;
    this.#rules = rules;
    this.#world = world;
    const nowMs = this.nowMs;
    this.#ramp = new Ramp(rules.rateLimit, { epoch: Math.floor(nowMs / SECOND_MS) });
    this.#ceiling = new Ceiling(this.#ramp, () => {});
    this.#pacing =
      rules.pacing === "smooth"
        ? new SmoothPacing(this.#ceiling, this.#time)
        : new EpochPacing(this.#ceiling, rules.division, this.#time);
    this.#demand = new DemandMeter(nowMs, rules.membership.timing.leaseMs);
    this.#askedSinceMs = nowMs;
    const identity = { pool: rules.pool, member: this.id, nonce: nonceOf(options.random) };
    this.session = new MemberSession(identity, rules.membership, {
      nowMs,
      resumeTtlMs: RESUME_TTL_MS,
    });
    this.#wakeWhenDue();
    this.#lookLater(0);
  }

  /** By its own monotonic clock. */
  get nowMs(): number {
    const { startMs, rate } = this.#options.clock;
    return startMs + this.#world.loop.now() * rate;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Whether it runs: neither stopped nor gone nor turned away. */
  get isLive(): boolean {
    return !this.#isPaused && !this.#hasEnded && this.session.membership.standing !== "refused";
  }

  /** What it may use now; nothing while it does not run. */
  get entitlement(): Entitlement | undefined {
    if (this.#isPaused || this.#hasEnded) return undefined;
    return this.session.membership.entitlementAt(this.nowMs);
  }

  /** Whether what it may use is under a lease. */
  get isLeased(): boolean {
    return this.session.membership.isLeasedAt(this.nowMs);
  }

  /** The ceiling that it knows. */
  get ceiling(): number {
    return this.#ramp.ceiling;
  }

  /** Tokens in a second, by what it may use now. */
  get share(): number {
    return exactShare(this.ceiling, this.entitlement);
  }

  pause(): void {
    this.#isPaused = true;
  }

  /** All that has become due meanwhile happens now, in any order. */
  resume(): void {
    if (!this.#isPaused || this.#hasEnded) return;
    this.#isPaused = false;
    const overdue = this.#overdue.splice(0);
    while (overdue.length > 0) {
      const index = Math.floor(this.#options.random.next() * overdue.length);
      const [run] = overdue.splice(index, 1);
      run?.();
    }
  }

  /** Gives its place back, if the store can be reached. */
  leave(): void {
    const request = this.session.leave("redeploy", this.#level);
    this.#world.store.leave(request, this.link);
    this.crash();
  }

  crash(): void {
    this.#hasEnded = true;
    this.#overdue.length = 0;
  }

  #onDue(): void {
    const nowMs = this.nowMs;
    const wanted = this.#demand.read(nowMs, this.ceiling, false);
    const condition = { level: this.#level, wanted, limits: { version: 0, text: undefined } };
    const { send, changes } = this.session.onDue(nowMs, () => condition);
    this.#world.watcher.onDue(this, nowMs, changes);
    if (send !== undefined) {
      this.#world.watcher.onSent(this, send, nowMs);
      this.#world.store.sync(send, this.link, (reply) =>
        this.#whenRunning(() => this.#onReply(send.sequence, reply)),
      );
    }
    this.#wakeWhenDue();
    this.#takeTokens();
  }

  #onReply(sequence: number, reply: SyncReply): void {
    const nowMs = this.nowMs;
    const isCounted = this.session.isAwaiting(sequence);
    const changes = this.session.onReply(sequence, reply, nowMs);
    if (isCounted && reply.kind === "told") this.#learn(reply, nowMs);
    this.#world.watcher.onReply(this, { sequence, reply, nowMs }, changes);
    this.#wakeWhenDue();
    this.#takeTokens();
  }

  #learn({ storeMs, saved }: Extract<SyncReply, { kind: "told" }>, nowMs: number): void {
    this.#time.learn(storeMs, this.session.membership.syncedAtMs ?? nowMs, nowMs);
    const epoch = Math.floor(this.#time.at(nowMs) / SECOND_MS);
    if (saved?.left === "running") this.#ramp.raiseTo(saved.level, epoch);
  }

  #takeTokens(): void {
    const nowMs = this.nowMs;
    const atMs = this.#time.at(nowMs);
    const entitlement = this.session.membership.entitlementAt(nowMs);
    // Who has not joined yet has nothing that could be asked.
    this.#hasJoined ||= entitlement !== undefined;
    if (!this.#hasJoined) return;
    const ask = this.#askAt(nowMs);
    const count = this.#pacing.take(ask, atMs, entitlement);
    this.#demand.onRequested(count);
    if (count < ask) this.#demand.onShort();
    this.#taken += count;
    if (count > 0) this.#world.watcher.onGrant(this, count);
    const { asksPerSecond } = this.#options;
    if (asksPerSecond === 0) return;
    if (asksPerSecond !== undefined)
      return this.#lookLater(Math.max(ASK_MIN_MS, SECOND_MS / asksPerSecond));
    const batch = Math.max(1, Math.floor(this.#pacing.countMax / LOOKS_PER_BURST));
    const readyAtMs = this.#pacing.readyAtMs(batch, atMs, entitlement);
    // With no tokens in sight only a sync brings some, and it looks again then.
    if (readyAtMs !== undefined) this.#lookLater(readyAtMs - atMs);
  }

  /** What is asked for and was not there is asked for again for a second. */
  #askAt(nowMs: number): number {
    const { asksPerSecond } = this.#options;
    if (asksPerSecond === undefined) return Number.MAX_SAFE_INTEGER;
    const asked = (asksPerSecond * (nowMs - this.#askedSinceMs)) / SECOND_MS;
    const missed = asked - this.#taken - Math.max(1, asksPerSecond);
    if (missed > 0 && asksPerSecond > 0) this.#askedSinceMs += (missed * SECOND_MS) / asksPerSecond;
    return Math.max(0, Math.floor(asked - Math.max(0, missed) - this.#taken));
  }

  get #level(): number | undefined {
    return this.#ceiling.epoch === undefined ? undefined : this.#ceiling.now;
  }

  #wakeWhenDue(): void {
    if (this.#due !== undefined) this.#world.loop.cancel(this.#due);
    const { random, clock } = this.#options;
    const afterMs = Math.max(0, this.session.dueAtMs - this.nowMs) / clock.rate;
    const lateMs = Math.max(STEP_MIN_MS, this.#rules.lagMs(random));
    this.#due = this.#world.loop.after(afterMs + lateMs, () =>
      this.#whenRunning(() => this.#onDue()),
    );
  }

  #lookLater(afterMs: number): void {
    if (this.#look !== undefined) this.#world.loop.cancel(this.#look);
    const laterMs = Math.max(STEP_MIN_MS, afterMs / this.#options.clock.rate);
    this.#look = this.#world.loop.after(laterMs, () => this.#whenRunning(() => this.#takeTokens()));
  }

  #whenRunning(run: () => void): void {
    if (this.#hasEnded) return;
    if (this.#isPaused) this.#overdue.push(run);
    else run();
  }
}

function nonceOf(random: Random): string {
  return Math.floor(random.next() * 2 ** 32)
    .toString(16)
    .padStart(16, "0");
}
