import type { Readable } from "node:stream";
import { Fifo, requireWhole } from "@sluice/core/internal";
import type { Message } from "../../message.ts";
import { requireFormat, requireOptions } from "../check-options.ts";
import { ConnectorError } from "../connector-error.ts";
import { LINE_MAX_BYTES, LINE_MAX_BYTES_MAX } from "../file/file-source.ts";
import type { Format } from "../format.ts";
import { LineSplitter } from "../line-splitter.ts";
import type { Line } from "../line-splitter.ts";
import type { OpenContext } from "../open-context.ts";
import { END } from "../source.ts";
import type { ReadOptions, Source, SourceConnector } from "../source.ts";
import { waitForEvent } from "../wait-for-event.ts";

export interface StdinSourceOptions {
  /** Longest line, bytes; a longer one is skipped, with a warning. 1 to 64 MiB. @default 1048576 */
  readonly lineMaxBytes?: number | undefined;
  /** How lines are read. @default "json" */
  readonly format?: Format | undefined;
  /** Read instead of the standard input, for tests. Default: `process.stdin`. */
  readonly input?: Readable | undefined;
}

/**
 * The lines of the standard input as messages, until its end. A pipe's writer waits while the pipeline does not read.
 * Nothing comes again: lines that were read and not acknowledged are lost in a crash.
 *
 * @example
 * stdinSource();
 */
export function stdinSource(options: StdinSourceOptions = {}): SourceConnector<Buffer> {
  const known = ["lineMaxBytes", "format", "input"];
  requireOptions("stdinSource", options, { known, example: "stdinSource()" });
  const { lineMaxBytes = LINE_MAX_BYTES, format = "json", input } = options;
  requireWhole("lineMaxBytes of stdinSource", lineMaxBytes, 1, LINE_MAX_BYTES_MAX);
  requireFormat("stdinSource", format);
  return {
    kind: "stdin",
    format,
    open: (context) =>
      Promise.resolve(new StdinSource(input ?? process.stdin, lineMaxBytes, context)),
  };
}

class StdinSource implements Source<Buffer> {
  readonly #input: Readable;
  readonly #context: OpenContext;
  readonly #lineMaxBytes: number;
  readonly #splitter: LineSplitter;
  readonly #lines = new Fifo<Line>();
  #failure: Error | undefined;
  #isEnded = false;
  #happened: () => void = () => undefined;
  readonly #onReadable = (): void => this.#happened();
  readonly #onError = (error: Error): void => {
    this.#failure = new ConnectorError(`stdinSource: ${error.message}`, {
      canHeal: false,
      cause: error,
    });
    this.#happened();
  };

  constructor(input: Readable, lineMaxBytes: number, context: OpenContext) {
    this.#input = input;
    this.#context = context;
    this.#lineMaxBytes = lineMaxBytes;
    this.#splitter = new LineSplitter(lineMaxBytes);
    input.on("readable", this.#onReadable);
    input.on("end", this.#onReadable);
    input.on("close", this.#onReadable);
    input.on("error", this.#onError);
  }

  async read(
    countMax: number,
    { signal, waitMs }: ReadOptions,
  ): Promise<readonly Message<Buffer>[] | typeof END> {
    const { timer } = this.#context;
    const untilMs = timer.now() + waitMs;
    for (;;) {
      const messages = this.#take(countMax);
      if (messages.length > 0) return messages;
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isEnded) return END;
      if (this.#fill()) continue;
      const leftMs = untilMs - timer.now();
      if (signal.aborted || leftMs <= 0) return [];
      await waitForEvent((happened) => this.#subscribe(happened), { timer, ms: leftMs, signal });
    }
  }

  ack(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    const input = this.#input;
    input.off("readable", this.#onReadable);
    input.off("end", this.#onReadable);
    input.off("close", this.#onReadable);
    input.off("error", this.#onError);
    // An open standard input would keep the process alive.
    input.pause();
    // A standard input that is a file is no socket: it has no unref and keeps nothing alive.
    const { unref } = input as { readonly unref?: unknown };
    if (input === process.stdin && typeof unref === "function") process.stdin.unref();
    return Promise.resolve();
  }

  #subscribe(happened: () => void): () => void {
    this.#happened = happened;
    return () => (this.#happened = () => undefined);
  }

  #fill(): boolean {
    const chunk = this.#input.read() as Buffer | string | null;
    if (chunk !== null) {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      for (const line of this.#splitter.push(bytes)) this.#lines.push(line);
      return true;
    }
    if (!this.#input.readableEnded && !this.#input.destroyed) return false;
    for (const line of this.#splitter.end()) this.#lines.push(line);
    this.#isEnded = true;
    return true;
  }

  #take(countMax: number): Message<Buffer>[] {
    const messages: Message<Buffer>[] = [];
    let skipped = 0;
    while (messages.length < countMax) {
      const line = this.#lines.shift();
      if (line === undefined) break;
      if (line.bytes === undefined) skipped++;
      else messages.push({ id: `stdin:${line.end}`, value: line.bytes, headers: {} });
    }
    if (skipped > 0) {
      const text = `stdin: ${skipped} lines longer than ${this.#lineMaxBytes} bytes are skipped; raise lineMaxBytes (lineMax in a flow file)`;
      this.#context.tell({ level: "warning", text });
    }
    return messages;
  }
}
