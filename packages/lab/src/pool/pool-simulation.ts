import { ConfigError, SeededRandom } from "@sluice/core";
import type { Random } from "@sluice/core";
import { EventLoop } from "../simulation/engine/event-loop.ts";
import type { Network } from "./network.ts";
import { nameOf } from "./pool-action.ts";
import type { PoolAction } from "./pool-action.ts";
import type { Protocol } from "./protocol.ts";
import { SimulatedProcess } from "./simulated-process.ts";
import type { ProcessOptions, ProcessRules, ProcessWatcher } from "./simulated-process.ts";
import { SimulatedStore } from "./simulated-store.ts";

export interface PoolSimulationOptions {
  readonly rules: ProcessRules;
  readonly protocol: (store: SimulatedStore) => Protocol;
  readonly network: Network;
  readonly seed: number;
  readonly watcher: ProcessWatcher;
  /** The monotonic clock of a process, drawn for each. Default: the clock of the run. */
  readonly clockOf?: (random: Random) => ProcessOptions["clock"];
}

/** Processes that are started in one run, at most: a run of more takes minutes. */
export const PROCESSES_MAX = 10_000;

/** Processes that share a ceiling through a store, in virtual time. */
export class PoolSimulation {
  readonly loop: EventLoop = new EventLoop({ timerQuantumMs: 0 });
  readonly #options: PoolSimulationOptions;
  readonly #store: SimulatedStore;
  readonly #protocol: Protocol;
  readonly #processes = new Map<string, SimulatedProcess>();
  /** The same as a list, since it is read after every event. */
  #list: readonly SimulatedProcess[] = [];
  #started = 0;
  /** When each pause, cut, mute and store failure ends. */
  readonly #untilMs = new Map<string, number>();

  constructor(options: PoolSimulationOptions) {
    this.#options = options;
    this.#store = new SimulatedStore(this.loop, options.network);
    this.#protocol = options.protocol(this.#store);
  }

  /** The processes that have not ended, in the order in which they started. */
  get processes(): readonly SimulatedProcess[] {
    return this.#list;
  }

  /** Lets time pass, up to and including this instant. */
  runUntil(atMs: number): void {
    this.loop.run(
      atMs + Number.EPSILON * (1 + atMs),
      () => {},
      () => false,
    );
  }

  perform(action: PoolAction): void {
    if ("name" in action) {
      const process = this.#processes.get(action.name);
      if (process !== undefined) this.#befall(process, action);
      return;
    }
    switch (action.do) {
      case "join":
        return this.#join(action.id, action.asksPerSecond);
      case "store-down":
        this.#store.isDown = true;
        return this.#lasting("store", action.forMs, () => (this.#store.isDown = false));
      case "flush":
        return this.#protocol.flush();
      case "store-clock-step":
        return this.#store.stepClock(action.byMs);
      case "failover":
        this.loop.after(action.lagMs, this.#protocol.snapshot());
        return;
      case "limits":
        return this.#protocol.setLimits(JSON.stringify(action.rateLimit));
    }
  }

  #befall(process: SimulatedProcess, action: Extract<PoolAction, { name: string }>): void {
    const { link, name, id, asksPerSecond } = process;
    switch (action.do) {
      case "leave":
        // A paused process handles no signal.
        if (process.isPaused) return;
        process.leave();
        return this.#remove(name);
      case "crash":
        process.crash();
        return this.#remove(name);
      case "restart":
        process.crash();
        this.#remove(name);
        return this.#join(id, asksPerSecond);
      case "pause":
        process.pause();
        return this.#lasting(`pause ${name}`, action.forMs, () => process.resume());
      case "cut":
        link.isCut = true;
        return this.#lasting(`cut ${name}`, action.forMs, () => (link.isCut = false));
      case "mute":
        link.isMuted = true;
        return this.#lasting(`mute ${name}`, action.forMs, () => (link.isMuted = false));
      case "demand":
        return process.ask(action.asksPerSecond);
      case "lose":
        return this.#protocol.lose(id);
      case "clock-step":
        return process.stepClock(action.byMs);
    }
  }

  #join(id: string, asksPerSecond: number | undefined): void {
    if (this.#started >= PROCESSES_MAX)
      throw new ConfigError(
        `more than ${PROCESSES_MAX} processes join; make the run shorter or let fewer join`,
      );
    const { rules, seed, watcher, clockOf } = this.#options;
    const name = nameOf(id, (each) => this.#processes.has(each));
    // Draws of its own, so that a run without one process is the same for all others.
    const random = new SeededRandom(seed ^ hashOf(`${name} ${this.#started++}`));
    const clock = clockOf?.(random) ?? { startMs: 0, rate: 1 };
    const world = { loop: this.loop, protocol: this.#protocol, watcher };
    const options = { name, id, asksPerSecond, clock, random };
    this.#processes.set(name, new SimulatedProcess(options, rules, world));
    this.#list = [...this.#processes.values()];
  }

  #remove(name: string): void {
    this.#processes.delete(name);
    this.#list = [...this.#processes.values()];
    for (const what of ["pause", "cut", "mute"]) this.#untilMs.delete(`${what} ${name}`);
  }

  /** A condition that exists already lasts until the later of both ends. */
  #lasting(what: string, forMs: number, end: () => void): void {
    const untilMs = Math.max(this.loop.now() + forMs, this.#untilMs.get(what) ?? 0);
    this.#untilMs.set(what, untilMs);
    this.loop.at(untilMs, () => {
      if (this.#untilMs.get(what) === untilMs) end();
    });
  }
}

function hashOf(text: string): number {
  let hash = 0;
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x5bd1e995);
  return hash;
}
