import type { Ramp, RampOptions } from "@sluice/core";
import type { CeilingOfEpoch, Usage } from "@sluice/core/internal";
import { EPOCH_MS, epochAt } from "../pacing/pacing.ts";

/** The ceiling of an epoch, and how the last epoch with a call was used. */
export interface EnteredEpoch extends CeilingOfEpoch {
  readonly usage: Usage;
}

/** The pool's ceiling as this member knows it. The first call of an epoch moves it. */
export class Ceiling {
  readonly #ramp: Ramp;
  readonly #onStep: (entered: EnteredEpoch) => void;
  #epoch: number | undefined;
  /** When the next epoch begins; before the first call any time is later. */
  #endMs: number = Number.NEGATIVE_INFINITY;
  #ceiling = 0;
  #untold: EnteredEpoch | undefined;
  #usage: Usage | undefined;

  constructor(ramp: Ramp, onStep: (entered: EnteredEpoch) => void) {
    this.#ramp = ramp;
    this.#onStep = onStep;
  }

  /** The epoch that was entered last; undefined before the first call. */
  get epoch(): number | undefined {
    return this.#epoch;
  }

  /** When the epoch that was entered last ends. */
  get endMs(): number {
    return this.#endMs;
  }

  /** Tokens a second; 0 before the first call. */
  get now(): number {
    return this.#ceiling;
  }

  /** As `now`, but before the first call what that call would find. */
  get shown(): number {
    return this.#epoch === undefined ? this.#ramp.ceiling : this.#ceiling;
  }

  /** What its ramp moves between. */
  get bounds(): Omit<RampOptions, "mode"> {
    return this.#ramp.bounds;
  }

  /**
   * `used ÷ (used + unused)` tokens, from 0 to 1, of the last epoch that is over. An empty share counts
   * as 1, so that a small pool can still ramp up.
   */
  get usage(): number | undefined {
    if (this.#usage === undefined) return undefined;
    const { used, unused } = this.#usage;
    return used + unused === 0 ? 1 : used / (used + unused);
  }

  /** The ramp has new bounds: they hold at once. */
  refresh(): void {
    if (this.#epoch !== undefined) this.#ceiling = this.#ramp.ceiling;
  }

  /** Whether a call now would be the first of its epoch. A clock that steps back enters no epoch. */
  isDue(atMs: number): boolean {
    return atMs >= this.#endMs;
  }

  /** The first call of an epoch has come. `usage` is that of the last epoch with a call. */
  enter(atMs: number, usage: Usage): void {
    const epoch = epochAt(atMs);
    const entered = this.#ramp.enter(epoch, usage);
    if (this.#epoch !== undefined) this.#usage = usage;
    this.#epoch = epoch;
    this.#endMs = (epoch + 1) * EPOCH_MS;
    this.#ceiling = entered.ceiling;
    this.#untold = { ...entered, usage };
  }

  /** Tells `onStep` of the epoch that was entered. Called once the shares are divided: `onStep` may take tokens. */
  tell(): void {
    const entered = this.#untold;
    if (entered === undefined) return;
    this.#untold = undefined;
    this.#onStep(entered);
  }
}
