// Makes a fresh clone ready: installs what the lockfile says if that has changed, then builds.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);
const lockfile = new URL("package-lock.json", root);
const installed = new URL("node_modules/.sluice-lock.json", root);

// For `npm start`: each step has its line, and only what runs is built, not the types of tests and benchmarks.
const isStart = process.argv.includes("--start");

const isWindows = process.platform === "win32";
/** How long npm has to undo half an installation before it is killed, in ms. */
const STOP_MS = 3_000;
/** The step that runs. */
let running;
let isStopping = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => stop(signal));
// SIGTERM to npm ends npm and its shell, and is not passed on to here: a parent that has gone is the same wish.
const parent = process.ppid;
const PARENT_CHECK_MS = 500;
setInterval(() => process.ppid === parent || stop("SIGTERM"), PARENT_CHECK_MS).unref();

if (!isInstalled()) {
  const beganAt = performance.now();
  if (isStart) console.log("  install  … npm ci, which may take a minute");
  await run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
  copyFileSync(lockfile, installed);
  tell("install", beganAt);
}
const beganAt = performance.now();
await run("npm", ["run", "--silent", isStart ? "build:sluice" : "build"]);
tell("build", beganAt);

function tell(step, sinceMs) {
  if (isStart)
    console.log(`  ${step.padEnd(8)} ✓ ${Math.ceil((performance.now() - sinceMs) / 1_000)} s`);
}

function isInstalled() {
  return existsSync(installed) && readFileSync(installed).equals(readFileSync(lockfile));
}

async function run(command, args) {
  // npm's own output goes to stderr, so that `npm start` prints nothing but what it shows. A process group of its own,
  // which is killed as a whole: the compiler goes on after SIGINT.
  running = spawn(command, args, {
    cwd: fileURLToPath(root),
    stdio: ["ignore", 2, 2],
    detached: !isWindows,
    shell: isWindows,
  });
  const [code] = await once(running, "exit").catch(() => [1]);
  if (isStopping) {
    signalStep("SIGKILL");
    process.exit(1);
  }
  if (code === 0) return;
  console.error(`${command} ${args.join(" ")} failed`);
  process.exit(1);
}

function stop(signal) {
  if (isStopping) return;
  isStopping = true;
  if (running === undefined) process.exit(1);
  signalStep(signal);
  setTimeout(() => signalStep("SIGKILL"), STOP_MS).unref();
}

function signalStep(signal) {
  try {
    process.kill(isWindows ? running.pid : -running.pid, signal);
  } catch {
    // All of it has ended.
  }
}
