import { open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { ConnectorError } from "../connector-error.ts";
import { codeOf, fileError } from "./failure.ts";

/** How far a file was processed. */
export interface Checkpoint {
  readonly inode: string;
  /** Bytes whose lines are all acknowledged. */
  readonly offset: number;
  /** SHA-256 of the first bytes of the file, up to `offset`: tells a file from another one with the same inode. */
  readonly head: string;
}

const WHAT = "the checkpoint of fileSource";

/**
 * One checkpoint in a file that is replaced whole: temporary file, fsync, rename, fsync of the folder. A crash
 * leaves the old or the new one. One process at a time may use it.
 */
export class CheckpointFile {
  readonly #path: string;
  readonly #current: () => Promise<Checkpoint | undefined>;
  #stored: Checkpoint | undefined;
  #queued: Promise<void> | undefined;
  #running: Promise<void> = Promise.resolve();

  /** `current` answers what is to be stored when a write begins. */
  constructor(path: string, current: () => Promise<Checkpoint | undefined>) {
    this.#path = path;
    this.#current = current;
  }

  /** Undefined if none was stored yet. */
  async load(): Promise<Checkpoint | undefined> {
    const text = await readFile(this.#path, "utf8").catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return undefined;
      throw fileError(WHAT, this.#path, error);
    });
    if (text === undefined) return undefined;
    this.#stored = parsed(text);
    if (this.#stored !== undefined) return this.#stored;
    throw new ConnectorError(
      `${WHAT} ${JSON.stringify(this.#path)} is ${JSON.stringify(text.slice(0, 80))}; expected {"inode","offset","head"}; remove the file to read from the beginning`,
      { canHeal: false },
    );
  }

  /** Resolves once the state of now is on disk. Calls that come during a write share the next one. */
  save(): Promise<void> {
    if (this.#queued !== undefined) return this.#queued;
    const begin = async (before: Promise<void>): Promise<void> => {
      await before.catch(() => undefined);
      this.#queued = undefined;
      this.#running = this.#write();
      await this.#running;
    };
    this.#queued = begin(this.#running);
    return this.#queued;
  }

  async #write(): Promise<void> {
    const next = await this.#current();
    if (next === undefined || isSame(next, this.#stored)) return;
    const temporary = `${this.#path}.tmp`;
    try {
      const file = await open(temporary, "w");
      try {
        await file.writeFile(`${JSON.stringify(next)}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, this.#path);
      const folder = await open(dirname(this.#path), "r");
      try {
        await folder.sync();
      } finally {
        await folder.close();
      }
    } catch (error) {
      throw fileError(WHAT, this.#path, error);
    }
    this.#stored = next;
  }
}

function isSame(one: Checkpoint, other: Checkpoint | undefined): boolean {
  return one.inode === other?.inode && one.offset === other.offset && one.head === other.head;
}

function parsed(text: string): Checkpoint | undefined {
  try {
    const { inode, offset, head } = JSON.parse(text) as Record<string, unknown>;
    if (typeof inode !== "string" || typeof head !== "string") return undefined;
    if (typeof offset !== "number" || !Number.isSafeInteger(offset) || offset < 0) return undefined;
    return { inode, offset, head };
  } catch {
    return undefined;
  }
}
