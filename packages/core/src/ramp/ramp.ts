import {
  ConfigError,
  COUNT_MAX,
  invariant,
  requireDuration,
  requireNumber,
  requireWhole,
} from "../errors.ts";
import { goBackN } from "./go-back-n.ts";
import type { GoBackNOptions } from "./go-back-n.ts";
import { ceilingOf, levelAt } from "./level.ts";
import type { Level, RampBounds } from "./level.ts";
import type { Move, RampMode, RampStep, Usage } from "./mode.ts";
import { onlyIfUsed } from "./only-if-used.ts";
import type { OnlyIfUsedOptions } from "./only-if-used.ts";
import { relaxed } from "./relaxed.ts";
import { scheduled } from "./scheduled.ts";

export type RampModeOptions =
  | { readonly kind: "scheduled" }
  | { readonly kind: "relaxed" }
  | ({ readonly kind: "onlyIfUsed" } & OnlyIfUsedOptions)
  | ({ readonly kind: "goBackN" } & GoBackNOptions);

export interface RampOptions extends RampBounds {
  readonly mode: RampModeOptions;
}

export interface RampStart {
  /** The epoch in which the ramp is made; scheduled mode counts from here. */
  readonly epoch: number;
  /** A ceiling left by a predecessor, to go on from instead of `min`. */
  readonly resumeFrom?: number;
}

export interface CeilingOfEpoch {
  /** Tokens the whole pool may use in this epoch. */
  readonly ceiling: number;
  readonly step: RampStep;
}

/**
 * The way a pool's ceiling moves between `min` and `max`, one decision an epoch. An epoch is a
 * second; only those with a call count, except in scheduled mode, which runs from the start.
 *
 * The first call gets the level the ramp starts from. Always min ≤ ceiling ≤ max.
 */
export class Ramp {
  readonly #bounds: RampBounds;
  readonly #mode: RampMode;
  #level: Level;
  /** The last epoch that was entered; before the first call only scheduled mode has one. */
  #epoch: number | undefined;
  #hasStarted = false;

  constructor(options: RampOptions, start: RampStart) {
    requireWhole("max", options.max, 1);
    requireWhole("min", options.min, 0, options.max);
    requireDuration("rampUpMs", options.rampUpMs);
    requireNumber("resumeFrom", start.resumeFrom ?? 0, 0, COUNT_MAX);
    this.#bounds = { min: options.min, max: options.max, rampUpMs: Math.round(options.rampUpMs) };
    this.#mode = modeOf(options.mode);
    this.#level = levelAt(clamp(Math.trunc(start.resumeFrom ?? options.min), this.#bounds));
    this.#epoch = options.mode.kind === "scheduled" ? start.epoch : undefined;
  }

  /** What the ceiling would be if the first call of `epoch` came now. */
  peek(epoch: number, usage: Usage): CeilingOfEpoch {
    const { level, step } = this.#moveTo(epoch, usage);
    return { ceiling: ceilingOf(level, this.#bounds), step };
  }

  /**
   * Moves to `epoch` because a call came. `usage` is that of the last epoch that was entered. An
   * epoch that was entered already, or has passed, changes nothing: a clock may step back.
   */
  enter(epoch: number, usage: Usage): CeilingOfEpoch {
    const { level, step } = this.#moveTo(epoch, usage);
    this.#level = level;
    this.#epoch = Math.max(epoch, this.#epoch ?? epoch);
    this.#hasStarted = true;
    return { ceiling: ceilingOf(level, this.#bounds), step };
  }

  #moveTo(epoch: number, usage: Usage): Move {
    invariant(Number.isInteger(epoch), "an epoch is a whole number of seconds");
    const epochsPassed = epoch - (this.#epoch ?? epoch);
    const idle = this.#hasStarted ? "hold" : "start";
    if (epochsPassed <= 0) return { level: this.#level, step: idle };
    return this.#mode({ level: this.#level, bounds: this.#bounds, epochsPassed, usage });
  }
}

function modeOf(options: RampModeOptions): RampMode {
  switch (options.kind) {
    case "scheduled":
      return scheduled;
    case "relaxed":
      return relaxed;
    case "onlyIfUsed":
      requirePercentage("thresholdPercentage", options.thresholdPercentage);
      return onlyIfUsed(options);
    case "goBackN":
      requirePercentage("thresholdPercentage", options.thresholdPercentage);
      requirePercentage("rampDownPercentage", options.rampDownPercentage);
      requireDuration("coolDownMs", options.coolDownMs);
      return goBackN(options);
    default:
      options satisfies never;
      throw new ConfigError("a ramp has one of its four modes");
  }
}

function requirePercentage(name: string, value: number): void {
  requireWhole(name, value, 0, 100);
}

function clamp(value: number, { min, max }: RampBounds): number {
  return Math.min(max, Math.max(min, value));
}
