import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { Fifo, requireWhole } from "@sluice/core/internal";
import type { Message } from "../../message.ts";
import type { Place } from "../acknowledged-prefix.ts";
import { requireFlag, requireFormat, requireOptions, requireText } from "../check-options.ts";
import type { Format } from "../format.ts";
import type { Line } from "../line-splitter.ts";
import type { OpenContext } from "../open-context.ts";
import { END } from "../source.ts";
import type { ReadOptions, Source, SourceConnector } from "../source.ts";
import { pause } from "../wait-for-event.ts";
import { CheckpointFile } from "./checkpoint.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { codeOf, fileError } from "./failure.ts";
import { Tail } from "./tail.ts";

export interface FileSourceOptions {
  /** The file of lines. */
  readonly path: string;
  /** File that keeps how far `path` was processed, for one process at a time. Default: none, so every start reads from the beginning. */
  readonly checkpoint?: string | undefined;
  /** Waits for further lines at the end of the file, and goes on with the next file after a rotation. @default false */
  readonly follow?: boolean | undefined;
  /** How often the end of a followed file is looked at, ms; 1 to 60,000. @default 200 */
  readonly pollMs?: number | undefined;
  /** Longest line, bytes; a longer one is skipped, with a warning. 1 to 64 MiB. @default 1048576 */
  readonly lineMaxBytes?: number | undefined;
  /** How lines are read. @default "json" */
  readonly format?: Format | undefined;
}

interface FileSettings {
  readonly path: string;
  readonly checkpoint: string | undefined;
  readonly follow: boolean;
  readonly pollMs: number;
  readonly lineMaxBytes: number;
}

const KNOWN = ["path", "checkpoint", "follow", "pollMs", "lineMaxBytes", "format"];
/** Delay until appended lines are seen, at most; lowered, an idle file costs more calls of `stat`. */
const POLL_MS = 200;
const POLL_MAX_MS = 60_000;
/** Pulsar's and Kafka's bound of a message is of this size too. */
export const LINE_MAX_BYTES = 1_048_576;
export const LINE_MAX_BYTES_MAX = 67_108_864;

/**
 * The lines of a file as messages. With `checkpoint` a restart goes on behind the last line up to which all lines
 * are acknowledged.
 *
 * @example
 * fileSource({ path: "orders.ndjson", checkpoint: "orders.checkpoint", follow: true });
 */
export function fileSource(options: FileSourceOptions): SourceConnector<Buffer> {
  const example = 'fileSource({ path: "orders.ndjson" })';
  requireOptions("fileSource", options, { known: KNOWN, example });
  const { path, checkpoint, follow = false, pollMs = POLL_MS, format = "json" } = options;
  const { lineMaxBytes = LINE_MAX_BYTES } = options;
  requireText("path of fileSource", path, "orders.ndjson");
  if (checkpoint !== undefined)
    requireText("checkpoint of fileSource", checkpoint, "orders.checkpoint");
  requireFlag("follow of fileSource", follow);
  requireWhole("pollMs of fileSource", pollMs, 1, POLL_MAX_MS);
  requireWhole("lineMaxBytes of fileSource", lineMaxBytes, 1, LINE_MAX_BYTES_MAX);
  requireFormat("fileSource", format);
  const settings = { path, checkpoint, follow, pollMs, lineMaxBytes };
  return {
    kind: "file",
    format,
    open: async (context) => {
      const source = new FileSource(settings, context);
      await source.begin();
      return source;
    },
  };
}

interface Held {
  readonly line: Line;
  readonly tail: Tail;
}

class FileSource implements Source<Buffer> {
  readonly #settings: FileSettings;
  readonly #context: OpenContext;
  readonly #checkpoint: CheckpointFile | undefined;
  /** Opened files, the oldest first; all but the last are read to their ends and not acknowledged to them. */
  readonly #tails: Tail[] = [];
  /** Lines that were cut and not yet read; at most those of one chunk. */
  readonly #lines = new Fifo<Held>();
  readonly #unacknowledged = new Map<Message, { readonly tail: Tail; readonly place: Place }>();
  #isEnded = false;
  /** The last file was renamed; it is read once more after a pause, since its writer may not have noticed. */
  #isRotated = false;
  /** The last file is an older one than that at `path`, found by the checkpoint. */
  #isBehind = false;
  #isMissingTold = false;

  constructor(settings: FileSettings, context: OpenContext) {
    this.#settings = settings;
    this.#context = context;
    const { checkpoint } = settings;
    if (checkpoint !== undefined)
      this.#checkpoint = new CheckpointFile(checkpoint, () => this.#position());
  }

