import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import type { Timer } from "@sluice/core";
import { nextTurn } from "@sluice/core/system";
import { hasReplaced } from "../../connector/format.ts";
import { LineSplitter } from "../../connector/line-splitter.ts";
import type { Line } from "../../connector/line-splitter.ts";
import { endAtExit, forget, killGroup, OWN_GROUP } from "./process-group.ts";

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>> | undefined;
  readonly lineBytesMax: number;
  /** `isWhole` is false for a line that is no UTF-8: its text lacks some of its bytes. */
  readonly onLine: (line: string, isWhole: boolean) => void;
  readonly onErrorLine: (line: string) => void;
  /** A line of its output is longer than `lineBytesMax`; told once or more. */
  readonly onTooLong: () => void;
  /** There is room for further lines of input. */
  readonly onRoom: () => void;
  /** The process has ended, or could not be started; told once. */
  readonly onEnded: (how: string) => void;
}

/** How long a child may take to end by itself once its input has ended, and after SIGTERM, ms each. */
const END_MS = 2_000;

/**
 * A chunk of at least this many bytes ends the turn of the event loop. Node reads a full pipe 32 times 64 KiB in one turn; a
 * program that writes without end would hold up timers and all other vertices for seconds. Smaller chunks mean that the pipe is empty.
 */
const TURN_BYTES: number = 32 * 2 ** 10;

/** A child process that speaks in lines. */
export class Child {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<void>;
  #hasEnded = false;
  #hasRoom = true;

  constructor(options: ChildOptions) {
    const { command, args, cwd, env } = options;
    this.#process = spawn(command, args, {
      stdio: ["pipe", "pipe", "pipe"],
      ...OWN_GROUP,
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env: { ...process.env, ...env } }),
    });
    endAtExit(this.#process);
    const { stdin, stdout, stderr } = this.#process;
    this.#ended = new Promise((resolve) => {
      const end = (how: string): void => {
        if (this.#hasEnded) return;
        this.#hasEnded = true;
        forget(this.#process);
        resolve();
        options.onEnded(how);
      };
      this.#process.once("error", (error) => end(`cannot be started: ${error.message}`));
      // What the program has started would keep its output open, and the program would never be over.
      this.#process.once("exit", () => killGroup(this.#process, "SIGKILL"));
      // "close" comes after the last byte of output.
      this.#process.once("close", (code, signal) =>
        end(signal === null ? `exited with code ${code}` : `was ended by ${signal}`),
      );
    });
    // A child that does not read its input has ended, or ends soon.
    stdin.on("error", () => undefined);
    stdin.on("drain", () => {
      this.#hasRoom = true;
      options.onRoom();
    });
    read(stdout, options.lineBytesMax, options.onLine, options.onTooLong);
    read(stderr, options.lineBytesMax, options.onErrorLine, () => undefined);
  }

  /** Resolves once the process runs; rejects with the system's error if it cannot. */
  async started(signal: AbortSignal): Promise<void> {
    if (this.#process.pid === undefined) await once(this.#process, "spawn", { signal });
  }

  get hasRoom(): boolean {
    return this.#hasRoom && !this.#hasEnded && this.#process.stdin.writable;
  }

  write(line: string): void {
    this.#hasRoom = this.#process.stdin.write(line);
  }

  kill(): void {
    killGroup(this.#process, "SIGKILL");
  }

  /** Ends the input, and the process if it does not end by itself. */
  async close(timer: Timer): Promise<void> {
    if (this.#hasEnded) return;
    this.#process.stdin.end();
    if (await this.#hasEndedWithin(timer)) return;
    killGroup(this.#process, "SIGTERM");
    if (await this.#hasEndedWithin(timer)) return;
    this.kill();
    await this.#ended;
  }

  async #hasEndedWithin(timer: Timer): Promise<boolean> {
    const over = new AbortController();
    const late = timer.sleep(END_MS, over.signal).then(
      () => false,
      () => true,
    );
    const isEnded = await Promise.race([this.#ended.then(() => true), late]);
    over.abort();
    return isEnded;
  }
}

function read(
  stream: NodeJS.ReadableStream,
  lineBytesMax: number,
  onLine: (line: string, isWhole: boolean) => void,
  onTooLong: () => void,
): void {
  const splitter = new LineSplitter(lineBytesMax);
  const onLines = (lines: readonly Line[]): void => {
    for (const { bytes } of lines) {
      const text = bytes?.toString("utf8");
      if (bytes === undefined || text === undefined) onTooLong();
      else onLine(text, !hasReplaced(text, bytes));
    }
  };
  stream.on("data", (chunk: Buffer) => {
    onLines(splitter.push(chunk));
    // Not at its end, which may never come.
    if (splitter.isTooLong) onTooLong();
    if (chunk.length < TURN_BYTES) return;
    stream.pause();
    void nextTurn().then(() => stream.resume());
  });
  stream.once("end", () => onLines(splitter.end()));
  stream.on("error", () => undefined);
}
