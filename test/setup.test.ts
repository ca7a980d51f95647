/** What `npm start` installs and builds with is ended by Ctrl-C, whatever the programs do with the signal. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const SCRIPT = new URL("../scripts/setup.mjs", import.meta.url);

/** Goes on after SIGINT, as the compiler does. */
const BUILD = `process.on("SIGINT", () => {});
require("node:fs").writeFileSync("build.pid", String(process.pid));
setInterval(() => {}, 1_000);`;

test("Ctrl-C while npm start builds leaves no process", { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-setup-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "node_modules"));
  cpSync(SCRIPT, join(folder, "scripts/setup.mjs"));
  writeFileSync(join(folder, "build.cjs"), BUILD);
  const scripts = { "build:sluice": "node build.cjs" };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "shop", scripts }));
  for (const file of ["package-lock.json", "node_modules/.sluice-lock.json"])
    writeFileSync(join(folder, file), "{}");

  const setup = spawn(process.execPath, ["scripts/setup.mjs", "--start"], {
    cwd: folder,
    stdio: "ignore",
    detached: true,
  });
  const exited = once(setup, "exit");
  const pidFile = join(folder, "build.pid");
  await expect
    .poll(() => existsSync(pidFile) && readFileSync(pidFile, "utf8"), { timeout: 50_000 })
    .toMatch(/\d/);
  const build = Number(readFileSync(pidFile, "utf8"));
  process.kill(-(setup.pid ?? 0), "SIGINT");

  expect(await exited).toEqual([1, null]);
  await expect.poll(() => isRunning(build), { timeout: 10_000 }).toBe(false);
});

/** A killed process without a parent that waits for it stays as a zombie. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = `/proc/${pid}/stat`;
  return !existsSync(stat) || !/\) Z /.test(readFileSync(stat, "utf8"));
}
