const ALTERNATE = "\u001B[?1049h\u001B[?25l";
const RESTORE = "\u001B[?25h\u001B[?1049l";
const HOME = "\u001B[H";
const CLEAR_LINE = "\u001B[K";
const CLEAR_REST = "\u001B[J";
const CTRL_C = "\u0003";
/** Signals after which the terminal is given back. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

interface TerminalListener {
  readonly onKey: (key: string) => void;
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
      for (const key of chunk.toString("utf8")) {
        if (key === CTRL_C) leave();
        else onKey(key);
      }
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
    const text = lines.map((line) => line + CLEAR_LINE).join("\r\n");
    process.stdout.write(HOME + text + CLEAR_REST);
  }

  /** Gives the terminal back; the second call does nothing. */
  close(): void {
    this.#undo?.();
    this.#undo = undefined;
    this.#closing.abort();
  }
}
