/**
 * Removes secrets from text that comes from a server or a client library, before the text becomes
 * part of an error message.
 *
 * Servers and libraries repeat what they were sent, cut anywhere: Redis shows the first 128 bytes of
 * a command that it does not know. So every piece of a secret of `PIECE_LENGTH` characters or more
 * is replaced, and a shorter secret as a whole. Pieces are found as written, percent-encoded,
 * JSON-escaped, in Redis's `\xNN` notation and with control characters replaced by spaces, in upper
 * and lower case.
 */

/**
 * Characters of a secret that may stay together in a message. Raised, longer pieces leak; lowered,
 * more ordinary words that a password happens to contain are hidden. Eight characters are too few to
 * guess the rest of a secret that is long enough to be cut.
 */
export const PIECE_LENGTH = 8;

const HIDDEN = "***";

/** Replaces pieces of known secrets. */
export class Redaction {
  readonly #pieces = new Set<string>();
  readonly #short = new Set<string>();

  constructor(secrets: Iterable<string>) {
    for (const secret of secrets) for (const form of formsOf(secret)) this.#add(form);
  }

  /** The text on one line, without control characters, with `***` for every piece of a secret. */
  apply(text: string): string {
    // Before and after: a line break inside a secret may be kept, escaped or replaced.
    return this.#hide(toOneLine(this.#hide(text)));
  }

  #add(form: string): void {
    if (form.length < PIECE_LENGTH) {
      if (form !== "") this.#short.add(form);
      return;
    }
    for (let at = 0; at + PIECE_LENGTH <= form.length; at++)
      this.#pieces.add(form.slice(at, at + PIECE_LENGTH));
  }

  #hide(text: string): string {
    const lower = lowerCase(text);
    const isHidden = new Uint8Array(text.length);
    for (let at = 0; at + PIECE_LENGTH <= text.length; at++)
      if (this.#pieces.has(lower.slice(at, at + PIECE_LENGTH)))
        isHidden.fill(1, at, at + PIECE_LENGTH);
    for (const secret of this.#short)
      for (let at = lower.indexOf(secret); at >= 0; at = lower.indexOf(secret, at + 1))
        isHidden.fill(1, at, at + secret.length);
    let shown = "";
    for (let at = 0; at < text.length; at++) {
      if (isHidden[at] === 0) shown += text.charAt(at);
      else if (at === 0 || isHidden[at - 1] === 0) shown += HIDDEN;
    }
    return shown;
  }
}

/** How a secret may be written in a message. */
function formsOf(secret: string): Set<string> {
  // A lone surrogate cannot be encoded.
  const wellFormed = new TextDecoder().decode(new TextEncoder().encode(secret));
  const forms = [
    secret,
    wellFormed,
    encodeURIComponent(wellFormed),
    encodeURI(wellFormed),
    JSON.stringify(secret).slice(1, -1),
    bytesEscaped(wellFormed),
    toOneLine(secret),
  ];
  return new Set(forms.map(lowerCase));
}

/** As Redis writes bytes that are not printable ASCII. */
function bytesEscaped(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) =>
    byte >= 0x20 && byte < 0x7f
      ? String.fromCodePoint(byte)
      : `\\x${byte.toString(16).padStart(2, "0")}`,
  ).join("");
}

/** Control characters would forge lines of a log. */
function toOneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ");
}

/** Of ASCII letters only, so that the length stays the same. */
function lowerCase(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
