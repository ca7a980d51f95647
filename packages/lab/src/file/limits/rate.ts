import * as v from "valibot";
import { map, perSecond } from "../fields.ts";

/** A limit per second. */
export interface RateBlock {
  readonly messages?: number | undefined;
  readonly bytes?: number | undefined;
}

type OptionalRate = v.OptionalSchema<v.GenericSchema<unknown, number>, undefined>;

/** The keys of a limit. */
export const rates: Readonly<Record<"messages" | "bytes", OptionalRate>> = {
  messages: v.optional(perSecond("messages")),
  bytes: v.optional(perSecond("bytes")),
};

/** A limit; at least one rate. */
export function rateBlock(): v.GenericSchema<unknown, RateBlock> {
  return withRate(map(rates));
}

/** A schema with the keys of a limit, at least one of which must be given. */
export function withRate<T extends RateBlock>(
  schema: v.GenericSchema<unknown, T>,
): v.GenericSchema<unknown, T> {
  return v.pipe(
    schema,
    v.check(
      ({ messages, bytes }) => messages !== undefined || bytes !== undefined,
      "has no rate; add messages, such as 1000/s, or bytes, such as 10MB/s",
    ),
  );
}
