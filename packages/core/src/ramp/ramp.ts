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
  /** When the ceiling moves: by the clock, in epochs with a call, or only if it was used. */
  readonly mode: RampModeOptions;
}

export interface RampStart {
  /** The epoch in which the ramp is created; scheduled mode counts from here. */
  readonly epoch: number;
  /**
   * Ceiling of a predecessor to continue from.
   * @default `min`
   */
  readonly resumeFrom?: number;
}

export interface CeilingOfEpoch {
  /** Tokens the whole pool may use in this epoch. */
  readonly ceiling: number;
  readonly step: RampStep;
}

/**
 * Moves a pool's ceiling between `min` and `max`, with one decision per epoch. An epoch is a second;
 * only epochs with a call count, except in scheduled mode, which runs from the start.
 *
 * The first call gets the level that the ramp starts from. Always min ≤ ceiling ≤ max.
 *
 * @example
 * const mode = { kind: "relaxed" } as const;
 * const ramp = new Ramp({ min: 10, max: 100, rampUpMs: 60_000, mode }, { epoch: 0 });
 * ramp.enter(0, { used: 0, unused: 10 }); // { ceiling: 10, step: "start" }
 * ramp.enter(1, { used: 10, unused: 0 }); // { ceiling: 11, step: "up" }
 */
export class Ramp {
  #rules: Rules;
  #level: Level;
  /** The last epoch that was entered; before the first call only scheduled mode has a value. */
  #epoch: number | undefined;
  #hasStarted = false;

  constructor(options: RampOptions, start: RampStart) {
    requireGiven("options", options);
    requireGiven("start", start);
    requireNumber("resumeFrom", start.resumeFrom ?? 0, 0, COUNT_MAX);
    this.#rules = rulesOf(options);
    this.#level = levelAt(clamp(Math.trunc(start.resumeFrom ?? options.min), this.#rules.bounds));
    this.#epoch = this.#rules.isScheduled ? start.epoch : undefined;
  }

  /** The ceiling of the last epoch that was entered, or the start of the ramp. */
  get ceiling(): number {
    return ceilingOf(this.#level, this.#rules.bounds);
  }

  /** The bounds that hold now. */
  get bounds(): RampBounds {
    return this.#rules.bounds;
  }

  /**
   * Makes scheduled mode count from `epoch` instead of `RampStart.epoch`, for a member that learns
   * the time of its pool after the ramp was created. After the first call it changes nothing.
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
   * Replaces the options from the present epoch on. The level keeps its whole tokens, within the new
   * bounds, and the usage of the last epoch still counts. A ramp at its `min` that has had no call
   * follows the new `min`. With the same bounds the level keeps its fraction too. Options that are
   * refused change nothing.
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
   * Raises the level to `ceiling`, within the bounds, because the pool is further up; never lowers
   * it. With the epoch in which the pool had this ceiling, the step into that epoch is not repeated.
   */
  raiseTo(ceiling: number, epoch?: number): void {
    invariant(ceiling >= 0, `ceiling of Ramp.raiseTo is ${ceiling}; use a number from 0 up`);
    if (epoch !== undefined) this.#passTo(epoch);
    const raised = clamp(Math.trunc(ceiling), this.#rules.bounds);
    if (raised <= this.ceiling) return;
    this.#level = levelAt(raised);
    // Before the first call there is no step to skip.
    if (epoch === undefined || this.#epoch === undefined) return;
    this.#epoch = Math.max(epoch, this.#epoch);
  }

  /** In scheduled mode epochs count without a call, so the level moves here as well. */
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

/** Refuses what plain JavaScript can leave out, with an example. */
function requireGiven(name: "options" | "start" | "mode", given: unknown): void {
  if (given !== undefined && given !== null) return;
  const mode = `{ kind: "relaxed" }`;
  const example = `new Ramp({ min: 10, max: 100, rampUpMs: 60_000, mode: ${mode} }, { epoch: 0 })`;
  throw new ConfigError(`a ramp has no ${name}; use for instance ${example}`);
}

/** Checked options. */
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
  requireGiven("mode", mode);
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
      throw new ConfigError(
        `mode.kind is ${String((options as { kind: unknown }).kind)}; it must be scheduled, relaxed, onlyIfUsed or goBackN`,
      );
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
  invariant(Number.isInteger(epoch), `epoch is ${epoch}; use a whole number of seconds`);
}
