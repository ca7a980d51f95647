/**
 * Every control character but the end of a line; those from U+0080 on are commands of terminals, too. Marks of the writing
 * direction turn the rest of a line around, and let a name look like another one.
 */
const CONTROL = /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/**
 * JSON whose texts may be written to a terminal. Producers and clients choose their names: an escape sequence in one would
 * change the terminal of whoever looks.
 */
export function parseShown(json: string): unknown {
  return JSON.parse(json, (_, value: unknown) =>
    typeof value === "string" ? value.replace(CONTROL, "\u{FFFD}") : value,
  );
}
