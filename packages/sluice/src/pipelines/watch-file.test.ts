import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Timer } from "@sluice/core";
import { expect, onTestFinished, test } from "vitest";
import { watchFile } from "./watch-file.ts";

test("a change between the first read of a file and its watch is seen", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-watch-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "flow.yaml");
  // The watch begins with "a", and finds this.
  await writeFile(file, "b");
  const seen: string[] = [];
  const stopped = new AbortController();
  const timer = turnsUntil(stopped, 3);
  const onChange = (text: string): Promise<void> => {
    seen.push(text);
    return Promise.resolve();
  };
  await watchFile(file, "a", { timer, signal: stopped.signal, onChange });
  expect(seen).toEqual(["b"]);
});

/** Each sleep ends at once; the last one stops the watch. */
function turnsUntil(stopped: AbortController, turns: number): Timer {
  let left = turns;
  return {
    now: () => 0,
    sleep: () => {
      if (--left === 0) stopped.abort();
      return Promise.resolve();
    },
  };
}
