/** Members in processes of their own, watched from here. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { systemTimer, threadClock } from "@sluice/core/system";
import type { RedisStoreOptions } from "../src/index.ts";

const PROGRAM = fileURLToPath(new URL("replica.mjs", import.meta.url));

/** Quick, and yet such that a busy machine does not miss its syncs all the time. */
export const TIMING = { syncIntervalMs: 250, leaseMs: 2000, staleMs: 2600, timeoutMs: 250 };

export const CEILING = 1000;

interface Failure {
  readonly code: string | undefined;
  readonly message: string;
}

type Message =
  | { readonly type: "joined" }
  | ({ readonly type: "failed" } & Failure)
  | {
      readonly type: "grants";
      readonly stamps: readonly (readonly [number, number])[];
      readonly size: number;
      readonly standing: string;
      readonly syncs: number;
    };

/** One member: what it was granted, and what it believes. */
export class Replica {
  readonly member: string;
  readonly stamps: (readonly [number, number])[] = [];
  readonly #child: ChildProcess;
  size = 0;
  standing = "";
  syncs = 0;
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

  pause(): void {
    this.#child.kill("SIGSTOP");
  }

  resume(): void {
    this.#child.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
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
    if (message.type === "joined") this.isJoined = true;
    else if (message.type === "failed") this.failure = message;
    else {
      this.stamps.push(...message.stamps);
      this.size = message.size;
      this.standing = message.standing;
      this.syncs = message.syncs;
    }
  }
}

export interface ReplicaSettings {
  readonly pool?: string;
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

  start(member: string, settings: ReplicaSettings = {}): Replica {
    const { pool = "test/pool", preload, fleet } = settings;
    const options = {
      pool,
      member,
      rateLimit: { max: CEILING, min: CEILING },
      pacing: "smooth",
      timing: TIMING,
      store: { ...this.#store, timeoutMs: TIMING.timeoutMs },
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

  /** Those that run agree on how many they are. */
  isSettled(count: number): boolean {
    const live = this.all.filter(({ hasExited }) => !hasExited);
    return (
      live.length === count &&
      live.every(({ size, standing }) => size === count && standing === "member")
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
}

/** By the clock that the replicas stamp with. */
export function machineMs(): number {
  return threadClock.now();
}

export function pass(ms: number): Promise<void> {
  return systemTimer.sleep(ms);
}

/** Waits until something is so; answers how long it took, or fails after `withinMs`. */
export async function until(isSo: () => boolean, withinMs: number): Promise<number> {
  const fromMs = machineMs();
  while (!isSo()) {
    if (machineMs() - fromMs > withinMs) throw new Error(`not so within ${withinMs} ms`);
    await pass(20);
  }
  return machineMs() - fromMs;
}
