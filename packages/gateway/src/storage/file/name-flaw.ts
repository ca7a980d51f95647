/** Most bytes of UTF-8 that the name of a topic or a subscription may have. */
export const NAME_BYTES_MAX = 4096;

/** Why a name cannot be stored; undefined if it can. Without buffers: simulations in a browser check names too. */
export function nameFlaw(name: string): string | undefined {
  if (name.length === 0) return "is empty";
  if (name.length > NAME_BYTES_MAX || utf8Length(name) > NAME_BYTES_MAX)
    return `is longer than ${NAME_BYTES_MAX} bytes`;
  return utf8Length(name) < 0 ? "is not well-formed Unicode" : undefined;
}

/** Bytes of UTF-8; -1 if half of a surrogate pair has none. */
function utf8Length(text: string): number {
  try {
    return encodeURIComponent(text).replaceAll(/%[0-9A-F]{2}/g, "_").length;
  } catch {
    return -1;
  }
}
