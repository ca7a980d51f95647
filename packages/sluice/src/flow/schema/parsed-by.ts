import { ConfigError } from "@sluice/core";
import { field } from "@sluice/lab/file";
import type * as v from "valibot";

/** Text that a parser of the broker takes. */
export function parsedBy(
  parse: (text: string) => unknown,
  expected: string,
): v.GenericSchema<string> {
  return field<string>((value) => typeof value === "string" && isTaken(parse, value), expected, {
    type: "string",
  });
}

function isTaken(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text);
    return true;
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}
