import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Timer } from "@sluice/core";
import { isTimeUp, stampOf } from "./watch-file.ts";

interface Seen {
  readonly stamp: string;
  readonly digest: string;
}

/**
 * Calls back with a module's file each time that its content has changed, until the signal aborts. `files` is asked at every
 * look, because a reload may name other modules; the content at the first look is the known one.
 */
export async function watchModules({
  files,
  timer,
  signal,
  onChange,
}: {
  readonly files: () => readonly string[];
  readonly timer: Timer;
  readonly signal: AbortSignal;
  readonly onChange: (file: string) => Promise<void>;
}): Promise<void> {
  let seen: ReadonlyMap<string, Seen> = new Map();
  do {
    const next = new Map<string, Seen>();
    for (const file of new Set(files())) {
      const before = seen.get(file);
      const now = (await lookAt(file, before)) ?? before;
      if (now === undefined) continue;
      next.set(file, now);
      if (before !== undefined && before.digest !== now.digest) await onChange(file);
    }
    seen = next;
  } while (await isTimeUp(timer, signal));
}

/** Undefined while the file cannot be read, such as while it is replaced. */
async function lookAt(file: string, before: Seen | undefined): Promise<Seen | undefined> {
  const stamp = await stampOf(file);
  if (stamp === undefined || stamp === before?.stamp) return before;
  try {
    const digest = createHash("sha256")
      .update(await readFile(file))
      .digest("hex");
    return { stamp, digest };
  } catch {
    return undefined;
  }
}
