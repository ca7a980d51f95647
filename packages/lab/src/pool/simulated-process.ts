import { Ramp } from "@sluice/core";
import type { RampOptions, Random } from "@sluice/core";
import { SECOND_MS } from "@sluice/core/internal";
import type { Division } from "@sluice/core/internal";
import {
  Ceiling,
  DemandMeter,
  EpochClock,
  EpochPacing,
  exactShare,
  SmoothPacing,
} from "@sluice/fleet/sim";
import type { Condition, Entitlement, Pacing } from "@sluice/fleet/sim";
import type { EventLoop, Scheduled } from "../simulation/engine/event-loop.ts";
import { newLink } from "./network.ts";
import type { Link } from "./network.ts";
import type { Host, News, Protocol, ProtocolMember } from "./protocol.ts";

/** What all processes of a pool have in common. */
export interface ProcessRules {
  readonly rateLimit: RampOptions;
  readonly pacing: "smooth" | "epoch";
  readonly division: Division;
  /** How late a timer of a process fires. */
  readonly lagMs: (random: Random) => number;
}

export interface ProcessOptions {
  /** Its id; b#2 for a second process with the id b. */
  readonly name: string;
  readonly id: string;
  /** Tokens that it asks for in a second; undefined: all that it can get. */
  readonly asksPerSecond: number | undefined;
  /** Its monotonic clock: what it shows at the start of the run, and its speed. */
  readonly clock: { readonly startMs: number; readonly rate: number };
  readonly random: Random;
}

/** Is told of everything that a process does. */
export interface ProcessWatcher {
  /** A timer was due or a reply was read: what the process may use may have changed. */
  onChange(process: SimulatedProcess): void;
  onGrant(process: SimulatedProcess, count: number): void;
}

/** Where a process runs. */
export interface World {
  readonly loop: EventLoop;
  readonly protocol: Protocol;
  readonly watcher: ProcessWatcher;
}

/** A greedy process takes this many batches in the time that fills what can be saved up, so that no token is lost. */
const LOOKS_PER_BURST = 8;
/** The shortest time between two looks of a process that asks for a certain rate. */
const ASK_MIN_MS = 5;
/** The least time between two looks: rounding must not make time stand still. */
const STEP_MIN_MS = 0.01;
/** The wall clock of every process at the start of a run, unless it is set. */
const WALL_START_MS = 1_700_000_000_000;

/**
 * A process with one member of a pool: its protocol decides what it may use, and the real pacing
 * hands that out. It takes tokens whenever it can.
 */
export class SimulatedProcess implements Host {
  readonly name: string;
  readonly id: string;
  readonly link: Link;
  readonly random: Random;
  readonly member: ProtocolMember;
  readonly joinedAtMs: number;
  /** Tokens that it asks for in a second; undefined: all that it can get. */
  asksPerSecond: number | undefined;
  readonly #world: World;
  readonly #rules: ProcessRules;
  readonly #clock: ProcessOptions["clock"];
  readonly #ramp: Ramp;
  readonly #ceiling: Ceiling;
  readonly #time = new EpochClock();
  readonly #pacing: Pacing;
  readonly #demand: DemandMeter;
  /** What became due while it was paused. */
  readonly #overdue: (() => void)[] = [];
  #steppedMs = 0;
  #isPaused = false;
  #hasEnded = false;
  #limits = { version: 0, text: "", storeVersion: 0 };
  #due: Scheduled | undefined;
  #look: Scheduled | undefined;
  #askedSinceMs: number;
  #taken = 0;
  /** Whether the last look asked for more than was granted. */
  #isWaiting = false;

