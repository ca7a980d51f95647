import { DURATION_MAX_MS, parseBytes, parseDurationMs, readPerSecond } from "@sluice/core/internal";
import type { RateUnit } from "@sluice/core/internal";
import * as v from "valibot";
import { nearest } from "@sluice/core/internal";
import { show } from "./show.ts";

const STRING: JsonSchema = { type: "string" };

/** Unknown keys of one map that are reported. A higher bound makes a file of garbage print more lines. */
const UNKNOWN_KEYS_MAX = 100;

/** A map with exactly these keys. */
export function map<const E extends v.ObjectEntries>(
  entries: E,
): v.StrictObjectSchema<E, v.ErrorMessage<v.StrictObjectIssue>> {
  const known = Object.keys(entries).join(", ");
  const message = (issue: v.StrictObjectIssue): string => {
    if (issue.expected === "never") {
      const near = nearest(String(issue.path?.at(-1)?.key), Object.keys(entries));
      const advice = near === undefined ? "" : `did you mean ${near}? `;
      return `is not known here; ${advice}known keys: ${known || "none"}`;
    }
    if (issue.expected === "Object") {
      return `is ${show(issue.input)}; expected ${known === "" ? "an empty map, {}" : `a map with the keys ${known}`}`;
    }
    // A missing key: its own schema has the words for what is expected.
    const missing = entries[String(issue.path?.at(-1)?.key)];
    return (missing && v.safeParse(missing, undefined).issues?.[0].message) ?? "is missing";
  };
  const strict = v.strictObject(entries, message);
  const nothingKnown = v.strictObject({}, message);
  return {
    ...strict,
    "~run": (dataset, config) => {
      const input: unknown = dataset.value;
      const result = strict["~run"](dataset, config);
      if (typeof input !== "object" || input === null) return result;
      // valibot reports the first unknown key of a map and leaves the others out.
      const unknown = Object.keys(input).filter((key) => !Object.hasOwn(entries, key));
      for (const key of unknown.slice(1, UNKNOWN_KEYS_MAX)) {
        const { issues = [] } = nothingKnown["~run"]({ value: { [key]: undefined } }, config);
        result.issues?.push(...issues);
      }
      return result;
    },
  };
}

/** What editors know of a value before a file is checked, in words of JSON Schema. The check itself may be stricter. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The key of a schema's metadata that holds its `JsonSchema`. */
export const JSON_SCHEMA = "jsonSchema";

/** The key of a schema's metadata that holds the schemas of which a value fits one. */
export const ALTERNATIVES = "alternatives";

/** A value that a predicate accepts; `expected` describes it for the error message. */
export function field<T>(
  accepts: (value: unknown) => boolean,
  expected: string | ((found: unknown) => string),
  json: JsonSchema = {},
): v.GenericSchema<T> {
  const expectedOf = typeof expected === "string" ? () => expected : expected;
  return v.pipe(
    v.custom<T>(accepts, ({ input }) => `is ${show(input)}; expected ${expectedOf(input)}`),
    v.metadata({ [JSON_SCHEMA]: json }),
  );
}

/** A schema with a sentence for people who edit a file. */
export function described<I, O>(
  schema: v.GenericSchema<I, O>,
  sentence: string,
): v.GenericSchema<I, O> {
  return v.pipe(schema, v.description(sentence));
}

/** A value of one of several forms; `pick` chooses the form by the value, so that errors are about that form. */
export function either<S extends v.GenericSchema>(
  alternatives: readonly v.GenericSchema[],
  pick: (value: unknown) => S,
): v.GenericSchema<unknown, v.InferOutput<S>> {
  const chosen: v.GenericSchema<unknown, v.InferOutput<S>> = v.lazy(pick);
  return v.pipe(chosen, v.metadata({ [ALTERNATIVES]: alternatives }));
}

export function whole(min: number, max: number = 2 ** 53): v.GenericSchema<number> {
  const expected = `a whole number from ${min} to ${max}`;
  return field((value) => Number.isInteger(value) && isWithin(value, min, max), expected, {
    type: "integer",
    minimum: min,
    maximum: max,
  });
}

/** A number with fractions. Above 10^15 a double could no longer add 1 exactly with fractions. */
export function real(min: number, max: number = 1e15): v.GenericSchema<number> {
  return field((value) => isWithin(value, min, max), `a number from ${min} to ${max}`, {
    type: "number",
    minimum: min,
    maximum: max,
  });
}

export function oneOf<const T extends string>(...words: readonly T[]): v.GenericSchema<T> {
  return field((value) => words.some((word) => word === value), words.join(" or "), {
    enum: words,
  });
}

