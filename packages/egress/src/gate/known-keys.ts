import { ConfigError } from "@sluice/core";

/** Refuses settings with a key that `known` does not have: it may be misspelt. */
export function requireKnownKeys(what: string, settings: object, known: ReadonlySet<string>): void {
  for (const key in settings)
    if (!known.has(key)) throw new ConfigError(`${what} has no option "${key}"`);
}
