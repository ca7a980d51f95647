// All checks of what `setup.mjs` has built, then all tests. The tests come last: their closing line ends the run.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ensureChromium } from "./chromium.mjs";
import { ensureRedis } from "./redis.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const steps = [
  ["npm", ["run", "--silent", "check:built"]],
  ["npx", ["vitest", "run", ...process.argv.slice(2)]],
];

if (ensureRedis() === undefined)
  console.error("no Redis server here, and none to fetch: the tests that need one are skipped");

if (ensureChromium() === undefined)
  console.error("no Chromium here, and none to fetch: the browser tests are skipped");

for (const [command, args] of steps) {
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(1);
}
