import { ConfigError } from "@sluice/core";
import { readRateLimit } from "@sluice/fleet";
import type { RateLimitBlock } from "@sluice/fleet";
import { described, durationText, flag, map, whole } from "@sluice/lab/file";
import * as v from "valibot";

/** A block whose missing fields come from the pipeline. */
export type PartialRateLimit = Partial<RateLimitBlock>;

const percentage = whole(0, 100);

const modes = v.pipe(
  map({
    scheduled: v.optional(described(map({}), "The ceiling grows with time, used or not.")),
    relaxed: v.optional(
      described(map({}), "The ceiling grows in every second that has a call. The default."),
    ),
    onlyIfUsed: v.optional(
      described(
        map({ thresholdPercentage: v.optional(percentage) }),
        "The ceiling grows only if the share was used beyond the threshold.",
      ),
    ),
    goBackN: v.optional(
      described(
        map({
          thresholdPercentage: v.optional(percentage),
          coolDownPeriod: v.optional(durationText()),
          rampDownPercentage: v.optional(percentage),
        }),
        "As onlyIfUsed, and the ceiling falls while the share is not used.",
      ),
    ),
  }),
  v.check(
    (given) => Object.keys(given).length <= 1,
    ({ input }) => `has ${Object.keys(input).join(" and ")}; expected one mode`,
  ),
);

/** The message of the reader; it shows no URL, which may hold a password. */
const store = v.pipe(
  v.custom<NonNullable<RateLimitBlock["store"]>>(
    (value) => storeMistake(value) === undefined,
    ({ input }) => `cannot be used: ${storeMistake(input)}; expected inMemoryStore or redisStore`,
  ),
  v.metadata({ jsonSchema: { type: "object" } }),
);

/** Numaflow's `rateLimit`, verbatim. Which fields are required is decided after inheritance. */
export const rateLimitField: v.GenericSchema<unknown, PartialRateLimit> = map({
  max: v.optional(
    described(
      whole(1),
      "Messages a second that all replicas read together, at the top of the ramp.",
    ),
  ),
  min: v.optional(described(whole(0), "Messages a second where the ramp starts. Default: 1.")),
  rampUpDuration: v.optional(
    described(durationText(), "How long the ramp takes from min to max. Default: 1s."),
  ),
  modes: v.optional(described(modes, "How the ramp moves. Default: relaxed.")),
  resumedRampUp: v.optional(
    described(flag(), "Whether a pool that was gone for less than resumeTtl goes on where it was."),
  ),
  resumeTtl: v.optional(
    described(durationText(), "How long a level is remembered. Default: 180s."),
  ),
  ttl: v.optional(described(durationText(), "Numaflow's name for resumeTtl.")),
  store: v.optional(
    described(store, "Numaflow's store of this limit alone. Default: the store of the flow file."),
  ),
}) as v.GenericSchema<unknown, PartialRateLimit>;

function storeMistake(value: unknown): string | undefined {
  try {
    readRateLimit({ max: 1, store: value }, { readSecret: () => "" });
    return undefined;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.replace(/^rateLimit\./, "");
  }
}
