import { parseGroupPattern, parseTopicName } from "@sluice/gateway/internal";
import { field, limits } from "@sluice/lab/file";
import type { LimitsBlock } from "@sluice/lab/file";
import type * as v from "valibot";
import { parsedBy } from "./parsed-by.ts";

/** `gateway.limits`. */
export const limitsField: v.GenericSchema<unknown, LimitsBlock> = limits({
  topic: field<string>(
    isTopic,
    'one topic, such as "orders" or "public/default/orders", without a partition; a pattern belongs into groups',
  ),
  pattern: parsedBy(
    (pattern) => parseGroupPattern("topics", pattern),
    'a pattern of topics such as "public/analytics/*", a namespace or a tenant',
  ),
});

function isTopic(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    return !value.includes("*") && parseTopicName(value).partition === undefined;
  } catch {
    return false;
  }
}