  constructor(options: ProcessOptions, rules: ProcessRules, world: World) {
    this.name = options.name;
    this.id = options.id;
    this.random = options.random;
    this.link = newLink(options.random);
    this.asksPerSecond = options.asksPerSecond;
    this.#clock = options.clock;
    this.#rules = rules;
    this.#world = world;
    this.joinedAtMs = world.loop.now();
    const { nowMs } = this;
    this.#ramp = new Ramp(rules.rateLimit, { epoch: Math.floor(nowMs / SECOND_MS) });
    this.#ceiling = new Ceiling(this.#ramp, () => {});
    this.#pacing =
      rules.pacing === "smooth"
        ? new SmoothPacing(this.#ceiling, this.#time)
        : new EpochPacing(this.#ceiling, rules.division, this.#time);
    this.#demand = new DemandMeter(nowMs);
    this.#askedSinceMs = nowMs;
    this.member = world.protocol.join(this);
    this.#wakeWhenDue();
    this.#lookLater(0);
  }

  /** Its monotonic clock. */
  get nowMs(): number {
    return this.#clock.startMs + this.#world.loop.now() * this.#clock.rate;
  }

  get wallMs(): number {
    return WALL_START_MS + this.#steppedMs + this.#world.loop.now();
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Whether it runs and is accepted. */
  get isLive(): boolean {
    return !this.#isPaused && !this.#hasEnded && !this.member.isRefused;
  }

  /** What it may use now, paused or not: a process that goes on uses this before anything else happens. */
  get entitlement(): Entitlement | undefined {
    return this.#hasEnded ? undefined : this.member.entitlementAt(this.nowMs);
  }

  /** The ceiling that it knows. */
  get ceiling(): number {
    return this.#ramp.ceiling;
  }

  /** Tokens per second that it grants now; 0 while it is paused. */
  get share(): number {
    return this.#isPaused ? 0 : this.shareOnWaking;
  }

  /** Tokens per second that it may grant, also if it goes on only now. */
  get shareOnWaking(): number {
    return exactShare(this.ceiling, this.entitlement);
  }

  get isPromised(): boolean {
    return this.member.isPromisedAt(this.nowMs);
  }

  get hasArrived(): boolean {
    return this.isLive && this.member.hasArrivedAt(this.nowMs);
  }

  isSettledIn(live: number): boolean {
    return this.member.isSettledAt(this.nowMs, live);
  }

  stepClock(byMs: number): void {
    this.#steppedMs += byMs;
  }

  pause(): void {
    this.#isPaused = true;
  }

  /** Everything that became due meanwhile happens now, in any order. */
  resume(): void {
    if (!this.#isPaused || this.#hasEnded) return;
    this.#isPaused = false;
    const overdue = this.#overdue.splice(0);
    while (overdue.length > 0) {
      const index = Math.floor(this.random.next() * overdue.length);
      const [run] = overdue.splice(index, 1);
      run?.();
    }
  }

  /** Gives its share back, if the store can be reached. */
  leave(): void {
    this.member.leave(this.#level);
    this.crash();
  }

  crash(): void {
    this.#hasEnded = true;
    this.#overdue.length = 0;
  }

  whenRunning(run: () => void): void {
    if (this.#hasEnded) return;
    if (this.#isPaused) this.#overdue.push(run);
    else run();
  }

  condition(): Condition {
    const wanted = this.#demand.read(this.nowMs, this.ceiling, this.#isWaiting);
    const { version, text, storeVersion } = this.#limits;
    const limits = { version, text: storeVersion < version ? text : undefined };
    return { level: this.#level, wanted, limits };
  }

  onReply({ time, runningLevel, limits, limitsVersion }: News): void {
    const { nowMs } = this;
    if (time !== undefined) this.#time.learn(time.storeMs, time.sentAtMs, nowMs);
    const epoch = Math.floor(this.#time.at(nowMs) / SECOND_MS);
    if (runningLevel !== undefined) this.#ramp.raiseTo(runningLevel, epoch);
    if (limitsVersion !== undefined) this.#limits.storeVersion = limitsVersion;
    if (limits !== undefined) {
      Object.assign(this.#limits, limits);
      this.#ramp.rebound(JSON.parse(limits.text) as RampOptions, epoch);
      this.#ceiling.refresh();
    }
    this.#world.watcher.onChange(this);
    this.#wakeWhenDue();
    this.#takeTokens();
  }

  #onDue(): void {
    this.member.onDue();
    this.#world.watcher.onChange(this);
    this.#wakeWhenDue();
    this.#takeTokens();
  }

  #takeTokens(): void {
    const { nowMs, asksPerSecond } = this;
    const atMs = this.#time.at(nowMs);
    const entitlement = this.member.entitlementAt(nowMs);
    const ask = this.#askAt(nowMs);
    // Before the first share callers wait: the ramp moves with the first call that can be granted.
    const isEarly = entitlement === undefined && this.#ceiling.epoch === undefined;
    const count = isEarly ? 0 : this.#pacing.take(ask, atMs, entitlement);
    this.#isWaiting = ask > count;
    this.#demand.onRequested(count);
    if (count < ask) this.#demand.onShort();
    this.#taken += count;
    if (count > 0) this.#world.watcher.onGrant(this, count);
    if (asksPerSecond === 0) return;
    if (asksPerSecond !== undefined)
      return this.#lookLater(Math.max(ASK_MIN_MS, SECOND_MS / asksPerSecond));
    if (isEarly) return;
    const batch = Math.max(1, Math.floor(this.#pacing.countMax / LOOKS_PER_BURST));
    const readyAtMs = this.#pacing.readyAtMs(batch, atMs, entitlement);
    // If no token will come, only a reply can change that, and the process looks again then.
    if (readyAtMs !== undefined) this.#lookLater(readyAtMs - atMs);
  }

  /** Tokens to ask for now. What was asked for and not granted is asked for again for one second. */
  #askAt(nowMs: number): number {
    const { asksPerSecond } = this;
    if (asksPerSecond === undefined) return Number.MAX_SAFE_INTEGER;
    const asked = (asksPerSecond * (nowMs - this.#askedSinceMs)) / SECOND_MS;
    const missed = asked - this.#taken - Math.max(1, asksPerSecond);
    if (missed > 0 && asksPerSecond > 0) this.#askedSinceMs += (missed * SECOND_MS) / asksPerSecond;
    return Math.max(0, Math.floor(asked - Math.max(0, missed) - this.#taken));
  }

  /** From now on it asks for this many tokens in a second; undefined: all that it can get. */
  ask(perSecond: number | undefined): void {
    this.asksPerSecond = perSecond;
    this.#askedSinceMs = this.nowMs;
    this.#taken = 0;
    this.#lookLater(0);
  }

  get #level(): number | undefined {
    return this.#ceiling.epoch === undefined ? undefined : this.#ceiling.now;
  }

  #wakeWhenDue(): void {
    if (this.#due !== undefined) this.#world.loop.cancel(this.#due);
    const afterMs = Math.max(0, this.member.dueAtMs - this.nowMs) / this.#clock.rate;
    const lateMs = Math.max(STEP_MIN_MS, this.#rules.lagMs(this.random));
    this.#due = this.#world.loop.after(afterMs + lateMs, () =>
      this.whenRunning(() => this.#onDue()),
    );
  }

  #lookLater(afterMs: number): void {
    if (this.#look !== undefined) this.#world.loop.cancel(this.#look);
    const laterMs = Math.max(STEP_MIN_MS, afterMs / this.#clock.rate);
    this.#look = this.#world.loop.after(laterMs, () => this.whenRunning(() => this.#takeTokens()));
  }
}
