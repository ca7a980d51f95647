/** Longest text of a peer in an error, in characters: errors are logged. */
const LENGTH_MAX = 200;

/** Characters that could forge lines of a log. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029]+/gu;

/** A peer's text in one line that is fit for a log. */
export function printable(text: string): string {
  return text.slice(0, LENGTH_MAX).replaceAll(UNPRINTABLE, " ").trim();
}
