import type { Clock } from "@sluice/core";
import { requireDuration, requireKnownKeys, requireWhole } from "@sluice/core/internal";
import { systemTimer } from "@sluice/core/system";
import { requireSettings } from "../check-options.ts";
import { Gate } from "./gate.ts";
import type { GateOptions } from "./options/gate-options.ts";

/** How many gates are kept, and for how long. */
export interface GateKeeping {
  /** Most gates at once; 1000 unless given. */
  readonly maxKeys?: number;
  /** A gate without a call for this time is forgotten, in ms; 300 000 unless given. */
  readonly idleMs?: number;
}

export interface GatesOptions extends GateKeeping {
  /**
   * What every gate is made of, or what the gate of each key is. Names get the key added.
   * Default: gates without limits.
   */
  readonly gate?: GateOptions | ((key: string) => GateOptions);
}

const MAX_KEYS = 1_000_000;

/** Gates examined per new key. More than 1, so that the removal of idle gates catches up. */
const SWEEP_PER_NEW_KEY = 2;

/** While no gate is idle: the least time between two searches of all gates, in ms. */
const LOOK_AGAIN_MS = 10;

/** Most gates that are compared to find the one idle longest. Raised, a flood of new keys costs more. */
const LOOKED_AT = 16;

const KEYS: ReadonlySet<string> = new Set([
  "gate",
  "maxKeys",
  "idleMs",
] satisfies (keyof GatesOptions)[]);

/** Builds a gate per key, as keys come. */
export function createGates(options: GatesOptions = {}): GateMap {
  return new GateMap(options);
}

/**
 * One gate per key, made when the key first comes and forgotten when it has been idle for long.
 * Nothing ticks: idle gates are looked for when a new one is made.
 *
 * A gate is only forgotten while no call is in flight, in the queue or parked, no pause is on and its rates are
 * full: a new gate then admits no more than the old one would have. What it has learnt of its peer is
 * lost. When there are `maxKeys`, the one idle longest of at least 16 goes at once; if none is idle, newcomers
 * share one more gate, named `overflow`, until there is room: memory stays bounded.
 */
export class GateMap {
  readonly #optionsOf: (key: string) => GateOptions;
  readonly #maxKeys: number = 0;
  readonly #idleMs: number = 0;
  readonly #gates = new Map<string, Gate>();
  #sweep: Iterator<[string, Gate]>;
  #overflow: Gate | undefined;
  /** Time as the overflow gate has it. */
  #overflowClock: Clock = systemTimer;
  #lookAgainAtMs = 0;
  #isClosed = false;

  constructor(options: GatesOptions = {}) {
    requireSettings("the options of gates", options, 'gate: { rate: "100/s" }');
    requireKnownKeys("gates", options, KEYS);
    const { gate = {}, maxKeys = 1000, idleMs = 300_000 } = options;
    requireWhole("maxKeys", maxKeys, 1, MAX_KEYS);
    requireDuration("idleMs", idleMs);
    // One that every key shares is checked now rather than at the first call.
    if (typeof gate === "object") new Gate(gate).close();
    this.#optionsOf = typeof gate === "function" ? gate : () => gate;
    this.#maxKeys = maxKeys;
    this.#idleMs = idleMs;
    this.#sweep = this.#gates.entries();
  }

  /** Keys that have a gate of their own. */
  get size(): number {
    return this.#gates.size;
  }

  /** The gate of a key, now and again: do not keep it, it may be forgotten when it is idle. */
  for(key: string): Gate {
    return this.#gates.get(key) ?? this.#admit(key);
  }

  /** The gates that there are, with their keys. */
  entries(): IterableIterator<[string, Gate]> {
    return this.#gates.entries();
  }

  /** Closes every gate, and those that come. */
  close(): void {
    this.#isClosed = true;
    this.#overflow?.close();
    for (const gate of this.#gates.values()) gate.close();
  }

  /** Closes every gate, and waits until all permits are back. */
  async [Symbol.asyncDispose](): Promise<void> {
    const gates = [...this.#gates.values()];
    if (this.#overflow !== undefined) gates.push(this.#overflow);
    this.close();
    await Promise.all(gates.map((gate) => gate[Symbol.asyncDispose]()));
  }

  #admit(key: string): Gate {
    for (let i = 0; i < SWEEP_PER_NEW_KEY; i++) this.#sweepOne();
    if (this.#gates.size >= this.#maxKeys && !this.#makeRoom()) return this.#overflowGate();
    const gate = this.#create(key, this.#optionsOf(key));
    this.#gates.set(key, gate);
    return gate;
  }

  #overflowGate(): Gate {
    if (this.#overflow !== undefined) return this.#overflow;
    const options = this.#optionsOf("overflow");
    this.#overflowClock = options.runtime?.timer ?? systemTimer;
    this.#overflow = this.#create("overflow", options);
    return this.#overflow;
  }

  /** Looks for an idle gate to forget; if there is none, not again for `LOOK_AGAIN_MS`, however many newcomers there are. */
  #makeRoom(): boolean {
    if (this.#overflow !== undefined && this.#overflowClock.now() < this.#lookAgainAtMs)
      return false;
    if (this.#forgetIdlest()) return true;
    this.#overflowGate();
    this.#lookAgainAtMs = this.#overflowClock.now() + LOOK_AGAIN_MS;
    return false;
  }

  #create(key: string, options: GateOptions): Gate {
    const name = options.name === undefined ? key : `${options.name}:${key}`;
    const gate = new Gate({ ...options, name });
    if (this.#isClosed) gate.close();
    return gate;
  }

  #sweepOne(): void {
    const [key, gate] = this.#nextInTurn() ?? [];
    if (key === undefined || gate === undefined) return;
    const idleMs = gate.idleMs();
    if (idleMs !== undefined && idleMs >= this.#idleMs) this.#forget(key, gate);
  }

  /** Each of the gates in its turn, the oldest first, round and round. */
  #nextInTurn(): [string, Gate] | undefined {
    let next = this.#sweep.next();
    if (next.done === true) {
      this.#sweep = this.#gates.entries();
      next = this.#sweep.next();
    }
    return next.done === true ? undefined : next.value;
  }

  #forgetIdlest(): boolean {
    let idlest: { key: string; gate: Gate; idleMs: number } | undefined;
    for (let looked = 0; looked < this.#gates.size; looked++) {
      if (idlest !== undefined && looked >= LOOKED_AT) break;
      const [key, gate] = this.#nextInTurn() ?? [];
      if (key === undefined || gate === undefined) break;
      // By its own clock: each gate may have another.
      const idleMs = gate.idleMs();
      if (idleMs !== undefined && !(idlest !== undefined && idlest.idleMs >= idleMs))
        idlest = { key, gate, idleMs };
    }
    if (idlest === undefined) return false;
    this.#forget(idlest.key, idlest.gate);
    return true;
  }

  #forget(key: string, gate: Gate): void {
    this.#gates.delete(key);
    // Ends its subscriptions; a caller that still holds the gate gets a `ClosedError`.
    gate.close();
  }
}
