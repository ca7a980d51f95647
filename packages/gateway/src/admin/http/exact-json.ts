/**
 * A string, what begins like a number, or a bracket. The first two run as far as they can, closed or not: a text is looked
 * at once, however it is made.
 */
const STRING_OR_NUMBER_OR_BRACKET = /[[\]{}]|"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*/gs;

/** An integer that a double may not hold. */
const LONG = /^-?\d{16,}$/;

/** Levels of arrays and objects; the bodies of Pulsar's tools have five. */
const DEPTH_MAX = 100;

/**
 * Reads JSON without rounding: integers of 16 digits and more become strings of their digits. Pulsar
 * accepts numbers as strings everywhere, so readers of numbers take both. Throws a `SyntaxError`.
 */
export function parseExactJson(text: string): unknown {
  let depth = 0;
  const exact = text.replaceAll(STRING_OR_NUMBER_OR_BRACKET, (token) => {
    if (token === "[" || token === "{") depth++;
    else if (token === "]" || token === "}") depth--;
    if (depth > DEPTH_MAX) throw new SyntaxError(`more than ${DEPTH_MAX} levels`);
    return LONG.test(token) ? `"${token}"` : token;
  });
  return JSON.parse(exact) as unknown;
}

const INTEGER = /^-?\d{1,20}$/;

/** The integer that a JSON value stands for, as a number or as a string of digits. */
export function integerOf(value: unknown): bigint | undefined {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : undefined;
  return typeof value === "string" && INTEGER.test(value) ? BigInt(value) : undefined;
}
