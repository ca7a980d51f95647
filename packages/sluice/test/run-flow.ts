import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { systemTimer } from "@sluice/core/system";
import { onTestFinished } from "vitest";
import { ended } from "./ended.ts";

/** How long `until` waits: only a failing test takes this long. */
const PATIENCE_MS = 45_000;

export const bin = fileURLToPath(new URL("../bin/sluice.js", import.meta.url));

/** One process of `sluice run`. */
export interface Run {
  readonly child: ChildProcess;
  readonly folder: string;
  readonly ready: {
    readonly gateway: string | null;
    readonly admin: string;
    readonly pipelines: readonly string[];
  };
  /** Lines of standard error so far. */
  readonly log: readonly string[];
}

/** Runs a flow file in a folder of its own; a test that ends kills the process. */
export async function runFlow(
  text: string,
  files: Readonly<Record<string, string>> = {},
): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-pipelines-"));
  for (const [name, content] of Object.entries({ ...files, "flow.yaml": text }))
    writeFileSync(join(folder, name), content);
  const child = spawn(process.execPath, [bin, "run", "flow.yaml", "--json"], { cwd: folder });
  onTestFinished(async () => {
    await ended(child);
    rmSync(folder, { recursive: true, force: true });
  });
  const log: string[] = [];
  createInterface(child.stderr).on("line", (line) => log.push(line));
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { child, folder, log, ready: JSON.parse(line) as Run["ready"] };
}

export async function until(
  isSo: () => boolean | Promise<boolean>,
  what: () => string,
): Promise<void> {
  const endAtMs = systemTimer.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (systemTimer.now() > endAtMs) throw new Error(`not within ${PATIENCE_MS} ms: ${what()}`);
    await systemTimer.sleep(50);
  }
}
