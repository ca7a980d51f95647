import { crc32c } from "@sluice/pulsar/wire";
import type { ReadableFile } from "../file/log-files.ts";
import { BODY_BYTES_MAX, RECORD_HEADER_BYTES, headerSum, isIntact, readHeader } from "./record.ts";
import type { RecordHeader } from "./record.ts";

/** A file is looked at through so many bytes at a time, however large its records say they are. */
const WINDOW_BYTES = 1024 * 1024;

/** Looks at a file from front to back in bounded memory. */
export class FileWindow {
  readonly sizeBytes: number;
  readonly #file: ReadableFile;
  readonly #buffer: Buffer;
  #from = 0;
  #length = 0;

  constructor(file: ReadableFile, sizeBytes: number) {
    this.#file = file;
    this.sizeBytes = sizeBytes;
    this.#buffer = Buffer.allocUnsafeSlow(Math.min(WINDOW_BYTES, sizeBytes));
  }

  /** At least one byte and at most `bytesMax` from an offset on; none at the file's end. */
  async bytesAt(offsetBytes: number, bytesMax: number): Promise<Buffer> {
    const wanted = Math.min(bytesMax, this.#buffer.length, this.sizeBytes - offsetBytes);
    if (wanted <= 0) return this.#buffer.subarray(0, 0);
    if (offsetBytes < this.#from || offsetBytes + wanted > this.#from + this.#length) {
      this.#length = await this.#file.read(this.#buffer, offsetBytes);
      this.#from = offsetBytes;
    }
    const at = offsetBytes - this.#from;
    return this.#buffer.subarray(at, Math.min(at + wanted, this.#length));
  }

  /** The record at an offset without any wait, if it is in memory whole and intact. */
  recordInMemory(offsetBytes: number, salt: Buffer): RecordHeader | undefined {
    const at = offsetBytes - this.#from;
    if (at < 0 || at + RECORD_HEADER_BYTES > this.#length) return undefined;
    const header = readHeader(this.#buffer, at, salt);
    if (header === undefined || at + RECORD_HEADER_BYTES + header.bodyBytes > this.#length)
      return undefined;
    return isIntact(this.#buffer, at, header) ? header : undefined;
  }

  /** The record at an offset if it is whole and intact. Its length is not believed before. */
  async recordAt(offsetBytes: number, salt: Buffer): Promise<RecordHeader | undefined> {
    const head = await this.bytesAt(offsetBytes, RECORD_HEADER_BYTES);
    if (head.length < RECORD_HEADER_BYTES) return undefined;
    const header = readHeader(head, 0, salt);
    if (header === undefined || header.bodyBytes > BODY_BYTES_MAX) return undefined;
    let sum = headerSum(head, 0);
    let at = offsetBytes + RECORD_HEADER_BYTES;
    const end = at + header.bodyBytes;
    if (end > this.sizeBytes) return undefined;
    while (at < end) {
      const body = await this.bytesAt(at, end - at);
      if (body.length === 0) return undefined;
      sum = crc32c(body, sum);
      at += body.length;
    }
    return sum === header.crc ? header : undefined;
  }

  /** Where `bytes` are next found at or after an offset; undefined if nowhere. */
  async find(bytes: Buffer, offsetBytes: number): Promise<number | undefined> {
    for (let from = offsetBytes; ;) {
      const seen = await this.bytesAt(from, WINDOW_BYTES);
      if (seen.length < bytes.length) return undefined;
      const at = seen.indexOf(bytes);
      if (at >= 0) return from + at;
      from += seen.length - bytes.length + 1;
    }
  }
}
