import { readFile, stat } from "node:fs/promises";
import type { Timer } from "@sluice/core";

/** How often the file is looked at, ms. Lowered, a change is seen sooner and an idle process wakes more often. */
const POLL_MS = 1_000;

/**
 * Calls back with the content of a file each time that it has changed, until the signal aborts. A file that
 * cannot be read, such as one that is being replaced, is looked at again. Kubernetes replaces mounted files
 * through links, which `fs.watch` does not see.
 */
export async function watchFile(
  file: string,
  content: string,
  {
    timer,
    signal,
    onChange,
  }: {
    readonly timer: Timer;
    readonly signal: AbortSignal;
    readonly onChange: (content: string) => Promise<void>;
  },
): Promise<void> {
  let known = content;
  // The file may have changed since `content` was read: it is read once more at the first look.
  let stamp: string | undefined;
  while (await isTimeUp(timer, signal)) {
    const now = await stampOf(file);
    if (now === undefined || now === stamp) continue;
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text === undefined) continue;
    stamp = now;
    if (text === known) continue;
    known = text;
    await onChange(text);
  }
}

/** False if the signal ended the wait. */
export async function isTimeUp(timer: Timer, signal: AbortSignal): Promise<boolean> {
  await timer.sleep(POLL_MS, signal).catch(() => undefined);
  return !signal.aborted;
}

/** Changes with every write and every replacement; undefined if there is no such file. */
export async function stampOf(file: string): Promise<string | undefined> {
  try {
    const { mtimeMs, size, ino } = await stat(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return undefined;
  }
}
