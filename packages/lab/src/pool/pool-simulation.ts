import { SeededRandom } from "@sluice/core";
import type { Random } from "@sluice/core";
import { EventLoop } from "../simulation/engine/event-loop.ts";
import { SimulatedMember } from "./simulated-member.ts";
import type { PoolRules, ProcessOptions, ProcessWatcher } from "./simulated-member.ts";
import { SimulatedStore } from "./simulated-store.ts";
import type { Network } from "./simulated-store.ts";

/** What happens to a pool at an instant. One that nobody is there for changes nothing. */
export type PoolAction =
  | { readonly do: "join"; readonly id: string; readonly asksPerSecond?: number | undefined }
  | { readonly do: "leave" | "crash"; readonly name: string }
  | { readonly do: "pause" | "cut" | "mute"; readonly name: string; readonly forMs: number }
  | { readonly do: "store-down"; readonly forMs: number }
  | { readonly do: "flush" }
  /** The store loses one registration. */
  | { readonly do: "lose"; readonly name: string }
  /** The wall clock of a process is set. */
  | { readonly do: "clock-step"; readonly name: string; readonly byMs: number }
  | { readonly do: "store-clock-step"; readonly byMs: number };

export interface PoolSimulationOptions {
  readonly rules: PoolRules;
  readonly network: Network;
  readonly seed: number;
  readonly watcher: ProcessWatcher;
  /** Of a process's monotonic clock, told apart from all others; as the run's unless given. */
  readonly clockOf?: (random: Random) => ProcessOptions["clock"];
}

/** The most processes that are ever started in a run. */
const PROCESSES_MAX = 10_000;

/** Processes that share a ceiling through a store, in virtual time. */
export class PoolSimulation {
  readonly loop: EventLoop = new EventLoop({ timerQuantumMs: 0 });
  readonly store: SimulatedStore;
  readonly #options: PoolSimulationOptions;
  readonly #members = new Map<string, SimulatedMember>();
  /** The same, since it is looked at after every event. */
  #list: readonly SimulatedMember[] = [];
  #started = 0;
  /** Ends of what lasts, by what it is. */
  readonly #untilMs = new Map<string, number>();

  constructor(options: PoolSimulationOptions) {
    this.#options = options;
    this.store = new SimulatedStore(this.loop, options.network, options.rules.pool);
  }

  /** Those who have not gone, in the order in which they came. */
  get members(): readonly SimulatedMember[] {
    return this.#list;
  }

  perform(action: PoolAction): void {
    switch (action.do) {
      case "join":
        return this.#join(action.id, action.asksPerSecond);
      case "store-down":
        this.store.isDown = true;
        return this.#lasting("store", action.forMs, () => (this.store.isDown = false));
      case "flush":
        return this.store.flush();
      case "store-clock-step":
        return this.store.stepClock(action.byMs);
      case "lose":
      case "leave":
      case "crash":
      case "pause":
      case "cut":
      case "mute":
      case "clock-step": {
        const member = this.#members.get(action.name);
        if (member !== undefined) this.#befall(member, action);
      }
    }
  }

  #befall(member: SimulatedMember, action: Extract<PoolAction, { name: string }>): void {
    const { link, name } = member;
    switch (action.do) {
      case "leave":
        // A stopped process hears no signal.
        if (member.isPaused) return;
        member.leave();
        return this.#remove(name);
      case "crash":
        member.crash();
        return this.#remove(name);
      case "pause":
        member.pause();
        return this.#lasting(`pause ${name}`, action.forMs, () => member.resume());
      case "cut":
        link.isCut = true;
        return this.#lasting(`cut ${name}`, action.forMs, () => (link.isCut = false));
      case "mute":
        link.isMuted = true;
        return this.#lasting(`mute ${name}`, action.forMs, () => (link.isMuted = false));
      case "lose":
        return this.store.lose(member.id);
      case "clock-step":
        // Nothing that runs here is given a wall clock: there is nothing to set.
        return;
    }
  }

  #join(id: string, asksPerSecond: number | undefined): void {
    if (this.#started >= PROCESSES_MAX) return;
    const { rules, seed, watcher, clockOf } = this.#options;
    const name = nameOf(id, (each) => this.#members.has(each));
    // Draws of its own, so that a run without one process is the same for all others.
    const random = new SeededRandom(seed ^ hashOf(`${name} ${this.#started++}`));
    const clock = clockOf?.(random) ?? { startMs: 0, rate: 1 };
    const world = { loop: this.loop, store: this.store, watcher };
    const options = { name, id, asksPerSecond, clock, random };
    this.#members.set(name, new SimulatedMember(options, rules, world));
    this.#list = [...this.#members.values()];
  }

  #remove(name: string): void {
    this.#members.delete(name);
    this.#list = [...this.#members.values()];
    for (const what of ["pause", "cut", "mute"]) this.#untilMs.delete(`${what} ${name}`);
  }

  /** What is already so lasts until the later end. */
  #lasting(what: string, forMs: number, end: () => void): void {
    const untilMs = Math.max(this.loop.now() + forMs, this.#untilMs.get(what) ?? 0);
    this.#untilMs.set(what, untilMs);
    this.loop.at(untilMs, () => {
      if (this.#untilMs.get(what) === untilMs) end();
    });
  }
}

/** The id, or the first free name made of it. */
export function nameOf(id: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(id)) return id;
  let number = 2;
  while (isTaken(`${id}#${number}`)) number++;
  return `${id}#${number}`;
}

function hashOf(text: string): number {
  let hash = 0;
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x5bd1e995);
  return hash;
}
