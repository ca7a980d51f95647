import { ConfigError } from "@sluice/core";
import { show } from "./settings-map.ts";
import type { SettingsMap } from "./settings-map.ts";

/** A key of a Kubernetes secret. */
export interface SecretRef {
  readonly name: string;
  readonly key: string;
  /** Whether it may be missing. */
  readonly optional?: boolean;
}

/** A secret as settings have it: the text itself, or where Kubernetes keeps it. */
export type SecretSetting = string | SecretRef;

/**
 * Reads what a reference refers to, for instance from where the secret is mounted; undefined if it
 * is not there.
 */
export type ReadSecret = (ref: SecretRef) => string | undefined;

/** The text of a secret, without the line end that files have. No error says what it is. */
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
