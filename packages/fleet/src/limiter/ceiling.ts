import type { Ramp } from "@sluice/core";
import type { CeilingOfEpoch, Usage } from "@sluice/core/internal";
import { EPOCH_MS, epochAt } from "./pacing.ts";

/** A ceiling that the first call of an epoch found, and how the last epoch with a call was used. */
export interface EnteredEpoch extends CeilingOfEpoch {
  readonly usage: Usage;
}

/** The pool's ceiling, which the first call of an epoch moves. */
export class Ceiling {
  readonly #ramp: Ramp;
  readonly #onStep: (entered: EnteredEpoch) => void;
  #epoch: number | undefined;
  /** When the next epoch begins; any time is later than before the first call. */
  #endMs: number = Number.NEGATIVE_INFINITY;
  #ceiling = 0;
  #untold: EnteredEpoch | undefined;
  #usage: Usage | undefined;

  constructor(ramp: Ramp, onStep: (entered: EnteredEpoch) => void) {
    this.#ramp = ramp;
    this.#onStep = onStep;
  }

  /** The last one that was entered; undefined before the first call. */
  get epoch(): number | undefined {
    return this.#epoch;
  }

  /** When the epoch that was entered last ends. */
  get endMs(): number {
    return this.#endMs;
  }

  /** 0 before the first call. */
  get now(): number {
    return this.#ceiling;
  }

  /** What the first call would find, before it comes. */
  get shown(): number {
    return this.#epoch === undefined ? this.#ramp.ceiling : this.#ceiling;
  }

  /** The used part, from 0 to 1, of what could be handed out in the last epoch that is over. */
  get utilisation(): number | undefined {
    if (this.#usage === undefined) return undefined;
    const { used, unused } = this.#usage;
    return used + unused === 0 ? 1 : used / (used + unused);
  }

  /** The ramp was given other bounds: they hold from now on. */
  refresh(): void {
    if (this.#epoch !== undefined) this.#ceiling = this.#ramp.ceiling;
  }

  /** Whether a call now would be the first of its epoch. A time that steps back enters nothing. */
  isDue(atMs: number): boolean {
    return atMs >= this.#endMs;
  }

  /** The first call of an epoch has come. `usage` tells of the last one that had a call. */
  enter(atMs: number, usage: Usage): void {
    const epoch = epochAt(atMs);
    const entered = this.#ramp.enter(epoch, usage);
    if (this.#epoch !== undefined) this.#usage = usage;
    this.#epoch = epoch;
    this.#endMs = (epoch + 1) * EPOCH_MS;
    this.#ceiling = entered.ceiling;
    this.#untold = { ...entered, usage };
  }

  /** Tells of the epoch that was entered. After the shares have followed: who is told may ask for tokens. */
  tell(): void {
    const entered = this.#untold;
    if (entered === undefined) return;
    this.#untold = undefined;
    this.#onStep(entered);
  }
}
