import type { RampOptions } from "@sluice/core";
import type { RampModeOptions } from "@sluice/core/internal";
import * as v from "valibot";
import { duration, flag, map, whole } from "../file/fields.ts";

const percentage = whole(0, 100);

const modes = v.pipe(
  map({
    scheduled: v.optional(map({})),
    relaxed: v.optional(map({})),
    onlyIfUsed: v.optional(map({ thresholdPercentage: v.optional(percentage, 50) })),
    goBackN: v.optional(
      map({
        thresholdPercentage: v.optional(percentage, 50),
        coolDownPeriod: v.optional(duration(), "5s"),
        rampDownPercentage: v.optional(percentage, 50),
      }),
    ),
  }),
  v.check((given) => Object.keys(given).length <= 1, "has several modes; expected one of them"),
  v.transform(({ scheduled, onlyIfUsed, goBackN }): RampModeOptions => {
    if (scheduled) return { kind: "scheduled" };
    if (onlyIfUsed) return { kind: "onlyIfUsed", ...onlyIfUsed };
    if (!goBackN) return { kind: "relaxed" };
    const { coolDownPeriod: coolDownMs, ...percentages } = goBackN;
    return { kind: "goBackN", coolDownMs, ...percentages };
  }),
);

/**
 * Numaflow's `rateLimit` block: its names, its defaults, and checks that Numaflow does not make.
 */
export function rateLimit(): v.GenericSchema<unknown, RampOptions> {
  return v.pipe(
    map({
      max: whole(1),
      min: v.optional(whole(0), 1),
      rampUpDuration: v.optional(duration(), "1s"),
      modes: v.optional(modes, { relaxed: {} }),
      // Accepted without effect: a scenario resumes with resumeFrom.
      resumedRampUp: v.optional(flag()),
      ttl: v.optional(duration()),
    }),
    v.forward(
      v.partialCheck(
        [["min"], ["max"]],
        ({ min, max }) => min <= max,
        (issue) => `is more than max; expected at most ${issue.input.max}`,
      ),
      ["min"],
    ),
    v.transform(({ max, min, rampUpDuration: rampUpMs, modes: mode }) => ({
      max,
      min,
      rampUpMs,
      mode,
    })),
  );
}

/** `10 to 110 tokens a second`. */
export function rangeOf({ min, max }: RampOptions): string {
  return `${min === max ? max : `${min} to ${max}`} tokens a second`;
}
