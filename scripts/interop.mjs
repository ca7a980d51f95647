// Tests with real Pulsar clients and a real Pulsar broker. They are fetched by the ordinary package
// clients of this machine into node_modules/.cache/interop and nowhere else; what cannot be fetched
// is skipped, with a line that says so. Tests begin while other programs are still being fetched.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findPrograms } from "./interop-programs.mjs";

/** Optional suites that have not begun by then are skipped, each with a line that names it. */
const OPTIONAL_MS = 10 * 60_000;

/**
 * Then the run is stopped and has failed. A quiet machine takes 14 minutes with all downloads; a busy one repeats measurements,
 * each up to three times.
 */
const RUN_MAX_MS = 24 * 60_000;

const root = fileURLToPath(new URL("../", import.meta.url));
const isBounded = process.env.INTEROP_ALL !== "1" && process.env.INTEROP_ISOLATION_MS === undefined;

findPrograms();
const vitest = join(root, "node_modules/vitest/vitest.mjs");
const args = [vitest, "run", "--config", "interop/vitest.config.ts", ...process.argv.slice(2)];
const tests = spawn(process.execPath, args, {
  cwd: root,
  stdio: ["ignore", "inherit", "inherit"],
  env: {
    ...process.env,
    ...(isBounded && { INTEROP_OPTIONAL_UNTIL: String(Date.now() + OPTIONAL_MS) }),
  },
});
const guard = isBounded && setTimeout(stop, RUN_MAX_MS);
const [status] = await once(tests, "close");
clearTimeout(guard);
process.exit(status ?? 1);

function stop() {
  const minutes = RUN_MAX_MS / 60_000;
  console.error(
    `interop: stopped after ${minutes} minutes; the suites named above did not all end`,
  );
  tests.kill("SIGTERM");
}