  async begin(): Promise<void> {
    const stored = await this.#checkpoint?.load();
    const isOpen = await this.#openPath(stored);
    if (!isOpen && !this.#settings.follow)
      throw fileError("fileSource", this.#settings.path, { code: "ENOENT" });
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
      if (this.#isEnded) return END;
      if (await this.#fill()) continue;
      const leftMs = untilMs - timer.now();
      if (signal.aborted || leftMs <= 0) return [];
      await pause(timer, Math.min(this.#settings.pollMs, leftMs), signal);
    }
  }

  async ack(messages: readonly Message<Buffer>[]): Promise<void> {
    for (const message of messages) {
      const read = this.#unacknowledged.get(message);
      if (read === undefined) continue;
      this.#unacknowledged.delete(message);
      read.tail.prefix.acknowledge(read.place);
    }
    await this.#checkpoint?.save();
    await this.#closeDone();
  }

  async close(): Promise<void> {
    try {
      await this.#checkpoint?.save();
    } finally {
      await Promise.all(this.#tails.splice(0).map((tail) => tail.close()));
    }
  }

  #take(countMax: number): Message<Buffer>[] {
    const messages: Message<Buffer>[] = [];
    let skipped = 0;
    while (messages.length < countMax) {
      const held = this.#lines.shift();
      if (held === undefined) break;
      const { tail, line } = held;
      if (line.bytes === undefined) {
        tail.prefix.skip(line.end);
        skipped++;
        continue;
      }
      const id = `${tail.inode}:${line.end}:${crc32(line.bytes).toString(16)}`;
      const message = { id, value: line.bytes, headers: {} };
      this.#unacknowledged.set(message, { tail, place: tail.prefix.add(line.end) });
      messages.push(message);
    }
    if (skipped > 0) {
      const { path, lineMaxBytes } = this.#settings;
      const text = `${path}: ${skipped} lines longer than ${lineMaxBytes} bytes are skipped; raise lineMaxBytes (lineMax in a flow file)`;
      this.#context.tell({ level: "warning", text });
    }
    return messages;
  }

  /** Reads on. False: there is nothing at present. */
  async #fill(): Promise<boolean> {
    const tail = this.#tails.at(-1);
    if (tail === undefined) return this.#openPath(undefined);
    const { path, follow } = this.#settings;
    try {
      const lines = await tail.read();
      if (lines !== undefined) {
        this.#isRotated = false;
        this.#hold(tail, lines);
        return true;
      }
      if (this.#isBehind) return this.#holdRest(tail) || (await this.#openPath(undefined));
      if (follow) return await this.#followOn(tail);
    } catch (error) {
      throw fileError("fileSource", path, error);
    }
    this.#holdRest(tail);
    this.#isEnded = true;
    return true;
  }

  async #followOn(tail: Tail): Promise<boolean> {
    const { path } = this.#settings;
    const found = await stat(path, { bigint: true }).catch((error: unknown) => {
      // Between the two steps of a rotation there is no file.
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    });
    if (found === undefined) return false;
    if (String(found.ino) !== tail.inode) {
      if (!this.#isRotated) {
        this.#isRotated = true;
        return false;
      }
      if (this.#holdRest(tail)) return true;
      this.#isRotated = false;
      this.#context.tell({ level: "info", text: `${path} was rotated; reading the new file` });
      return this.#openPath(undefined);
    }
    if (Number(found.size) >= tail.offset) return false;
    const text = `${path} was truncated from ${tail.offset} to ${found.size} bytes; reading from its beginning`;
    this.#context.tell({ level: "warning", text });
    // Its lines are gone, so that their acknowledgements mean nothing any more.
    this.#tails.pop();
    await tail.close();
    return this.#openPath(undefined);
  }

  /** Lines of an older file are all taken before the next file is opened: `#isDone` relies on it. */
  #holdRest(tail: Tail): boolean {
    const rest = tail.end();
    this.#hold(tail, rest);
    return rest.length > 0;
  }

  #hold(tail: Tail, lines: readonly Line[]): void {
    for (const line of lines) this.#lines.push({ tail, line });
  }

  /** Opens the file, or the one that a checkpoint tells of. False: there is none yet. */
  async #openPath(stored: Checkpoint | undefined): Promise<boolean> {
    const { path, lineMaxBytes } = this.#settings;
    this.#isBehind = false;
    try {
      const found = stored === undefined ? undefined : await this.#fileOf(stored);
      this.#tails.push(found ?? (await Tail.open(path, lineMaxBytes)));
      this.#isMissingTold = false;
      return true;
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw fileError("fileSource", path, error);
      if (!this.#isMissingTold && this.#settings.follow)
        this.#context.tell({ level: "info", text: `${path} does not exist yet; waiting for it` });
      this.#isMissingTold = true;
      return false;
    }
  }

  /** The file of a checkpoint: that at `path`, or one of a similar name in its folder after a rotation. */
  async #fileOf(stored: Checkpoint): Promise<Tail | undefined> {
    const { path } = this.#settings;
    const folder = dirname(path);
    const names = await readdir(folder);
    const similar = names.filter((name) => name.startsWith(basename(path)));
    for (const candidate of [path, ...similar.map((name) => join(folder, name))]) {
      const tail = await this.#tailIf(candidate, stored);
      if (tail === undefined) continue;
      this.#isBehind = candidate !== path && basename(candidate) !== basename(path);
      return tail;
    }
    const text = `${path} is not the file that the checkpoint ${this.#settings.checkpoint} tells of, or was truncated; reading it from its beginning. Unread lines of the other file are not read`;
    this.#context.tell({ level: "warning", text });
    return undefined;
  }

  async #tailIf(path: string, stored: Checkpoint): Promise<Tail | undefined> {
    const isThere = await stat(path, { bigint: true }).then(
      ({ ino }) => String(ino) === stored.inode,
      () => false,
    );
    if (!isThere) return undefined;
    const tail = await Tail.open(path, this.#settings.lineMaxBytes, stored.offset);
    if (await tail.isFileOf(stored)) return tail;
    await tail.close();
    return undefined;
  }

  /** What a restart needs: the oldest file that is not acknowledged to its end. */
  async #position(): Promise<Checkpoint | undefined> {
    const first = this.#tails.find((tail) => !this.#isDone(tail)) ?? this.#tails.at(-1);
    return first?.checkpoint();
  }

  #isDone(tail: Tail): boolean {
    return tail !== this.#tails.at(-1) && tail.prefix.length === 0;
  }

  async #closeDone(): Promise<void> {
    for (;;) {
      const [first] = this.#tails;
      if (first === undefined || !this.#isDone(first)) return;
      this.#tails.shift();
      await first.close();
    }
  }
}
