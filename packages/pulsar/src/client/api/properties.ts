import { ConfigError } from "@sluice/core";
import type { KeyValue } from "../../wire/definition/key-value.ts";

/** A user's properties as the wire has them. */
export function keyValues(properties: Readonly<Record<string, string>>): KeyValue[] {
  return Object.entries(properties).map(([key, value]) => {
    if (typeof value !== "string") throw new ConfigError(`property "${key}" must be a string`);
    return { key, value };
  });
}
