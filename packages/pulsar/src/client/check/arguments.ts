import { ConfigError } from "@sluice/core";
import { nearest } from "@sluice/core/internal";

/** Characters of a wrong value that an error shows. */
const SHOWN_MAX = 40;

/** A wrong value for an error, short and in one line. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, SHOWN_MAX));
  if (value === null || value === undefined) return String(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return "an array";
  if (typeof value !== "object") return `a ${typeof value}`;
  // An object without a prototype has no constructor.
  const { constructor }: { readonly constructor?: unknown } = value;
  const name = typeof constructor === "function" ? constructor.name : "";
  if (name === "" || name === "Object") return "an object";
  return `${/^[AEIOU]/.test(name) ? "an" : "a"} ${name}`;
}

/** Refuses options that are not a plain object; `example` is code that works. */
export function requireOptions(what: string, options: unknown, example: string): void {
  if (typeof options === "object" && options !== null && !Array.isArray(options)) {
    if (options instanceof AbortSignal || options instanceof Uint8Array)
      fail(what, options, example);
    return;
  }
  fail(what, options, example);
}

/** Refuses a signal argument that is neither an AbortSignal nor undefined. */
export function requireSignal(method: string, signal: unknown): void {
  if (signal === undefined || signal instanceof AbortSignal) return;
  throw new ConfigError(
    `the signal of ${method} is ${shown(signal)}; use an AbortSignal, e.g. that of an AbortController`,
  );
}

/**
 * Refuses wrong options of a method that takes `{ signal }`, and perhaps more; `call` is the right call,
 * e.g. "receive({ signal })". A bare AbortSignal is the usual mistake: it would be ignored silently.
 */
export function requireSignalOptions(
  call: string,
  options: unknown,
  known: readonly string[] = ["signal"],
): void {
  if (options === undefined) return;
  const [method = call] = call.split("(");
  requireOptions(`the options of ${method}`, options, call);
  const given = options as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue;
    const near = nearest(key, known);
    const hint = near === undefined ? `it has ${known.join(", ")}` : `did you mean ${near}?`;
    const timeout = /time|ms$/i.test(key)
      ? "; for a timeout pass the signal of an AbortController"
      : "";
    throw new ConfigError(`${method} has no option "${key}"; ${hint}${timeout}`);
  }
  requireSignal(method, given["signal"]);
}

export function requireBoolean(name: string, value: unknown): void {
  if (typeof value === "boolean") return;
  throw new ConfigError(`${name} is ${shown(value)}; use true or false`);
}

/** Refuses a value that is not a text with at least one character. */
export function requireText(name: string, value: unknown, example: string): void {
  if (typeof value === "string" && value !== "") return;
  throw new ConfigError(
    `${name} is ${shown(value)}; use a text that is not empty, e.g. ${example}`,
  );
}

/** The choice of that name. */
export function requireOneOf<Name extends string, T>(
  what: string,
  name: Name,
  choices: Readonly<Record<Name, T>>,
): T {
  if (Object.hasOwn(choices, name)) return choices[name];
  const names = Object.keys(choices);
  const near = typeof name === "string" ? nearest(name, names) : undefined;
  const hint = near === undefined ? "" : `; did you mean "${near}"?`;
  throw new ConfigError(`${what} is ${shown(name)}; use one of ${names.join(", ")}${hint}`);
}

function fail(what: string, found: unknown, example: string): never {
  throw new ConfigError(`${what} must be an object, and is ${shown(found)}; write ${example}`);
}
