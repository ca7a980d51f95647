// Makes a fresh clone ready: installs what the lockfile says if that has changed, then builds.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);
const lockfile = new URL("package-lock.json", root);
const installed = new URL("node_modules/.sluice-lock.json", root);

// For `npm start`: each step has its line, and only what runs is built, not the types of tests and benchmarks.
const isStart = process.argv.includes("--start");

if (!isInstalled()) {
  const beganAt = performance.now();
  if (isStart) console.log("  install  … npm ci, which may take a minute");
  run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
  copyFileSync(lockfile, installed);
  tell("install", beganAt);
}
const beganAt = performance.now();
run("npm", ["run", "--silent", isStart ? "build:sluice" : "build"]);
tell("build", beganAt);

function tell(step, sinceMs) {
  if (isStart)
    console.log(`  ${step.padEnd(8)} ✓ ${Math.ceil((performance.now() - sinceMs) / 1_000)} s`);
}

function isInstalled() {
  return existsSync(installed) && readFileSync(installed).equals(readFileSync(lockfile));
}

function run(command, args) {
  // npm's own output goes to stderr, so that `npm start` prints nothing but what it shows.
  const result = spawnSync(command, args, {
    cwd: fileURLToPath(root),
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (result.status !== 0) {
    console.error(`${command} ${args.join(" ")} failed`);
    process.exit(1);
  }
}
