const NEWLINE = 0x0a;

/** Cuts bytes into lines, at any chunking. A line longer than the bound is reported once, and passed over. */
export class LineSplitter {
  readonly #lineBytesMax: number;
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: () => void;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Within a line that was reported. */
  #isSkipping = false;

  constructor(options: {
    readonly lineBytesMax: number;
    readonly onLine: (line: string) => void;
    readonly onTooLong: () => void;
  }) {
    this.#lineBytesMax = options.lineBytesMax;
    this.#onLine = options.onLine;
    this.#onTooLong = options.onTooLong;
  }

  add(chunk: Buffer): void {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, from);
      if (end === -1) break;
      this.#append(chunk.subarray(from, end));
      this.#finish();
      from = end + 1;
    }
    this.#append(chunk.subarray(from));
  }

  /** The bytes have ended: what is left is a line as well. */
  end(): void {
    if (this.#bytes > 0) this.#finish();
  }

  #append(piece: Buffer): void {
    if (this.#isSkipping || piece.length === 0) return;
    this.#bytes += piece.length;
    if (this.#bytes <= this.#lineBytesMax) {
      this.#pieces.push(piece);
      return;
    }
    this.#clear();
    this.#isSkipping = true;
    this.#onTooLong();
  }

  #finish(): void {
    const wasSkipping = this.#isSkipping;
    this.#isSkipping = false;
    const line = wasSkipping ? "" : Buffer.concat(this.#pieces).toString("utf8");
    this.#clear();
    if (!wasSkipping && line.trim() !== "") this.#onLine(line);
  }

  #clear(): void {
    this.#pieces = [];
    this.#bytes = 0;
  }
}
