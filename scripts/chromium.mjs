// Finds a Chromium for the browser tests, or installs Debian's if this runs as root. Without one the tests are
// skipped by name. Run by itself it says what it found.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/** Download and installation. Raised, a machine without a network waits longer before the tests start. */
const FETCH_TIMEOUT_MS = 300_000;

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  console.log(ensureChromium() ?? "no Chromium; the browser tests are skipped");

/** Fetches Chromium if it is missing. Returns its path, or undefined. */
export function ensureChromium() {
  const found = find();
  if (found !== undefined || process.platform !== "linux" || process.getuid() !== 0) return found;
  if (!run("apt-get", ["--version"])) return undefined;
  console.error("no Chromium here; installing one for the browser tests");
  const install = ["install", "-y", "-q", "--no-install-recommends", "chromium"];
  // A machine that never asked for a package has no list of them.
  if (!run("apt-get", install) && run("apt-get", ["update", "-q"])) run("apt-get", install);
  return find();
}

function find() {
  const given = process.env.CHROMIUM;
  if (given !== undefined && existsSync(given)) return given;
  const folders = (process.env.PATH ?? "").split(delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) =>
    existsSync(path),
  );
}

function run(command, args) {
  const { status } = spawnSync(command, args, {
    stdio: "ignore",
    timeout: FETCH_TIMEOUT_MS,
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  return status === 0;
}
