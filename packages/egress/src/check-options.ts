import { ConfigError } from "@sluice/core";

const PLURAL = /^the options|s$/;

/** Refuses settings that are no object; `example` is the inside of an object. */
export function requireSettings(what: string, value: unknown, example: string): void {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  throw new ConfigError(
    `${what} ${PLURAL.test(what) ? "are" : "is"} ${shown(value)}; use an object such as { ${example} }`,
  );
}

/** Refuses an option that is set and no function. */
export function requireFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== "function")
    throw new ConfigError(`${name} is ${shown(value)}; it must be a function`);
}

/** Refuses an option that is neither true nor false: a text such as "no" would count as true. */
export function requireBoolean(name: string, value: unknown): void {
  if (typeof value !== "boolean")
    throw new ConfigError(`${name} is ${shown(value)}; it must be true or false`);
}

/** Refuses what is no meter of OpenTelemetry; `name` is the function that was called. */
export function requireMeter(name: string, meter: unknown): void {
  const isMeter = typeof meter === "object" && meter !== null && "createCounter" in meter;
  if (!isMeter)
    throw new ConfigError(
      `${name} was given ${shown(meter)} instead of a meter; use ${name}(metrics.getMeter("my-service")) with \`metrics\` of @opentelemetry/api`,
    );
}

/** A value for a message, short and without its contents if these may be many. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return "a list";
  if (value instanceof Promise) return "a promise";
  if (typeof value === "function") return "a function";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
