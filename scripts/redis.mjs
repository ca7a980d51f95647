// Finds a Redis server for the tests, or fetches one: they start their own, and skip if there is none.
// Run by itself it says what it found. What is fetched goes to node_modules/.cache/redis and nowhere else.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const SERVERS = ["redis-server", "valkey-server"];
const cache = fileURLToPath(new URL("../node_modules/.cache/redis/", import.meta.url));
const bin = join(cache, "bin");
const APT = "apt-get";
const FETCH_TIMEOUT_MS = 120_000;

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const server = ensureRedis();
  console.log(server ?? "no Redis server; the tests that need one will be skipped");
}

/** The path of a server, after fetching one if there is none; nothing if that cannot be done. */
export function ensureRedis() {
  const found = findRedis();
  if (found !== undefined || process.platform !== "linux") return found;
  if (!has(APT) || !has("dpkg")) return undefined;
  console.error("no Redis server here; fetching one for the tests");
  unpackRedis();
  if (findRedis() === undefined && process.getuid() === 0) installRedis();
  return findRedis();
}

function findRedis() {
  const folders = [...(process.env.PATH ?? "").split(delimiter), bin];
  return folders
    .flatMap((folder) => SERVERS.map((name) => join(folder, name)))
    .find((path) => existsSync(path) && run(path, ["--version"]));
}

/** Needs no rights and changes nothing outside the cache: the packages are unpacked, not installed. */
function unpackRedis() {
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(bin, { recursive: true });
  // A machine that never asked for a package has no list of them.
  const isListed = run("apt-cache", ["show", "redis-server"]);
  if (!isListed && process.getuid() === 0) run(APT, ["update", "-q"]);
  const packages = missingPackages();
  if (packages.length === 0 || !run(APT, ["download", ...packages], cache)) return;
  for (const file of readdirSync(cache).filter((name) => name.endsWith(".deb")))
    run("dpkg", ["-x", file, "root"], cache);
  const root = join(cache, "root");
  const folders = readdirSync(join(root, "usr/lib"), { recursive: true, withFileTypes: true });
  const libraries = folders
    .filter((entry) => entry.name.includes(".so"))
    .map((entry) => entry.parentPath ?? entry.path);
  const start = join(bin, "redis-server");
  const path = [...new Set(libraries)].join(":");
  // It replaces itself, so that whoever starts it knows its process id.
  writeFileSync(
    start,
    `#!/bin/sh\nLD_LIBRARY_PATH='${path}' exec '${root}/usr/bin/redis-server' "$@"\n`,
  );
  chmodSync(start, 0o755);
}

/** The server and those of its libraries that are not here. */
function missingPackages() {
  const { stdout } = spawnSync(
    APT,
    ["install", "-qq", "--no-install-recommends", "--print-uris", "redis-server"],
    { encoding: "utf8", timeout: FETCH_TIMEOUT_MS },
  );
  return [...(stdout ?? "").matchAll(/^'[^']+' ([^_ ]+)_/gm)].map(([, name]) => name);
}

function installRedis() {
  run(APT, ["install", "-y", "-q", "--no-install-recommends", "redis-server"]);
}

function has(command) {
  return run(command, ["--version"]);
}

function run(command, args, cwd) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
  const options = { cwd, env, stdio: "ignore", timeout: FETCH_TIMEOUT_MS };
  return spawnSync(command, args, options).status === 0;
}
