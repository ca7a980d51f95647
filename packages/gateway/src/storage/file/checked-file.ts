import { InvariantError } from "@sluice/core";
import { crc32c } from "@sluice/pulsar/wire";
import type { LogFiles } from "./log-files.ts";
import { StorageError } from "../storage-error.ts";

/**
 * A small file that is replaced whole: magic, length, CRC-32C, content. A crash leaves the former
 * one or the new one, so a file that does not check was damaged and not torn.
 */
const MAGIC = "SLUICEC1";
export const CHECKED_HEADER_BYTES = 16;

/** Ends the name of a file that is not yet what it is to be. Whoever finds one removes it. */
export const UNFINISHED = ".new";

/** No content may be longer: what cannot be read back must not be written. */
const CONTENT_BYTES_MAX = 64 * 1024 * 1024;

/** Replaces `name` in `folder`; resolves once that is durable. */
export async function replaceFile(
  files: LogFiles,
  { folder, name }: { readonly folder: string; readonly name: string },
  content: Buffer,
): Promise<void> {
  if (content.length > CONTENT_BYTES_MAX)
    throw new InvariantError(`${name} of ${content.length} bytes is longer than can be read`);
  const unfinished = `${folder}/${name}${UNFINISHED}`;
  try {
    await writeWhole(files, unfinished, content);
  } catch (error) {
    // On a full disk every byte counts.
    await files.remove(unfinished);
    throw error;
  }
  await files.rename(unfinished, `${folder}/${name}`);
  await files.syncFolder(folder);
}

async function writeWhole(files: LogFiles, path: string, content: Buffer): Promise<void> {
  const file = await files.openToWrite(path);
  try {
    await file.truncate(0);
    await file.write([headerOf(content), content], 0);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The content of a file. Rejects with a `StorageError` that names it if it is not as written. */
export async function readChecked(files: LogFiles, path: string): Promise<Buffer> {
  const file = await files.openToRead(path);
  try {
    const sizeBytes = await file.sizeBytes();
    if (sizeBytes < CHECKED_HEADER_BYTES || sizeBytes > CHECKED_HEADER_BYTES + CONTENT_BYTES_MAX)
      throw damaged(
        path,
        `is damaged: it has ${sizeBytes} bytes, which no file of a broker has; restore it`,
      );
    const bytes = Buffer.alloc(sizeBytes);
    await file.read(bytes, 0);
    const content = bytes.subarray(CHECKED_HEADER_BYTES);
    if (!bytes.subarray(0, CHECKED_HEADER_BYTES).equals(headerOf(content)))
      throw damaged(path, "has bytes that do not match their checksum");
    return content;
  } finally {
    await file.close();
  }
}

function headerOf(content: Buffer): Buffer {
  const header = Buffer.alloc(CHECKED_HEADER_BYTES);
  header.write(MAGIC, 0, "latin1");
  header.writeUInt32LE(content.length, 8);
  header.writeUInt32LE(crc32c(content), 12);
  return header;
}

function damaged(file: string, what: string): StorageError {
  return new StorageError("damaged", `${file} ${what}`, { spot: { file, offsetBytes: 0 } });
}
