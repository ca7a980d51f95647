// Finds a Redis server and a Valkey server for the tests, or fetches them. Tests start servers of their
// own from these programs, and name what they skip if there is none. Run by itself it says what it found.
// Fetched files go to node_modules/.cache/redis and nowhere else, unless only root can install them.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const REDIS = "redis-server";
const VALKEY = "valkey-server";
const APT = "apt-get";
/** One download. Raised, a machine without a network waits longer before the tests start. */
const FETCH_TIMEOUT_MS = 120_000;

const cache = fileURLToPath(new URL("../node_modules/.cache/redis/", import.meta.url));
const bin = join(cache, "bin");
const root = join(cache, "root");

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  ensureRedis();
  for (const name of [REDIS, VALKEY])
    console.log(find(name) ?? `no ${name}; the tests that need one are skipped`);
}

/** Fetches what is missing. Returns the path of a Redis server, else of a Valkey server, else undefined. */
export function ensureRedis() {
  const valkey = ensure(VALKEY);
  return ensure(REDIS) ?? valkey;
}

function ensure(name) {
  const found = find(name);
  if (found !== undefined || process.platform !== "linux") return found;
  if (!run(APT, ["--version"]) || !run("dpkg", ["--version"])) return undefined;
  console.error(`no ${name} here; fetching one for the tests`);
  unpack(name);
  if (name === REDIS && find(name) === undefined && process.getuid() === 0)
    run(APT, ["install", "-y", "-q", "--no-install-recommends", name]);
  return find(name);
}

function find(name) {
  const folders = [...(process.env.PATH ?? "").split(delimiter), bin];
  return folders
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path) && run(path, ["--version"]));
}

/** Unpacks the packages without installing them, which needs no rights. */
function unpack(name) {
  const debs = join(cache, name);
  for (const folder of [bin, debs]) mkdirSync(folder, { recursive: true });
  // A machine that never asked for a package has no list of them.
  if (!run("apt-cache", ["show", REDIS]) && process.getuid() === 0) run(APT, ["update", "-q"]);
  const packages = missingPackages(name);
  const isFetched =
    packages.length > 0
      ? run(APT, ["download", ...packages], debs)
      : name === VALKEY && downloadFromBackports(["valkey-server", "valkey-tools"], debs);
  if (!isFetched) return;
  for (const file of readdirSync(debs).filter((each) => each.endsWith(".deb")))
    run("dpkg", ["-x", file, root], debs);
  const lib = join(root, "usr/lib");
  // Without it no library came along: the machine has them all, for instance with a Redis of its own.
  const libraries = (
    existsSync(lib) ? readdirSync(lib, { recursive: true, withFileTypes: true }) : []
  )
    .filter((entry) => entry.name.includes(".so"))
    .map((entry) => entry.parentPath);
  const start = join(bin, name);
  const path = [...new Set(libraries)].join(":");
  // `exec` keeps the process id, by which the tests end the server.
  writeFileSync(
    start,
    `#!/bin/sh\nLD_LIBRARY_PATH='${path}' exec '${root}/usr/bin/${name}' "$@"\n`,
  );
  chmodSync(start, 0o755);
}

/** The server and those of its libraries that this machine does not have. */
function missingPackages(name) {
  const { stdout } = spawnSync(
    APT,
    ["install", "-qq", "--no-install-recommends", "--print-uris", name],
    { encoding: "utf8", timeout: FETCH_TIMEOUT_MS },
  );
  return [...stdout.matchAll(/^'[^']+' ([^_ ]+)_/gm)].map(([, each]) => each);
}

/**
 * Debian 12 has Valkey only in its backports, which machines do not list: they are taken from the
 * mirror that this machine uses for Debian 12. Their list is kept in the cache; apt checks its signature. The libraries are those of Debian's Redis.
 */
function downloadFromBackports(packages, folder) {
  const keys = "/usr/share/keyrings/debian-archive-keyring.gpg";
  if (!existsSync(keys) || !/^VERSION_CODENAME=bookworm$/m.test(osRelease())) return false;
  ensure(REDIS);
  const mirror = mirrorOf("bookworm");
  if (mirror === undefined) return false;
  const sources = join(folder, "sources.list");
  writeFileSync(sources, `deb [signed-by=${keys}] ${mirror} bookworm-backports main\n`);
  for (const each of ["lists/partial", "cache/archives/partial"])
    mkdirSync(join(folder, each), { recursive: true });
  const apart = [
    `Dir::Etc::sourcelist=${sources}`,
    "Dir::Etc::sourceparts=/dev/null",
    `Dir::State::lists=${join(folder, "lists")}`,
    `Dir::Cache=${join(folder, "cache")}`,
  ].flatMap((option) => ["-o", option]);
  return (
    run(APT, [...apart, "update", "-q"], folder) &&
    run(APT, [...apart, "download", ...packages], folder)
  );
}

/** The address from which this machine's apt takes a suite; backports lie beside it on every mirror. */
function mirrorOf(suite) {
  const { stdout } = spawnSync(
    APT,
    ["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", `Release: ${suite}`],
    { encoding: "utf8", timeout: FETCH_TIMEOUT_MS },
  );
  return stdout.split("\n").find((address) => address !== "");
}

function osRelease() {
  return existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "";
}

function run(command, args, cwd) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
  const options = { cwd, env, stdio: "ignore", timeout: FETCH_TIMEOUT_MS };
  return spawnSync(command, args, options).status === 0;
}
