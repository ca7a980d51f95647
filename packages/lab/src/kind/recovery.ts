import { ConfigError } from "@sluice/core";
import { DOCUMENT_LIMIT_MAX, proseRule, tableRule } from "@sluice/core/internal";
import type { Recovery, BusyRule } from "@sluice/core/internal";
import * as v from "valibot";
import { field, map, real } from "../file/fields.ts";
import type { Problem } from "../file/problem.ts";

/**
 * How the rules `table` and `prose` grow a limit each second: to `factor` times itself, or by `value`
 * requests per second. `rate` is TChannel's word, which its tables and its text use differently: rate 3
 * is a factor of 4 under `table` and of 3 under `prose`.
 */
export type RecoverySetting = Recovery | { readonly rate: number };

export function recovery(): v.GenericSchema<unknown, RecoverySetting> {
  const either = field<never>(() => false, "{ rate: 3 } or { value: 200 } or { factor: 4 }");
  return v.lazy((value): v.GenericSchema<unknown, RecoverySetting> => {
    if (typeof value !== "object" || value === null) return either;
    if ("rate" in value) return map({ rate: real(0, DOCUMENT_LIMIT_MAX - 1) });
    if ("factor" in value) return map({ factor: real(0, DOCUMENT_LIMIT_MAX) });
    return "value" in value ? map({ value: real(0, DOCUMENT_LIMIT_MAX) }) : either;
  });
}

type DocumentRule = "table" | "prose";

export function recoveryOf(rule: DocumentRule, recover: RecoverySetting): Recovery {
  if (!("rate" in recover)) return recover;
  return { factor: rule === "table" ? 1 + recover.rate : recover.rate };
}

export function busyRuleOf(rule: DocumentRule, recover: RecoverySetting): BusyRule {
  const create = rule === "table" ? tableRule : proseRule;
  return create(recoveryOf(rule, recover));
}

/** A limit that does not grow never recovers. */
export function problemsOfRecovery(
  rule: DocumentRule | "sluice",
  recover: RecoverySetting,
): Problem[] {
  if (rule === "sluice") return [];
  try {
    busyRuleOf(rule, recover);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const [key, value] = Object.entries(recover)[0] as [string, number];
    const [least, example] = leastOf(key, rule);
    const message = `is ${value}, too little for a limit to recover; expected at least ${least}, such as ${example}`;
    return [{ path: ["recover", key], message, isMissing: false }];
  }
}

/** The least growth that core's rules accept, and a usual one. */
function leastOf(key: string, rule: DocumentRule): [number, number] {
  if (key === "value") return [0.01, 200];
  return [key === "rate" && rule === "table" ? 0.01 : 1.01, 3];
}
