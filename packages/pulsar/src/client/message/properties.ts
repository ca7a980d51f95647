import { ConfigError } from "@sluice/core";
import type { KeyValue } from "../../wire/definition/key-value.ts";
import { requireOptions, shown } from "../check/arguments.ts";

/** Properties as the wire has them. */
export function keyValues(properties: Readonly<Record<string, string>>): KeyValue[] {
  requireOptions("properties", properties, '{ properties: { region: "eu" } }');
  return Object.entries(properties).map(([key, value]) => {
    if (typeof value !== "string")
      throw new ConfigError(
        `property "${key}" is ${shown(value)}; use a string, e.g. JSON.stringify(value)`,
      );
    return { key, value };
  });
}
