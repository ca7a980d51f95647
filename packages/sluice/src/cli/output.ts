import { once } from "node:events";
import type { Writable } from "node:stream";

/** Characters gathered before they are written: one system call for many lines. */
const CHUNK_CHARS = 64 * 1024;

/**
 * Writes lines at the pace of their reader. A reader that has gone, such as `head`, is no
 * failure: the rest is not written.
 */
export async function writeLines(out: Writable, lines: Iterable<string>): Promise<void> {
  let chunk = "";
  for (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < CHUNK_CHARS) continue;
    if (!(await write(out, chunk))) return;
    chunk = "";
  }
  await write(out, chunk);
}

/** False once the reader has gone. */
async function write(out: Writable, chunk: string): Promise<boolean> {
  if (out.destroyed || out.errored) return false;
  try {
    if (!out.write(chunk)) await once(out, "drain");
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EPIPE") return false;
    throw error;
  }
}
