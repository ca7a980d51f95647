/** 31 years. Longer than any pause that ends, and its milliseconds stay exact in a double. */
export const PAUSE_MAX_MS = 1e12;

/** No field worth reading is longer, dates included. */
export const HINT_MAX_CHARS = 64;

const DECIMAL = /^[ \t]*(\d+)(?:\.(\d+))?[ \t]*$/;

/**
 * A plain decimal times ten to the power of `shift`, rounded up to a whole number: seconds to
 * milliseconds are a shift of 3. The digits are moved as text, because a product of doubles may
 * come out below what was written. No sign, no exponent, no hexadecimal, no list.
 */
export function parseDecimalUp(text: string, shift: number): number | undefined {
  if (text.length > HINT_MAX_CHARS) return undefined;
  const [, whole, fraction = ""] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const moved = Number(whole + fraction.slice(0, shift).padEnd(shift, "0"));
  return /[1-9]/.test(fraction.slice(shift)) ? moved + 1 : moved;
}

/** A whole number of at most 15 digits, which a double holds exactly; undefined for anything else. */
export function parseCount(text: string): number | undefined {
  return /^[ \t]*\d{1,15}[ \t]*$/.test(text) ? Number(text) : undefined;
}
