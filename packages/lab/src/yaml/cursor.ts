import { ConfigError } from "@sluice/core";
import { show } from "../file/show.ts";

/** A place in the lines of a text. */
export class Cursor {
  readonly #lines: readonly string[];
  readonly #file: string;
  row = 0;
  column = 0;

  constructor(text: string, file: string) {
    this.#lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
    this.#file = file;
  }

  get line(): string {
    return this.#lines[this.row] ?? "";
  }

  get rest(): string {
    return this.line.slice(this.column);
  }

  get char(): string {
    return this.line[this.column] ?? "";
  }

  get isAtEnd(): boolean {
    return this.row >= this.#lines.length;
  }

  skipSpaces(): void {
    while (this.char === " ") this.column++;
  }

  /** To the first character of the next line that has more than a comment. Its column is its indentation. */
  nextContent(): void {
    this.row++;
    this.toContent();
  }

  toContent(): void {
    for (; !this.isAtEnd; this.row++) {
      this.column = 0;
      this.skipSpaces();
      if (this.char !== "" && this.char !== "#") return;
    }
    this.column = 0;
  }

  /** The rest of the line must be empty or a comment. */
  requireLineEnd(): void {
    const before = this.column;
    this.skipSpaces();
    const { char } = this;
    if (char === "" || (char === "#" && this.column > before)) return;
    this.refuse(this.rest, "the end of the line or a comment after a space");
  }

  /** @throws ConfigError with the line, what was found and what is expected. */
  refuse(found: string, expected: string): never {
    const what = found === "" ? "the end of the line" : show(found);
    throw new ConfigError(
      `found ${this.isAtEnd ? "the end of the text" : what}; expected ${expected}`,
      {
        file: this.#file,
        line: Math.min(this.row + 1, this.#lines.length),
      },
    );
  }
}