export function flag(): v.GenericSchema<boolean> {
  return field((value) => typeof value === "boolean", "true or false", { type: "boolean" });
}

export function text(): v.GenericSchema<string> {
  return field((value) => typeof value === "string", "text", STRING);
}

/** Text without control characters, safe to print to a terminal. */
export function lineOfText(): v.GenericSchema<string> {
  return field(
    (value) => typeof value === "string" && !/\p{Cc}/u.test(value),
    "one line of text",
    STRING,
  );
}

/** A length of time in milliseconds, for keys that end in Ms. */
export function milliseconds(minMs: number): v.GenericSchema<number> {
  return real(minMs, DURATION_MAX_MS);
}

/** A duration with its unit, in milliseconds. */
export function duration(): v.GenericSchema<unknown, number> {
  return parsed(parseDuration, expectedDuration);
}

/** A duration with its unit, as it is written. */
export function durationText(): v.GenericSchema<string> {
  return field(isDuration, expectedDuration, STRING);
}

function isDuration(value: unknown): boolean {
  return typeof value === "string" && parseDuration(value) !== undefined;
}

/** A bare number is answered with what to write for seconds and for milliseconds. */
function expectedDuration(found: unknown): string {
  const given = typeof found === "number" ? String(found) : found;
  const isBare = typeof given === "string" && /^\d+(?:\.\d+)?$/.test(given);
  return `a duration with its unit, ${isBare ? `${given}s or ${given}ms` : "such as 10s, 250ms or 1h30m"}`;
}

/** A number of bytes with its unit. */
export function byteSize(): v.GenericSchema<unknown, number> {
  return parsed(parseBytes, "a size with its unit, such as 64MiB, 10MB or 512KiB");
}

/** A map with any keys that `key` accepts. */
export function record<T>(
  key: v.GenericSchema<string>,
  value: v.GenericSchema<unknown, T>,
  expected: string,
): v.GenericSchema<unknown, Record<string, T>> {
  return v.pipe(
    field<object>(isMap, `a map of ${expected}`, { type: "object" }),
    withoutLostKeys(),
    v.record(key, value),
  );
}

/** Keys that `v.record` leaves out without a word. */
const LOST_KEYS = ["constructor", "prototype"] as const;

/** Refuses those keys: a limit or a pipeline of such a name would silently not exist. */
export function withoutLostKeys<T extends object>(): v.RawCheckAction<T> {
  return v.rawCheck<T>(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const input = dataset.value as Readonly<Record<string, unknown>>;
    for (const key of LOST_KEYS.filter((lost) => Object.hasOwn(input, lost)))
      addIssue({
        message:
          "is a name that JavaScript reserves (constructor, prototype); expected another one",
        path: [{ type: "object", origin: "key", input, key, value: input[key] }],
      });
  });
}

/** A rate with its period, such as 1000/s or 10MB/s, in whole units per second. */
export function perSecond(unit: RateUnit): v.GenericSchema<unknown, number> {
  return v.pipe(
    v.custom<string>(
      (value) => "perSecond" in readPerSecond(value, unit),
      ({ input }) => {
        const read = readPerSecond(input, unit);
        return `is ${show(input)}; expected ${"expected" in read ? read.expected : "a rate"}`;
      },
    ),
    v.metadata({ [JSON_SCHEMA]: STRING }),
    v.transform((value) => {
      const read = readPerSecond(value, unit);
      return "perSecond" in read ? read.perSecond : 0;
    }),
  );
}

export function list<T>(
  item: v.GenericSchema<unknown, T>,
  maxItems: number,
  expected: string = "a list",
): v.GenericSchema<unknown, T[]> {
  return v.pipe(
    v.array(item, (issue) => `is ${show(issue.input)}; expected ${expected}`),
    v.maxLength(maxItems, (issue) => `has ${issue.received} items; at most ${maxItems} are run`),
  );
}

/** Text that `parse` understands, as what it means. */
function parsed<T>(
  parse: (text: string) => T | undefined,
  expected: Parameters<typeof field>[1],
): v.GenericSchema<unknown, T> {
  const parseAny = (value: unknown): T | undefined =>
    typeof value === "string" ? parse(value) : undefined;
  return v.pipe(
    field<string>((value) => parseAny(value) !== undefined, expected, STRING),
    v.transform((value) => parseAny(value) as T),
  );
}

function isMap(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isWithin(value: unknown, min: number, max: number): boolean {
  return typeof value === "number" && value >= min && value <= max;
}

function parseDuration(given: string): number | undefined {
  const ms = parseDurationMs(given);
  return ms !== undefined && ms <= DURATION_MAX_MS ? ms : undefined;
}
