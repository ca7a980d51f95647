import { LIMIT_MAX } from "@sluice/core/internal";
import type { Recovery } from "@sluice/core/internal";
import * as v from "valibot";
import { field, map, real } from "../scenario/fields.ts";

/** Growth of a limit under the rules `table` and `prose`, by a factor or a constant. */
export function recovery(): v.GenericSchema<unknown, Recovery> {
  const either = field<never>(() => false, "{ rate: 3 } or { value: 200 }");
  return v.lazy((value): v.GenericSchema<unknown, Recovery> => {
    if (typeof value !== "object" || value === null) return either;
    if ("rate" in value) return map({ rate: real(0, LIMIT_MAX) });
    return "value" in value ? map({ value: real(0, LIMIT_MAX) }) : either;
  });
}
