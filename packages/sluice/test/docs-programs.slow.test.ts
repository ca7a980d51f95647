/** Pages with programs to run, such as the tutorial, followed literally: files are written and commands are run in their order. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { systemTimer } from "@sluice/core/system";
import { afterAll, describe, expect, test } from "vitest";
import { freePort } from "./free-port.ts";
import { redisPath, RedisServer } from "../../fleet/test/redis-server.ts";
import { pathOf } from "../../../test/tree.ts";
import { blocksOf, commandsOf, fileNameOf } from "../../../test/docs/blocks.ts";

/** Runs until it is stopped; the next commands need it. */
const SERVER = "node service.mjs";
/** The service of the tutorial counts by the second. */
const PAUSE_MS = 1100;

const folder = mkdtempSync(join(tmpdir(), "sluice-tutorial-"));
const servers: ChildProcess[] = [];

afterAll(async () => {
  for (const server of servers) {
    const ended = once(server, "exit");
    server.kill();
    await ended;
  }
  rmSync(folder, { recursive: true });
});

const pages = ["docs/README.md", "docs/tutorial.md", "docs/migration/express-rate-limit.md"];

describe.each(pages)("%s", (document) => {
  test("runs, and shows what it says", { timeout: 240_000 }, async () => {
    symlinkOnce();
    const port = await freePort();
    const redis = redisPath === undefined ? undefined : await RedisServer.start();
    const addressed = (program: string): string =>
      program
        .replaceAll(/9000|8080/g, String(port))
        .replaceAll("redis://127.0.0.1:6379", redis?.url ?? "redis://127.0.0.1:6379");
    let ran = 0;
    for (const block of blocksOf(document)) {
      const name = fileNameOf(block);
      if (name !== undefined) writeFileSync(join(folder, name), addressed(block.text));
      if (block.language !== "console") continue;
      for (const [command, shown] of commandsOf(block)) {
        // Commands of `sluice` are run by docs-commands.slow.test.ts.
        if (!command.startsWith("node ")) continue;
        if (command === "node fleet.mjs" && redis === undefined) continue;
        const printed = command === SERVER ? await startServer(command) : await output(command);
        expect(withoutNumbers(printed), command).toBe(withoutNumbers(addressed(shown)));
        ran++;
      }
    }
    await redis?.stop();
    expect(ran).toBeGreaterThan(0);
  });
});

function symlinkOnce(): void {
  try {
    symlinkSync(pathOf("node_modules"), join(folder, "node_modules"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function start(command: string): ChildProcess {
  const [program = "", ...args] = command.split(" ");
  expect(program).toBe("node");
  return spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
}

async function startServer(command: string): Promise<string> {
  const server = start(command);
  servers.push(server);
  const [line] = (await once(server.stdout ?? server, "data")) as [Buffer];
  return String(line).trim();
}

async function output(command: string): Promise<string> {
  await systemTimer.sleep(PAUSE_MS);
  const program = start(command);
  const exited = once(program, "exit");
  const printed = program.stdout === null ? "" : await text(program.stdout);
  expect(await exited, command).toEqual([0, null]);
  return printed.trim();
}

/** Times, counts and ports differ from run to run. */
function withoutNumbers(shown: string): string {
  return shown.replaceAll(/\d+(?:\.\d+)?/g, "#");
}
