// Tests with real Pulsar clients and a real Pulsar broker. They are fetched by the ordinary package
// clients of this machine into node_modules/.cache/interop and nowhere else; what cannot be fetched
// is skipped, with a line that says so.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const PYTHON_CLIENT = "3.12.0";
const JAVA_CLIENT = "4.0.13";
const BROKER = "4.0.8";
const FETCH_TIMEOUT_MS = 300_000;

/** Small enough to run beside everything else; the rest is what Pulsar's own start script opens. */
const BROKER_JVM = [
  "-Xms256m",
  "-Xmx768m",
  "-XX:MaxDirectMemorySize=512m",
  "-XX:+UseSerialGC",
  "-Dio.netty.tryReflectionSetAccessible=true",
  ...[
    "java.base/java.io",
    "java.base/java.nio",
    "java.base/java.util.zip",
    "java.base/jdk.internal.misc",
    "java.base/jdk.internal.platform",
    "java.management/sun.management",
    "jdk.management/com.sun.management.internal",
  ].flatMap((opened) => ["--add-opens", `${opened}=ALL-UNNAMED`]),
];

const root = fileURLToPath(new URL("../", import.meta.url));
const cache = join(root, "node_modules/.cache/interop");
const clients = join(root, "interop/clients");
const maven = ["-q", "-B", `-Dmaven.repo.local=${join(cache, "maven")}`];

mkdirSync(cache, { recursive: true });
const found = {
  broker: attempt(findBroker),
  python: attempt(findPython),
  java: attempt(findJava),
  flex: attempt(findFlex),
  go: attempt(findGo),
};
writeFileSync(join(cache, "found.json"), JSON.stringify(found, undefined, 2));
for (const [name, program] of Object.entries(found)) {
  const what = program.missing === undefined ? program.version : `skipped, ${program.missing}`;
  console.error(`interop: ${name}: ${what}`);
}

const vitest = ["vitest", "run", "--config", "interop/vitest.config.ts", ...process.argv.slice(2)];
const tested = spawnSync("npx", vitest, {
  cwd: root,
  stdio: ["ignore", "inherit", "inherit"],
  shell: process.platform === "win32",
});
process.exit(tested.status ?? 1);

function findPython() {
  const folder = join(cache, `python-${PYTHON_CLIENT}`);
  need("python3", ["--version"]);
  once(folder, () => {
    const wanted = ["--only-binary", ":all:", `pulsar-client==${PYTHON_CLIENT}`];
    const pip = ["-m", "pip", "install", "--no-cache-dir", "--disable-pip-version-check"];
    run("python3", [...pip, "--target", folder, ...wanted]);
  });
  return {
    command: "python3",
    args: [join(clients, "python/driver.py")],
    env: { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" },
    version: `pulsar-client ${PYTHON_CLIENT}`,
  };
}

function findJava() {
  const sources = join(clients, "java");
  const folder = join(cache, `java-${hashOf(sources, JAVA_CLIENT)}`);
  need("java", ["-version"]);
  once(folder, () => {
    need("javac", ["-version"]);
    need("mvn", ["-v"]);
    const settings = [`-Dinterop.build=${folder}`, `-Dinterop.version=${JAVA_CLIENT}`];
    run("mvn", [...maven, "-f", join(sources, "pom.xml"), ...settings, "process-classes"]);
  });
  const classPath = [join(folder, "classes"), join(folder, "lib/*")].join(delimiter);
  return {
    command: "java",
    args: ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classPath, "Driver"],
    env: {},
    version: `pulsar-client ${JAVA_CLIENT}`,
  };
}

function findFlex() {
  const manifest = join(root, "node_modules/pulsar-flex/package.json");
  if (!existsSync(manifest)) throw new Error("pulsar-flex is not installed");
  return {
    command: process.execPath,
    args: [join(clients, "flex/driver.mjs")],
    env: {},
    version: `pulsar-flex ${JSON.parse(readFileSync(manifest, "utf8")).version}`,
  };
}

function findGo() {
  const sources = join(clients, "go");
  const folder = join(cache, `go-${hashOf(sources)}`);
  const program = join(folder, process.platform === "win32" ? "driver.exe" : "driver");
  once(folder, () => {
    need("go", ["version"]);
    run("go", ["build", "-o", program, "."], sources);
  });
  const [, version] = /pulsar-client-go v(\S+)/.exec(readFileSync(join(sources, "go.mod"), "utf8"));
  return { command: program, args: [], env: {}, version: `pulsar-client-go ${version}` };
}

function findBroker() {
  const folder = join(cache, `broker-${BROKER}`);
  need("java", ["-version"]);
  once(folder, () => {
    need("mvn", ["-v"]);
    need("tar", ["--version"]);
    const artifact = `org.apache.pulsar:pulsar-server-distribution:${BROKER}:tar.gz:bin`;
    const copy = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";
    run("mvn", [...maven, copy, `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`]);
    const archive = `pulsar-server-distribution-${BROKER}-bin.tar.gz`;
    run("tar", ["-xzf", archive, "--strip-components=1"], folder);
    // A quarter of a gigabyte each.
    rmSync(join(folder, archive));
    const stored = "org/apache/pulsar/pulsar-server-distribution";
    rmSync(join(cache, "maven", stored), { recursive: true, force: true });
  });
  return {
    command: "java",
    args: [
      ...BROKER_JVM,
      "-cp",
      join(folder, "lib/*"),
      "org.apache.pulsar.PulsarStandaloneStarter",
    ],
    env: {},
    version: `pulsar ${BROKER}`,
    standaloneConf: join(folder, "conf/standalone.conf"),
  };
}

/** Says by which sources something was built. */
function hashOf(folder, version = "") {
  const hash = createHash("sha256").update(version);
  for (const file of readdirSync(folder).toSorted()) hash.update(readFileSync(join(folder, file)));
  return hash.digest("hex").slice(0, 12);
}

/** Fills a folder by `make` unless that was done before. Half filled ones and other versions go. */
function once(folder, make) {
  const done = join(folder, ".done");
  if (existsSync(done)) return;
  const kind = basename(folder).split("-")[0];
  const stale = readdirSync(cache).filter((name) => name.startsWith(`${kind}-`));
  for (const name of stale) rmSync(join(cache, name), { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  make();
  writeFileSync(done, "");
}

function attempt(find) {
  try {
    return find();
  } catch (error) {
    return { missing: error.message };
  }
}

function need(command, args) {
  if (spawnSync(command, args, { stdio: "ignore" }).status !== 0)
    throw new Error(`${command} is not here`);
}

function run(command, args, cwd = root) {
  const options = { cwd, encoding: "utf8", timeout: FETCH_TIMEOUT_MS };
  const { status, stdout, stderr } = spawnSync(command, args, options);
  if (status === 0) return;
  const lines = `${stdout}\n${stderr}`.split("\n").filter((line) => line.trim() !== "");
  const reason = lines.find((line) => /error/i.test(line)) ?? lines.at(-1) ?? "no reason given";
  throw new Error(`${command} failed: ${reason.trim().slice(0, 200)}`);
}
