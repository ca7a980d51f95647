/** A string, which is kept, or an integer that a double may not hold. */
const STRING_OR_LONG = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;

/**
 * Reads JSON without rounding: integers of 16 digits and more become strings of their digits. Pulsar
 * accepts numbers as strings everywhere, so readers of numbers take both. Throws a `SyntaxError`.
 */
export function parseExactJson(text: string): unknown {
  const exact = text.replaceAll(STRING_OR_LONG, (token) =>
    token.startsWith('"') ? token : `"${token}"`,
  );
  return JSON.parse(exact) as unknown;
}

const INTEGER = /^-?\d{1,20}$/;

/** The integer that a JSON value stands for, as a number or as a string of digits. */
export function integerOf(value: unknown): bigint | undefined {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : undefined;
  return typeof value === "string" && INTEGER.test(value) ? BigInt(value) : undefined;
}
