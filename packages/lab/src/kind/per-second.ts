import * as v from "valibot";
import { field, list, real } from "../file/fields.ts";

/** Seconds of traffic in a list. */
const SECONDS_MAX = 100_000;

/** Amounts second by second, from the first on: `[0, 100, 250]`. */
export function perSecondList<T extends number>(
  amount: v.GenericSchema<unknown, T>,
): v.GenericSchema<unknown, T[]> {
  return v.pipe(
    list(amount, SECONDS_MAX, "a list with the amount of each second, such as [0, 100, 250]"),
    v.minLength(1, "is empty; expected the amount of one second at least"),
  );
}

/** A rate that holds for the whole run, or one for each second. */
export function rateOrList(max: number): v.GenericSchema<unknown, number | number[]> {
  const one: v.GenericSchema<unknown, number> = field<number>(
    (value) => typeof value === "number" && value >= 0.001 && value <= max,
    `a number from 0.001 to ${max}, or a list with the rate of each second`,
  );
  const each = perSecondList(real(0, max));
  return v.lazy((value): v.GenericSchema<unknown, number | number[]> =>
    Array.isArray(value) ? each : one,
  );
}
