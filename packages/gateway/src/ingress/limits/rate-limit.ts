import { ConfigError } from "@sluice/core";
import { requireKnownKeys, requireWhole } from "@sluice/core/internal";

/** A limit of publishing per second, in whole messages, whole bytes, or both. */
export interface RateLimit {
  readonly messages?: number | undefined;
  readonly bytes?: number | undefined;
}

/**
 * What a limit is set for. A limit of a namespace, and the default, give each of their topics a rate of
 * its own; a group and the broker have one rate for all their topics together.
 */
export type LimitTarget =
  | { readonly level: "broker" }
  | { readonly level: "group"; readonly name: string }
  /** "tenant/namespace". */
  | { readonly level: "namespace"; readonly name: string }
  /** Any form of a topic's name; all its partitions share the limit. */
  | { readonly level: "topic"; readonly name: string }
  | { readonly level: "default" };

/** As a limit that is set: none, where a namespace or the default would give one. */
export const UNLIMITED: RateLimit = Object.freeze({});

const KEYS: ReadonlySet<string> = new Set(["messages", "bytes"]);

/** The limit as it was given, checked; `where` names it in errors. */
export function requireRateLimit(where: string, given: RateLimit): RateLimit {
  if (given === UNLIMITED) return given;
  requireKnownKeys(where, given, KEYS);
  const { messages, bytes } = given;
  if (messages === undefined && bytes === undefined)
    throw new ConfigError(
      `${where} has neither messages nor bytes; give one, such as { messages: 1000 }, or remove the limit`,
    );
  requireRate(`${where}.messages`, messages);
  requireRate(`${where}.bytes`, bytes);
  return { messages, bytes };
}

function requireRate(where: string, rate: number | undefined): void {
  if (rate === undefined) return;
  if (rate === 0 || rate === -1)
    throw new ConfigError(
      `${where} is ${rate}; it must be a whole number per second from 1, or absent for no limit`,
    );
  requireWhole(where, rate, 1);
}
