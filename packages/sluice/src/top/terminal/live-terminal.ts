import { keysOf } from "./keys.ts";
import type { Key } from "./keys.ts";

/** Another screen, without a cursor, whose lines are cut and not wrapped. */
const ALTERNATE = "\u001B[?1049h\u001B[?25l\u001B[?7l";
const RESTORE = "\u001B[?7h\u001B[?25h\u001B[?1049l";
const HOME = "\u001B[H";
const CLEAR_LINE = "\u001B[K";
const CLEAR_REST = "\u001B[J";
/** Signals after which the terminal is given back. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

interface TerminalListener {
  readonly onKey: (key: Key) => void;
  readonly onResize: () => void;
}

/** A terminal that is drawn whole, again and again. It is as it was before, whichever way the process ends. */
export class LiveTerminal {
  readonly #closing = new AbortController();
  #undo: (() => void) | undefined;

  /** Aborts when the user leaves. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  open({ onKey, onResize }: TerminalListener): void {
    const { stdin, stdout } = process;
    const leave = (): void => this.close();
    const onData = (chunk: Buffer): void => {
      for (const key of keysOf(chunk.toString("utf8"))) onKey(key);
    };
    const isRaw = stdin.isTTY;
    if (isRaw) stdin.setRawMode(true);
    stdin.on("data", onData).resume();
    stdout.on("resize", onResize);
    for (const signal of SIGNALS) process.on(signal, leave);
    process.on("exit", leave);
    stdout.write(ALTERNATE);
    this.#undo = () => {
      if (isRaw) stdin.setRawMode(false);
      stdin.off("data", onData).pause();
      stdout.off("resize", onResize);
      for (const signal of SIGNALS) process.off(signal, leave);
      process.off("exit", leave);
      stdout.write(RESTORE);
    };
  }

  draw(lines: readonly string[]): void {
    if (this.closed.aborted) return;
    // Before the text: behind a line that fills the width the cursor stands on its last character.
    const text = lines.map((line) => CLEAR_LINE + line).join("\r\n");
    process.stdout.write(HOME + text + CLEAR_REST);
  }

  /** Gives the terminal back; the second call does nothing. */
  close(): void {
    this.#undo?.();
    this.#undo = undefined;
    this.#closing.abort();
  }
}
