import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { AcknowledgedPrefix } from "../acknowledged-prefix.ts";
import { LineSplitter } from "../line-splitter.ts";
import type { Line } from "../line-splitter.ts";
import type { Checkpoint } from "./checkpoint.ts";

/** One read of a file, bytes. Raised, reads are fewer and messages keep larger pieces of memory alive. */
const CHUNK_BYTES = 65_536;
/** Bytes at the beginning of a file by which it is recognised; less if less of it is acknowledged. */
const HEAD_BYTES = 1024;

/** One opened file: what was read of it, and what of that is acknowledged. */
export class Tail {
  readonly inode: string;
  readonly prefix: AcknowledgedPrefix;
  readonly #file: FileHandle;
  readonly #splitter: LineSplitter;
  #fullHead: string | undefined;

  private constructor(file: FileHandle, inode: string, splitter: LineSplitter) {
    this.#file = file;
    this.inode = inode;
    this.#splitter = splitter;
    this.prefix = new AcknowledgedPrefix(splitter.offset);
  }

  static async open(path: string, lineMaxBytes: number, offset: number = 0): Promise<Tail> {
    const file = await open(path, "r");
    try {
      const { ino } = await file.stat({ bigint: true });
      return new Tail(file, String(ino), new LineSplitter(lineMaxBytes, offset));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Bytes that were read so far. */
  get offset(): number {
    return this.#splitter.offset;
  }

  /** The lines of the next bytes; undefined at the present end of the file. */
  async read(): Promise<Line[] | undefined> {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const { bytesRead } = await this.#file.read(chunk, 0, CHUNK_BYTES, this.#splitter.offset);
    return bytesRead === 0 ? undefined : this.#splitter.push(chunk.subarray(0, bytesRead));
  }

  /** Nothing will be appended any more: the unfinished line is a line. */
  end(): Line[] {
    return this.#splitter.end();
  }

  /** Whether it is the file of which a checkpoint tells, and still has what was acknowledged. */
  async isFileOf({ inode, offset, head }: Checkpoint): Promise<boolean> {
    const { size } = await this.#file.stat();
    return this.inode === inode && size >= offset && (await this.#headUpTo(offset)) === head;
  }

  async checkpoint(): Promise<Checkpoint> {
    const offset = this.prefix.position;
    return { inode: this.inode, offset, head: await this.#headUpTo(offset) };
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #headUpTo(offset: number): Promise<string> {
    const length = Math.min(offset, HEAD_BYTES);
    if (length === HEAD_BYTES && this.#fullHead !== undefined) return this.#fullHead;
    const bytes = Buffer.alloc(length);
    if (length > 0) await this.#file.read(bytes, 0, length, 0);
    const head = createHash("sha256").update(bytes).digest("hex");
    if (length === HEAD_BYTES) this.#fullHead = head;
    return head;
  }
}
