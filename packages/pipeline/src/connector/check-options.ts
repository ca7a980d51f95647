import { ConfigError } from "@sluice/core";
import { requireKnownKeys } from "@sluice/core/internal";
import type { Format } from "./format.ts";

/** Characters of a wrong value that an error shows. */
const SHOWN_MAX = 40;
const FORMATS: readonly Format[] = ["bytes", "text", "json"];

/** Refuses options that are no object, and keys that `what` does not have; `example` is a right call. */
export function requireOptions(
  what: string,
  options: unknown,
  { known, example }: { readonly known: readonly string[]; readonly example: string },
): void {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new ConfigError(`the options of ${what} are ${shown(options)}; write ${example}`);
  requireKnownKeys(what, options, new Set(known));
}

/** Refuses a value that is not a text with at least one character. */
export function requireText(name: string, value: unknown, example: string): void {
  if (typeof value === "string" && value !== "") return;
  throw new ConfigError(
    `${name} is ${shown(value)}; use a text that is not empty, e.g. ${JSON.stringify(example)}`,
  );
}

export function requireFlag(name: string, value: unknown): void {
  if (typeof value === "boolean") return;
  throw new ConfigError(`${name} is ${shown(value)}; use true or false`);
}

/** Refuses a value that is none of the texts. */
export function requireOneOf(name: string, value: unknown, choices: readonly string[]): void {
  if (typeof value === "string" && choices.includes(value)) return;
  throw new ConfigError(`${name} is ${shown(value)}; use one of ${choices.join(", ")}`);
}

export function requireFormat(what: string, value: unknown): void {
  requireOneOf(`format of ${what}`, value, FORMATS);
}

/** A wrong value for an error, short and in one line. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, SHOWN_MAX));
  if (value === null || value === undefined) return String(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
