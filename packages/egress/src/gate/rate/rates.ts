import type { Random, Reason } from "@sluice/core";
import { Pause } from "../pause/pause.ts";
import { requireCost } from "./cost.ts";
import type { Cost } from "./cost.ts";
import type { RateQueue, RateSource } from "./rate-source.ts";

/** A rate that holds a call, or a pause of that rate. */
export interface RateHold {
  readonly reason: Reason;
  readonly rate: string;
  readonly leftMs: number;
}

/** The costs of a call, one for each rate, in the order of the rates. */
export type Costs = readonly number[];

/** For calls of a gate without rates, and calls that were charged nothing. */
export const NO_COSTS: Costs = [];

/**
 * The rates of one gate, by name. A call takes its cost from all of them at one instant, or nothing from
 * any. A pause of a rate holds only calls that cost something there.
 */
export class Rates {
  readonly names: readonly string[];
  readonly #sources: readonly RateSource[];
  readonly #pauses: readonly Pause[];
  readonly #unit: Costs;
  /** The names by their letters and digits: peers write `input-tokens` where a program has `inputTokens`. */
  readonly #namesByLetters: ReadonlyMap<string, string>;

  constructor(sources: ReadonlyMap<string, RateSource>) {
    this.names = [...sources.keys()];
    this.#sources = [...sources.values()];
    this.#pauses = this.#sources.map(() => new Pause());
    this.#unit = this.#sources.map(() => 1);
    this.#namesByLetters = new Map(this.names.map((name) => [lettersOf(name), name]));
  }

  /** The rate that a peer means by a name, without regard to case and hyphens; undefined if there is none. */
  nameLike(name: string): string | undefined {
    return this.#namesByLetters.get(lettersOf(name));
  }

  /** The cost of a call at each rate: what `cost` names, and the weight at every other rate. */
  costsOf(cost: Cost | undefined, weight: number): Costs {
    if (cost === undefined && weight === 1) return this.#unit;
    if (cost !== undefined) requireCost(cost, this.names);
    return this.names.map((name) => cost?.[name] ?? weight);
  }

  tryTake(costs: Costs, nowMs: number): boolean {
    // Asked before any is charged, so that giving back is the exception: another thread took the tokens.
    const sources = this.#sources;
    for (let i = 0; i < sources.length; i++) {
      const cost = costs[i] ?? 0;
      if (cost === 0) continue;
      if (this.#pauseOf(i).untilMs > nowMs) return false;
      const source = sources[i] as RateSource;
      if (sources.length > 1 && source.pauseMs(neededOf(source, cost), nowMs) > 0) return false;
    }
    for (let i = 0; i < sources.length; i++) {
      const cost = costs[i] ?? 0;
      if (cost === 0 || sources[i]?.tryTake(cost, nowMs) === true) continue;
      for (let taken = 0; taken < i; taken++) this.adjust(taken, -(costs[taken] ?? 0), nowMs);
      return false;
    }
    return true;
  }

  /** Charges (above 0) or gives back (below 0) tokens of the rate at `index`. */
  adjust(index: number, count: number, nowMs: number): void {
    if (count !== 0) this.#sources[index]?.adjust?.(count, nowMs);
  }

  /**
   * The rate or pause that holds a call longest, behind calls that cost `ahead` together; undefined if
   * none does.
   */
  hold(costs: Costs, ahead: Costs, nowMs: number): RateHold | undefined {
    let longest: RateHold | undefined;
    for (const [i, source] of this.#sources.entries()) {
      const cost = costs[i] ?? 0;
      if (cost === 0) continue;
      const rate = this.names[i] as string;
      const pausedMs = this.#pauseOf(i).leftMs(nowMs);
      const rateMs = source.pauseMs(neededOf(source, cost) + (ahead[i] ?? 0), nowMs);
      const leftMs = Math.max(pausedMs, rateMs);
      if (leftMs <= (longest?.leftMs ?? 0)) continue;
      longest = { reason: pausedMs >= rateMs ? "retry-after" : source.reason, rate, leftMs };
    }
    return longest;
  }

  /** The longest pause of a rate at which the call costs something, in ms. */
  pausedForMs(costs: Costs, nowMs: number): number {
    let pausedMs = 0;
    for (const [i, pause] of this.#pauses.entries())
      if ((costs[i] ?? 0) > 0) pausedMs = Math.max(pausedMs, pause.leftMs(nowMs));
    return pausedMs;
  }

  /** Pauses one rate; false if it is paused for at least as long already. */
  pause(rate: string, pauseMs: number, nowMs: number, random: Random): boolean {
    const i = this.names.indexOf(rate);
    if (!this.#pauseOf(i).extend(pauseMs, nowMs, random)) return false;
    // Without the jitter: that is for other processes, and would cost tokens here.
    this.#sources[i]?.onPaused?.(pauseMs, nowMs);
    return true;
  }

  /** Ends the pauses of all rates, or of one; whether one was on. */
  endPause(rate: string | undefined, nowMs: number): boolean {
    let wasOn = false;
    for (const [i, pause] of this.#pauses.entries()) {
      if ((rate !== undefined && this.names[i] !== rate) || !pause.end(nowMs)) continue;
      this.#sources[i]?.onResumed?.(nowMs);
      wasOn = true;
    }
    return wasOn;
  }

  /** A call of these costs was refused because of this rate. */
  onRefused(rate: string, costs: Costs): void {
    const i = this.names.indexOf(rate);
    this.#sources[i]?.onRefused?.(costs[i] ?? 0);
  }

  /** The rate for an error message: `rate tokens 200000/min`. */
  describe(rate: string): string {
    const text = this.#sources[this.names.indexOf(rate)]?.text;
    const name = rate === ONE_RATE ? ONE_RATE : `rate ${rate}`;
    return text === undefined ? name : `${name} ${text}`;
  }

  /** Whether a new gate would admit no more than the rates and pauses of this one. */
  isIdle(nowMs: number): boolean {
    return this.#sources.every(
      // A source that does not say was passed in, and outlives the gate.
      (source, i) => source.isFull?.(nowMs) !== false && nowMs >= this.#pauseOf(i).untilMs,
    );
  }

  /** Subscribes a queue to all rates; `isWaiting` is asked with the name of one. Answers how to stop. */
  subscribe(wake: () => void, isWaiting: (rate: string) => boolean): () => void {
    const ends = this.#sources.map((source, i) => {
      const queue: RateQueue = { wake, isWaiting: () => isWaiting(this.names[i] as string) };
      return source.subscribe?.(queue);
    });
    return () => {
      for (const end of ends) end?.();
    };
  }

  #pauseOf(index: number): Pause {
    return this.#pauses[index] as Pause;
  }
}

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^\da-z]/g, "");
}

/** The name of the rate that the option `rate` sets. */
export const ONE_RATE = "rate";

/** Tokens that must be there before a call of this cost starts. */
function neededOf({ countMax = Infinity }: RateSource, cost: number): number {
  return Math.min(cost, countMax);
}
