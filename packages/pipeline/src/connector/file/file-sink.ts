import { open, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import type { Message } from "../../message.ts";
import { requireFlag, requireOptions, requireText } from "../check-options.ts";
import { linesOf } from "../lines-of.ts";
import type { OpenContext } from "../open-context.ts";
import type { Sink, SinkConnector, WriteResult } from "../sink.ts";
import { fileError } from "./failure.ts";

export interface FileSinkOptions {
  /** The file that lines are appended to. It is created if missing; its folder is not. */
  readonly path: string;
  /** Whether a write waits until the disk has it (fsync). Without, the last lines may be lost in a power failure. @default true */
  readonly sync?: boolean | undefined;
}

/**
 * Appends messages to a file, one line each: a string as it is, an object as JSON. A value with a line break is
 * refused. After a rotation the sink writes to the new file.
 *
 * @example
 * fileSink({ path: "done.ndjson" });
 */
export function fileSink(options: FileSinkOptions): SinkConnector {
  const example = 'fileSink({ path: "done.ndjson" })';
  requireOptions("fileSink", options, { known: ["path", "sync"], example });
  const { path, sync = true } = options;
  requireText("path of fileSink", path, "done.ndjson");
  requireFlag("sync of fileSink", sync);
  return {
    kind: "file",
    open: async (context) => {
      const sink = new FileSink(path, sync, context);
      await sink.begin();
      return sink;
    },
  };
}

interface Appended {
  readonly file: FileHandle;
  readonly inode: bigint;
  /** Whether the last write, perhaps of another process, ended within a line. */
  isTorn: boolean;
}

const LINE_FEED = 0x0a;

/** @internal Exported for tests, which give it files that fail. */
export class FileSink implements Sink {
  readonly carriesHeaders = false;
  readonly #path: string;
  readonly #sync: boolean;
  readonly #context: OpenContext;
  readonly #open: typeof open;
  #appended: Appended | undefined;
  /** Writes come one after the other, so that lines stay whole. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string, sync: boolean, context: OpenContext, openFile: typeof open = open) {
    this.#path = path;
    this.#sync = sync;
    this.#context = context;
    this.#open = openFile;
  }

  async begin(): Promise<void> {
    await this.#file().catch((error: unknown) => {
      throw fileError("fileSink", this.#path, error);
    });
  }

  write(messages: readonly Message[]): Promise<readonly WriteResult[] | undefined> {
    const { bytes, results } = linesOf(messages);
    const written = this.#last.then(async () => {
      try {
        await this.#append(bytes);
      } catch (error) {
        throw fileError("fileSink", this.#path, error);
      }
      return results;
    });
    this.#last = written.catch(() => undefined);
    return written;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#appended?.file.close();
    this.#appended = undefined;
  }

  async #append(bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return;
    const appended = await this.#file();
    // A torn line becomes a line of its own; a reader sees that it is no JSON. Its message is written again.
    const whole = appended.isTorn ? Buffer.concat([Buffer.of(LINE_FEED), bytes]) : bytes;
    appended.isTorn = true;
    await appended.file.writeFile(whole);
    appended.isTorn = false;
    if (this.#sync) await appended.file.datasync();
  }

  /** The file at `path`: opened, or opened again if that is another file by now. */
  async #file(): Promise<Appended> {
    const found = await stat(this.#path, { bigint: true }).catch(() => undefined);
    const now = this.#appended;
    if (now !== undefined && now.inode === found?.ino) return now;
    const file = await this.#open(this.#path, "a+");
    try {
      const { ino, size } = await file.stat({ bigint: true });
      const isTorn = size > 0n && (await lastByte(file, Number(size))) !== LINE_FEED;
      if (isTorn)
        this.#context.tell({
          level: "warning",
          text: `${this.#path} ends within a line; a line break is put behind it`,
        });
      const opened = { file, inode: ino, isTorn };
      this.#appended = opened;
      if (now !== undefined) await this.#closeOld(now.file);
      return opened;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Its lines were written, and synced if they are to be: the new file is used, whatever becomes of the old one. */
  async #closeOld(file: FileHandle): Promise<void> {
    try {
      await file.close();
    } catch (error) {
      const text = `${this.#path}: the file before its rotation could not be closed: ${String(error)}`;
      this.#context.tell({ level: "warning", text });
    }
  }
}

async function lastByte(file: FileHandle, size: number): Promise<number | undefined> {
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, size - 1);
  return byte[0];
}
