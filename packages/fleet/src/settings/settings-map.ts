import { ConfigError } from "@sluice/core";
import {
  parseDurationMs,
  COUNT_MAX,
  DURATION_MAX_MS,
  nearest,
  wholeText,
} from "@sluice/core/internal";

/** Characters of a wrong value that an error shows. */
const SHOWN_MAX = 40;

/** A length of time: "60s", "1m30s" or "500ms" as Go writes it, or a number of milliseconds. */
export type DurationSetting = string | number;

export interface SettingsMapOptions {
  /** Whether a key may also be written in snake case: `master_name` for `masterName`. @default false */
  readonly isSnakeCaseKnown?: boolean;
  /** Values that are allowed but unlikely to be intended add a line here. */
  readonly warnings?: string[];
}

/**
 * Reads a map of settings of unknown content. Anything wrong is a ConfigError that names the path of
 * the setting. A key whose value is undefined counts as missing.
 */
export class SettingsMap {
  readonly #path: string;
  readonly #options: SettingsMapOptions;
  readonly #values: ReadonlyMap<string, unknown>;
  /** Each key as the settings spell it. */
  readonly #spelled = new Map<string, string>();

  constructor(
    value: unknown,
    { path, known }: { readonly path: string; readonly known: readonly string[] },
    options: SettingsMapOptions = {},
  ) {
    this.#path = path;
    this.#options = options;
    this.#values = this.#read(value, known);
  }

  /** The keys that the settings have, in their canonical spelling. */
  get keys(): readonly string[] {
    return [...this.#values.keys()];
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  get(key: string): unknown {
    return this.#values.get(key);
  }

  /** The path of a key, in the spelling of the settings. */
  at(key: string): string {
    const spelled = this.#spelled.get(key) ?? key;
    return this.#path === "" ? spelled : `${this.#path}.${spelled}`;
  }

  /** The error for a key with a wrong value. */
  error(key: string, expected: string): ConfigError {
    return new ConfigError(`${this.at(key)} is ${show(this.get(key))}; it must be ${expected}`);
  }

  whole(key: string, min: number, max: number = COUNT_MAX): number | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max)
      return value;
    throw this.error(key, wholeText(value, min, max));
  }

  /** In whole milliseconds, rounded. */
  durationMs(key: string, minMs: number = 0): number | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    const ms = typeof value === "string" ? parseDurationMs(value) : value;
    const isDuration = typeof ms === "number" && ms >= 0 && ms <= DURATION_MAX_MS;
    if (!isDuration) {
      throw this.error(key, 'a duration such as "60s", "1m30s" or "500ms", or milliseconds');
    }
    if (Math.round(ms) < minMs) throw this.error(key, `a duration of at least ${minMs} ms`);
    if (ms === value && ms > 0 && ms < 1000) {
      const doubt = `${this.at(key)} is ${ms}, which is taken as milliseconds`;
      this.#options.warnings?.push(`${doubt}; if seconds are meant, write "${ms}s"`);
    }
    return Math.round(ms);
  }

  flag(key: string): boolean | undefined {
    const value = this.get(key);
    if (value === undefined || typeof value === "boolean") return value;
    throw this.error(key, "true or false");
  }

  /** Text of at least one character. */
  text(key: string): string | undefined {
    const value = this.get(key);
    if (value === undefined || (typeof value === "string" && value !== "")) return value;
    throw this.error(key, "a text that is not empty");
  }

  oneOf<const T extends string>(key: string, words: readonly T[]): T | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    const found = words.find((word) => word === value);
    if (found !== undefined) return found;
    const near = typeof value === "string" ? nearest(value, words) : undefined;
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
    throw this.error(key, `${inWords(words, "or")}${hint}`);
  }

  map(
    key: string,
    known: readonly string[],
    options: SettingsMapOptions = this.#options,
  ): SettingsMap | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    return new SettingsMap(value, { path: this.at(key), known }, options);
  }

  #read(value: unknown, known: readonly string[]): ReadonlyMap<string, unknown> {
    const entries = entriesOf(value);
    if (entries === undefined) {
      const keys =
        known.length === 0 ? "an empty map, {}" : `a map with keys of ${known.join(", ")}`;
      // Text in the place of a map may be a secret.
      const what = typeof value === "string" ? "a text" : show(value);
      throw new ConfigError(`${this.#path || "the settings"} is ${what}; it must be ${keys}`);
    }
    const values = new Map<string, unknown>();
    for (const [spelled, each] of entries) {
      const key = this.#keyOf(spelled, known);
      const other = this.#spelled.get(key);
      if (other !== undefined) {
        throw new ConfigError(`${this.at(key)} is there as ${spelled} too; it must be there once`);
      }
      this.#spelled.set(key, spelled);
      values.set(key, each);
    }
    return values;
  }

  #keyOf(spelled: string, known: readonly string[]): string {
    if (known.includes(spelled)) return spelled;
    const isSnakeCase = this.#options.isSnakeCaseKnown === true;
    const key = isSnakeCase ? known.find((each) => snakeCase(each) === spelled) : undefined;
    if (key !== undefined) return key;
    const near = nearest(spelled, known);
    const place = this.at(/^[\w-]{1,40}$/.test(spelled) ? spelled : show(spelled));
    if (near !== undefined) throw new ConfigError(`${place} is not known; did you mean ${near}?`);
    const keys = known.length === 0 ? "nothing can be set here" : `known are ${known.join(", ")}`;
    throw new ConfigError(`${place} is not known; ${keys}`);
  }
}

/** The entries of a map that are not undefined; undefined if the value is not a map. */
export function entriesOf(value: unknown): readonly (readonly [string, unknown])[] | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value);
  return entries.filter(([, each]) => each !== undefined);
}

export function inWords(words: readonly string[], link: "and" | "or"): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} ${link} ${words.at(-1)}`;
}

/** A value for an error message, on one line. The content of lists and maps may be secret: it is not shown. */
export function show(value: unknown): string {
  switch (typeof value) {
    case "undefined":
      return "missing";
    case "string":
      return oneLine(JSON.stringify(value));
    case "number":
    case "boolean":
    case "bigint":
      return oneLine(String(value));
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? "a list" : "a map";
    case "function":
    case "symbol":
      return `a ${typeof value}`;
  }
}

function oneLine(text: string): string {
  const cut = text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX - 3)}...` : text;
  return cut.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "?");
}

function snakeCase(key: string): string {
  return key.replaceAll(/([a-z])([A-Z])/g, "$1_$2").toLowerCase();
}
