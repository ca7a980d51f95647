/** Members in processes of their own, watched from here. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { systemTimer, threadClock } from "@sluice/core/system";
import type { RedisStoreOptions } from "../src/index.ts";
import { slowness } from "./redis-server.ts";

const PROGRAM = fileURLToPath(new URL("replica.mjs", import.meta.url));

export const CEILING = 1000;

/** The time between two sums of the shares. */
const STEP_MS = 50;

interface Failure {
  readonly code: string | undefined;
  readonly message: string;
}

type Message = { readonly atMs: number } & (
  | { readonly type: "started" }
  | { readonly type: "joined" }
  | ({ readonly type: "failed" } & Failure)
  | (Sample & {
      readonly type: "state";
      readonly size: number;
      readonly standing: string;
      /** Grants since the last sample: milliseconds, tokens. */
      readonly stamps: readonly (readonly [number, number])[];
    })
);

interface Sample {
  readonly atMs: number;
  readonly share: number;
  /** How late the timer of this sample fired: what the machine adds to every sync. */
  readonly lateMs: number;
}

/** The shares in use over a time, as parts of the ceiling. */
export interface Shares {
  readonly least: number;
  readonly mean: number;
}

/** One member: what it was granted, and what it believes. */
export class Replica {
  readonly member: string;
  readonly stamps: (readonly [number, number])[] = [];
  readonly samples: Sample[] = [];
  readonly #child: ChildProcess;
  startedAtMs = Number.NaN;
  size = 0;
  standing = "";
  isJoined = false;
  failure: Failure | undefined;

  constructor(member: string, child: ChildProcess) {
    this.member = member;
    this.#child = child;
    if (child.stdout === null) throw new Error("a replica is listened to");
    createInterface(child.stdout).on("line", (line) => this.#hear(JSON.parse(line) as Message));
  }

  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** From the call of `joinFleet` to the first token; NaN before that. */
  get firstGrantMs(): number {
    return (this.stamps[0]?.[0] ?? Number.NaN) - this.startedAtMs;
  }

  /** The latest timer of this process before its first token, ms. */
  get joiningDelayMs(): number {
    const firstMs = this.stamps[0]?.[0] ?? Number.POSITIVE_INFINITY;
    const lates = this.samples.filter(({ atMs }) => atMs <= firstMs).map(({ lateMs }) => lateMs);
    return Math.max(0, ...lates);
  }

  /** The share at an instant: that of the last sample; 0 before the first. */
  shareAt(atMs: number): number {
    return this.samples.findLast((sample) => sample.atMs <= atMs)?.share ?? 0;
  }

  pause(): void {
    this.#child.kill("SIGSTOP");
  }

  resume(): void {
    this.#child.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
    // The share of a process that is dead serves no call.
    this.samples.push({ atMs: machineMs(), share: 0, lateMs: 0 });
  }

  async leave(): Promise<void> {
    await this.#end("SIGTERM");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.hasExited) return;
    const exited = once(this.#child, "exit");
    this.#child.kill(signal);
    await exited;
  }

  #hear(message: Message): void {
    if (message.type === "started") this.startedAtMs = message.atMs;
    else if (message.type === "joined") this.isJoined = true;
    else if (message.type === "failed") this.failure = message;
    else {
      this.stamps.push(...message.stamps);
      this.samples.push(message);
      this.size = message.size;
      this.standing = message.standing;
    }
  }
}

export interface ReplicaSettings {
  /** Loaded before the program, as `--import` has it. */
  readonly preload?: string;
  readonly fleet?: Readonly<Record<string, unknown>>;
}

/** Members of one pool that meet at one store. */
export class Replicas {
  readonly all: Replica[] = [];
  readonly #store: RedisStoreOptions;

  constructor(store: RedisStoreOptions) {
    this.#store = store;
  }

  /** With default settings, unless `fleet` has others. */
  start(member: string, { preload, fleet }: ReplicaSettings = {}): Replica {
    const options = {
      pool: "test/pool",
      member,
      rateLimit: { max: CEILING, min: CEILING },
      maxMembers: 64,
      store: this.#store,
      ...fleet,
    };
    const flags = preload === undefined ? [] : ["--import", preload];
    const child = spawn(process.execPath, [...flags, PROGRAM, JSON.stringify(options)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const replica = new Replica(member, child);
    this.all.push(replica);
    return replica;
  }

  /** `count` members run, and each has an equal share. */
  isSettled(count: number): boolean {
    const live = this.all.filter(({ hasExited }) => !hasExited);
    const share = CEILING / count;
    return (
      live.length === count &&
      live.every(
        ({ size, samples }) => size === count && (samples.at(-1)?.share ?? 0) >= 0.99 * share,
      )
    );
  }

  async end(): Promise<void> {
    for (const replica of this.all) replica.resume();
    await Promise.all(this.all.map((replica) => replica.kill()));
  }

  /** The most that was granted within any sliding second. */
  most(): number {
    const stamps = this.all.flatMap(({ stamps: own }) => own).toSorted(([a], [b]) => a - b);
    let most = 0;
    let sum = 0;
    let first = 0;
    for (const [atMs, count] of stamps) {
      sum += count;
      while ((stamps[first]?.[0] ?? atMs) <= atMs - 1000) sum -= stamps[first++]?.[1] ?? 0;
      most = Math.max(most, sum);
    }
    return most;
  }

  /** Tokens granted from one instant to another, a second. */
  rate(fromMs: number, untilMs: number): number {
    const within = this.all
      .flatMap(({ stamps }) => stamps)
      .filter(([atMs]) => atMs >= fromMs && atMs < untilMs);
    return (within.reduce((sum, [, count]) => sum + count, 0) * 1000) / (untilMs - fromMs);
  }

  /** The sum of the shares ÷ the ceiling from one instant to another. */
  shares(fromMs: number, untilMs: number): Shares {
    const sums: number[] = [];
    for (let atMs = fromMs; atMs < untilMs; atMs += STEP_MS)
      sums.push(this.all.reduce((sum, replica) => sum + replica.shareAt(atMs), 0) / CEILING);
    return {
      least: Math.min(...sums),
      mean: sums.reduce((total, sum) => total + sum, 0) / sums.length,
    };
  }

  /**
   * The load guard: how late 99 of 100 timers of the replicas fired at most, ms. 1 to 5 on an idle
   * machine. Every sync and every reply may be this late.
   */
  delayMs(): number {
    const lates = this.all.flatMap(({ samples }) => samples.map(({ lateMs }) => lateMs));
    const sorted = lates.toSorted((a, b) => a - b);
    return sorted[Math.floor(0.99 * sorted.length)] ?? 0;
  }
}

/** By the clock that the replicas stamp with. */
export function machineMs(): number {
  return threadClock.now();
}

export function pass(ms: number): Promise<void> {
  return systemTimer.sleep(ms);
}

/** Waits until something is so; answers how long it took, or fails after `withinMs` of an idle machine. */
export async function until(isSo: () => boolean, withinMs: number): Promise<number> {
  const fromMs = machineMs();
  while (!isSo()) {
    if (machineMs() - fromMs > withinMs * slowness())
      throw new Error(`not so within ${withinMs} ms × ${slowness()}`);
    await pass(20);
  }
  return machineMs() - fromMs;
}
