import { inspect } from "node:util";
import { ConfigError } from "@sluice/core";
import { show } from "./settings-map.ts";
import type { SettingsMap } from "./settings-map.ts";

/**
 * A secret text that does not show itself: `console.log`, `util.inspect`, `JSON.stringify` and a
 * template string give `***`.
 *
 * @example
 * const settings = readRateLimit(block);
 * if (settings.store?.kind === "redis" && settings.store.mode === "single")
 *   connect(settings.store.url.reveal());
 */
export class Secret {
  readonly #text: string;
  readonly #shown: string;

  /** `shown`: the text with its secret parts replaced. */
  constructor(text: string, shown: string = HIDDEN) {
    this.#text = text;
    this.#shown = shown;
    Object.defineProperty(this, inspect.custom, { value: () => shown });
  }

  /** The text itself, for opening a connection. Not for a log. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return this.#shown;
  }

  toJSON(): string {
    return this.#shown;
  }
}

const HIDDEN = "***";

/** A key of a Kubernetes secret. */
export interface SecretRef {
  readonly name: string;
  readonly key: string;
  /** Whether the key may be missing. @default false */
  readonly optional?: boolean;
}

/** A secret in settings: the text itself, or a reference to a key of a Kubernetes secret. */
export type SecretSetting = string | SecretRef;

/** Reads a referenced secret, for instance from the volume it is mounted at; undefined if missing. */
export type ReadSecret = (ref: SecretRef) => string | undefined;

/** The text of a secret, without white space at its ends: files end with a line break. No error shows it. */
export function readSecretText(
  map: SettingsMap,
  key: string,
  readSecret: ReadSecret | undefined,
): string | undefined {
  const value = map.get(key);
  if (value === undefined) return undefined;
  if (typeof value === "string") return requireText(value, map.at(key));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ConfigError(`${map.at(key)} must be a text or a reference { name, key }`);
  }
  const ref = readRef(map, key);
  const place = `${map.at(key)} refers to the key ${show(ref.key)} of the secret ${show(ref.name)}`;
  if (readSecret === undefined) {
    throw new ConfigError(
      `${place}, which is read by Kubernetes only; pass readSecret to read it here, or write the text itself`,
    );
  }
  const text = callReader(readSecret, ref, place);
  if (text === undefined) {
    if (ref.optional === true) return undefined;
    throw new ConfigError(`${place}, which readSecret does not find`);
  }
  if (typeof text !== "string") throw new ConfigError(`${place}; readSecret must return its text`);
  return requireText(text, map.at(key));
}

function readRef(map: SettingsMap, key: string): SecretRef {
  const ref = map.map(key, ["name", "key", "optional"], {});
  const name = ref?.text("name");
  const keyInSecret = ref?.text("key");
  if (name === undefined || keyInSecret === undefined) {
    throw new ConfigError(
      `${map.at(key)} has no ${name === undefined ? "name" : "key"}; it must be a reference { name, key }`,
    );
  }
  return { name, key: keyInSecret, optional: ref?.flag("optional") ?? false };
}

function callReader(readSecret: ReadSecret, ref: SecretRef, place: string): string | undefined {
  try {
    return readSecret(ref);
  } catch (cause) {
    throw new ConfigError(`${place}, which readSecret fails to read`, undefined, { cause });
  }
}

function requireText(text: string, place: string): string {
  const trimmed = text.trim();
  if (trimmed !== "") return trimmed;
  throw new ConfigError(`${place} is empty; it must be a text or a reference { name, key }`);
}
