import type { Writable } from "node:stream";
import type { Message } from "../../message.ts";
import { requireOptions } from "../check-options.ts";
import { ConnectorError, SinkClosedError } from "../connector-error.ts";
import { codeOf } from "../file/failure.ts";
import { linesOf } from "../lines-of.ts";
import type { OpenContext } from "../open-context.ts";
import type { Sink, SinkConnector, WriteResult } from "../sink.ts";

export interface StdoutSinkOptions {
  /** Written to instead of the standard output, for tests. Default: `process.stdout`. */
  readonly output?: Writable | undefined;
}

/**
 * Writes messages to the standard output, one line each. A write waits for the reader of the pipe. When the reader
 * has gone (EPIPE, as after `| head`), writes reject with a SinkClosedError.
 *
 * @example
 * stdoutSink();
 */
export function stdoutSink(options: StdoutSinkOptions = {}): SinkConnector {
  requireOptions("stdoutSink", options, { known: ["output"], example: "stdoutSink()" });
  const { output } = options;
  return {
    kind: "stdout",
    open: (context) => Promise.resolve(new StdoutSink(output ?? process.stdout, context)),
  };
}

/** The reader of a pipe has gone; or our side of it was closed. */
const GONE: ReadonlySet<string> = new Set([
  "EPIPE",
  "ECONNRESET",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_WRITE_AFTER_END",
]);

class StdoutSink implements Sink {
  readonly carriesHeaders = false;
  readonly #output: Writable;
  readonly #context: OpenContext;
  #isClosedTold = false;
  // Without a listener an EPIPE ends the process with a stack trace.
  readonly #onError = (): void => undefined;

  constructor(output: Writable, context: OpenContext) {
    this.#output = output;
    this.#context = context;
    output.on("error", this.#onError);
  }

  async write(messages: readonly Message[]): Promise<readonly WriteResult[] | undefined> {
    const { bytes, results } = linesOf(messages);
    if (bytes.length === 0) return results;
    await new Promise<void>((resolve, reject: (error: Error) => void) => {
      this.#output.write(bytes, (error) => {
        if (error === undefined || error === null) resolve();
        else reject(this.#failure(error));
      });
    });
    return results;
  }

  close(): Promise<void> {
    // The error of a write may come after its callback.
    if (!this.#isClosedTold) this.#output.off("error", this.#onError);
    return Promise.resolve();
  }

  #failure(error: Error): Error {
    if (!GONE.has(codeOf(error)))
      return new ConnectorError(`stdoutSink: ${error.message}`, { cause: error });
    if (!this.#isClosedTold)
      this.#context.tell({ level: "info", text: "the reader of the standard output has gone" });
    this.#isClosedTold = true;
    return new SinkClosedError("stdoutSink: the reader of the standard output has gone", {
      cause: error,
    });
  }
}
