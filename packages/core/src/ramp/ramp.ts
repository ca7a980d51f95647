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
  #rules: Rules;
  #level: Level;
  /** The last epoch that was entered; before the first call only scheduled mode has one. */
  #epoch: number | undefined;
  #hasStarted = false;

  constructor(options: RampOptions, start: RampStart) {
    requireNumber("resumeFrom", start.resumeFrom ?? 0, 0, COUNT_MAX);
    this.#rules = rulesOf(options);
    this.#level = levelAt(clamp(Math.trunc(start.resumeFrom ?? options.min), this.#rules.bounds));
    this.#epoch = this.#rules.isScheduled ? start.epoch : undefined;
  }

  /** The ceiling as it was when last entered, or where the ramp starts; asking moves nothing. */
  get ceiling(): number {
    return ceilingOf(this.#level, this.#rules.bounds);
  }

  /**
   * Scheduled mode counts from `epoch` and not from where it was made to, for a member that learns
   * the time of its pool later. After the first call it changes nothing.
   */
  countFrom(epoch: number): void {
    requireEpoch(epoch);
    if (this.#rules.isScheduled && !this.#hasStarted) this.#epoch = epoch;
  }

  /** What the ceiling would be if the first call of `epoch` came now. */
  peek(epoch: number, usage: Usage): CeilingOfEpoch {
    const { level, step } = this.#moveTo(epoch, usage);
    return { ceiling: ceilingOf(level, this.#rules.bounds), step };
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
    return { ceiling: this.ceiling, step };
  }

  /**
   * Goes on by other options from the present epoch on. The level stays where it is, in whole tokens
   * within the new bounds, and how the last epoch was used still counts. Only a ramp that is at its
   * `min` because no call has come yet follows `min`. With the same bounds the level is untouched,
   * fractions and all; options that are refused change nothing.
   */
  rebound(options: RampOptions, epoch: number): void {
    requireEpoch(epoch);
    const rules = rulesOf(options);
    const { bounds, isScheduled } = this.#rules;
    const isSame = areSame(rules.bounds, bounds);
    if (isSame && isScheduled && rules.isScheduled) return;
    this.#passTo(epoch);
    if (!isSame) {
      const isAtStart = !this.#hasStarted && this.ceiling === bounds.min;
      this.#level = levelAt(isAtStart ? rules.bounds.min : clamp(this.ceiling, rules.bounds));
    }
    this.#rules = rules;
    if (!this.#hasStarted) this.#epoch = undefined;
    if (rules.isScheduled) this.#epoch = Math.max(epoch, this.#epoch ?? epoch);
  }

  /**
   * The pool is further up: the level becomes at least `ceiling`, within the bounds, and never less
   * than it is. Given the epoch in which the pool was there, the step into it is not made twice.
   */
  raiseTo(ceiling: number, epoch?: number): void {
    invariant(ceiling >= 0, "a ceiling is not negative");
    if (epoch !== undefined) this.#passTo(epoch);
    const raised = clamp(Math.trunc(ceiling), this.#rules.bounds);
    if (raised <= this.ceiling) return;
    this.#level = levelAt(raised);
    // Before the first call there is no step to leave out.
    if (epoch === undefined || this.#epoch === undefined) return;
    this.#epoch = Math.max(epoch, this.#epoch);
  }

  /** In scheduled mode epochs count without a call. */
  #passTo(epoch: number): void {
    requireEpoch(epoch);
    if (!this.#rules.isScheduled) return;
    this.#level = this.#moveTo(epoch, { used: 0, unused: 0 }).level;
    this.#epoch = Math.max(epoch, this.#epoch ?? epoch);
  }

  #moveTo(epoch: number, usage: Usage): Move {
    requireEpoch(epoch);
    const epochsPassed = epoch - (this.#epoch ?? epoch);
    const idle = this.#hasStarted ? "hold" : "start";
    if (epochsPassed <= 0) return { level: this.#level, step: idle };
    const { bounds, move } = this.#rules;
    return move({ level: this.#level, bounds, epochsPassed, usage });
  }
}

/** Options that were checked. */
interface Rules {
  readonly bounds: RampBounds;
  readonly isScheduled: boolean;
  readonly move: RampMode;
}

function rulesOf(options: RampOptions): Rules {
  const { max, min, rampUpMs, mode } = options;
  requireWhole("max", max, 1);
  requireWhole("min", min, 0, max);
  requireDuration("rampUpMs", rampUpMs);
  return {
    bounds: { min, max, rampUpMs: Math.round(rampUpMs) },
    isScheduled: mode.kind === "scheduled",
    move: modeOf(mode),
  };
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

function areSame(a: RampBounds, b: RampBounds): boolean {
  return a.min === b.min && a.max === b.max && a.rampUpMs === b.rampUpMs;
}

function requireEpoch(epoch: number): void {
  invariant(Number.isInteger(epoch), "an epoch is a whole number of seconds");
}
