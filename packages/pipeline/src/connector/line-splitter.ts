/** A line without its line break, or the length of one that was too long to keep. */
export interface Line {
  /** Undefined: the line was longer than the bound; its bytes are gone. */
  readonly bytes: Buffer | undefined;
  /** The offset of the first byte behind the line and its line break. */
  readonly end: number;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Cuts bytes into lines. Empty lines are left out. Holds at most one unfinished line of `lineMaxBytes`; the rest of
 * a longer line is passed over as it comes.
 */
export class LineSplitter {
  readonly #lineMaxBytes: number;
  #parts: Buffer[] = [];
  #heldBytes = 0;
  #isTooLong = false;
  #offset: number;

  constructor(lineMaxBytes: number, offset: number = 0) {
    this.#lineMaxBytes = lineMaxBytes;
    this.#offset = offset;
  }

  /** The offset of the next byte to be pushed. */
  get offset(): number {
    return this.#offset;
  }

  /** Whether the unfinished line is longer than the bound already. */
  get isTooLong(): boolean {
    return this.#isTooLong;
  }

  /** The lines that end in this chunk. They refer to the chunk's memory. */
  push(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, start)) {
      this.#hold(chunk.subarray(start, at));
      this.#offset += at + 1 - start;
      this.#cut(lines);
      start = at + 1;
    }
    this.#hold(chunk.subarray(start));
    this.#offset += chunk.length - start;
    return lines;
  }

  /** The end of the input: an unfinished line is a line. */
  end(): Line[] {
    const lines: Line[] = [];
    this.#cut(lines);
    return lines;
  }

  #hold(part: Buffer): void {
    this.#heldBytes += part.length;
    // One more byte may be the carriage return of a line break.
    if (this.#heldBytes > this.#lineMaxBytes + 1) {
      this.#isTooLong = true;
      this.#parts = [];
    } else if (part.length > 0) this.#parts.push(part);
  }

  #cut(lines: Line[]): void {
    const [first] = this.#parts;
    const whole = this.#parts.length > 1 ? Buffer.concat(this.#parts) : first;
    const bytes = whole?.at(-1) === CARRIAGE_RETURN ? whole.subarray(0, -1) : whole;
    if (this.#isTooLong || (bytes?.length ?? 0) > this.#lineMaxBytes)
      lines.push({ bytes: undefined, end: this.#offset });
    else if (bytes !== undefined && bytes.length > 0) lines.push({ bytes, end: this.#offset });
    this.#parts = [];
    this.#heldBytes = 0;
    this.#isTooLong = false;
  }
}
