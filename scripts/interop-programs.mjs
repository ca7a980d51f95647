// Finds or fetches the clients and the servers that the interop tests run, each into a folder of its own
// in node_modules/.cache/interop. All are looked for at the same time. Run by itself it fetches them and ends.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, delimiter, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const PYTHON_CLIENT = "3.12.0";
const JAVA_CLIENT = "4.0.13";
const BROKER = "4.0.8";
const NATS = "2.15.2";
const KAFKA = "3.9.1";
const KUBERNETES_VALIDATE = "1.37.0";
const ATTW = "0.18.5";
const FETCH_TIMEOUT_MS = 300_000;
/** nats-server is compiled here, which takes minutes of both cores beside the other programs. */
const COMPILE_TIMEOUT_MS = 540_000;

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

/** For programs that live a few seconds. Warnings of the JVM would go where answers go. */
const CLIENT_JVM = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xlog:disable"];

const root = fileURLToPath(new URL("../", import.meta.url));
const cache = join(root, "node_modules/.cache/interop");
const clients = join(root, "interop/clients");

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) findPrograms();

/** Begins to look for every program; one promise each, which never rejects. */
export function findPrograms() {
  mkdirSync(cache, { recursive: true });
  return {
    broker: attempt("broker", findBroker),
    python: attempt("python", findPython),
    java: attempt("java", findJava),
    flex: attempt("flex", findFlex),
    go: attempt("go", findGo),
    nats: attempt("nats", findNats),
    kafka: attempt("kafka", findKafka),
    prometheus: attempt("prometheus", findPrometheus),
    kubernetes: attempt("kubernetes", findKubernetesSchemas),
    packages: attempt("packages", findPackageChecks),
  };
}

async function findPython() {
  const folder = join(cache, `python-${PYTHON_CLIENT}`);
  // The interpreter itself: a shim such as pyenv's costs each start as much again.
  const asked = await ended("python3", ["-c", "import sys; print(sys.executable)"], {});
  if (asked.status !== 0) throw new Error("python3 is not here");
  const python = asked.output.trim();
  await once(folder, async () => {
    const wanted = ["--only-binary", ":all:", `pulsar-client==${PYTHON_CLIENT}`];
    const pip = ["-m", "pip", "install", "--no-cache-dir", "--disable-pip-version-check"];
    await run(python, [...pip, "--target", folder, ...wanted]);
  });
  return {
    command: python,
    args: [join(clients, "python/driver.py")],
    env: { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" },
    version: `pulsar-client ${PYTHON_CLIENT}`,
  };
}

async function findJava() {
  const sources = join(clients, "java");
  const folder = join(cache, `java-${hashOf(sources, JAVA_CLIENT)}`);
  const [driver, archive] = [join(folder, "driver.jar"), join(folder, "classes.jsa")];
  const classPath = [driver, join(folder, "lib/*")].join(delimiter);
  const java = [...CLIENT_JVM, "-cp", classPath];
  await need("java", ["-version"]);
  await once(folder, async () => {
    await need("javac", ["-version"]);
    await need("mvn", ["-v"]);
    const settings = [`-Dinterop.build=${folder}`, `-Dinterop.version=${JAVA_CLIENT}`];
    const goal = ["-f", join(sources, "pom.xml"), ...settings, "process-classes"];
    await run("mvn", [...mavenIn("maven"), ...goal]);
    await run("jar", ["cf", driver, "-C", join(folder, "classes"), "."]);
    // Loaded classes, stored: they are most of what a start takes, and each command is a start.
    const store = [
      `-XX:ArchiveClassesAtExit=${archive}`,
      ...java,
      "Driver",
      "pulsar://127.0.0.1:1",
    ];
    await run("java", store, { input: '{"command":"load"}' });
  });
  return {
    command: "java",
    args: [`-XX:SharedArchiveFile=${archive}`, ...java, "Driver"],
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

async function findGo() {
  const sources = join(clients, "go");
  const folder = join(cache, `go-${hashOf(sources)}`);
  const program = join(folder, process.platform === "win32" ? "driver.exe" : "driver");
  await once(folder, async () => {
    await need("go", ["version"]);
    await run("go", ["build", "-o", program, "."], { cwd: sources });
  });
  const [, version] = /pulsar-client-go v(\S+)/.exec(readFileSync(join(sources, "go.mod"), "utf8"));
  return { command: program, args: [], env: {}, version: `pulsar-client-go ${version}` };
}

async function findBroker() {
  const folder = join(cache, `broker-${BROKER}`);
  await need("java", ["-version"]);
  await once(folder, async () => {
    await need("mvn", ["-v"]);
    await need("tar", ["--version"]);
    const artifact = `org.apache.pulsar:pulsar-server-distribution:${BROKER}:tar.gz:bin`;
    const copy = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";
    const target = [`-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`];
    // A repository of its own: two Mavens that write to one at the same time may damage it.
    await run("mvn", [...mavenIn("maven-of-broker"), copy, ...target]);
    const archive = `pulsar-server-distribution-${BROKER}-bin.tar.gz`;
    await run("tar", ["-xzf", archive, "--strip-components=1"], { cwd: folder });
    // A quarter of a gigabyte each.
    rmSync(join(folder, archive));
    rmSync(join(cache, "maven-of-broker"), { recursive: true, force: true });
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

async function findNats() {
  const folder = join(cache, `nats-${NATS}`);
  await once(folder, async () => {
    await need("go", ["version"]);
    const wanted = `github.com/nats-io/nats-server/v2@v${NATS}`;
    const env = { ...process.env, GOBIN: folder };
    await run("go", ["install", wanted], { env, timeout: COMPILE_TIMEOUT_MS });
  });
  const program = process.platform === "win32" ? "nats-server.exe" : "nats-server";
  return { command: join(folder, program), args: [], env: {}, version: `nats-server ${NATS}` };
}

async function findKafka() {
  const folder = join(cache, `kafka-${KAFKA}`);
  await need("java", ["-version"]);
  await once(folder, async () => {
    await need("mvn", ["-v"]);
    const pom = join(folder, "pom.xml");
    writeFileSync(pom, kafkaPom());
    const copy = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";
    const target = [`-DoutputDirectory=${join(folder, "lib")}`, "-DincludeScope=runtime"];
    await run("mvn", [...mavenIn("maven-of-kafka"), "-f", pom, copy, ...target]);
    rmSync(join(cache, "maven-of-kafka"), { recursive: true, force: true });
  });
  return {
    command: "java",
    args: ["-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-cp", join(folder, "lib/*")],
    env: {},
    version: `kafka ${KAFKA}`,
  };
}

/** Debian's, of this machine or fetched and unpacked, which needs no rights. The argument is promtool. */
async function findPrometheus() {
  let bin = "";
  if ((await ended("prometheus", ["--version"], {})).status !== 0) {
    const folder = join(cache, "prometheus-debian");
    await once(folder, async () => {
      await need("dpkg-deb", ["--version"]);
      await run("apt-get", ["download", "prometheus"], { cwd: folder });
      const [archive] = readdirSync(folder).filter((name) => name.endsWith(".deb"));
      await run("dpkg-deb", ["-x", archive, "."], { cwd: folder });
    });
    bin = join(folder, "usr/bin/");
  }
  const command = `${bin}prometheus`;
  await need(command, ["--version"]);
  const { output } = await ended(command, ["--version"], {});
  const [, version] = /version (\S+)/.exec(output);
  return { command, args: [`${bin}promtool`], env: {}, version: `prometheus ${version}` };
}

/** A validator of manifests that has the schemas of Kubernetes in its package. */
async function findKubernetesSchemas() {
  const folder = join(cache, `kubernetes-${KUBERNETES_VALIDATE}`);
  await need("python3", ["--version"]);
  await once(folder, async () => {
    const wanted = ["--only-binary", ":all:", `kubernetes-validate==${KUBERNETES_VALIDATE}`];
    const pip = ["-m", "pip", "install", "--no-cache-dir", "--disable-pip-version-check"];
    await run("python3", [...pip, "--target", folder, ...wanted]);
  });
  return {
    command: "python3",
    args: ["-m", "kubernetes_validate"],
    env: { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" },
    version: `kubernetes-validate ${KUBERNETES_VALIDATE}`,
  };
}

/** Are the types wrong, for what npm would publish. */
async function findPackageChecks() {
  const folder = join(cache, `packages-${ATTW}`);
  await once(folder, () =>
    run("npm", [
      "install",
      "--no-audit",
      "--no-fund",
      "--prefix",
      folder,
      `@arethetypeswrong/cli@${ATTW}`,
    ]),
  );
  return {
    command: join(folder, "node_modules/.bin/attw"),
    args: [],
    env: {},
    version: `@arethetypeswrong/cli ${ATTW}`,
  };
}

/** A project whose dependencies are Kafka's server and what it needs to run. */
function kafkaPom() {
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>sluice</groupId><artifactId>kafka</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${KAFKA}</version>
    </dependency>
  </dependencies>
</project>
`;
}

function mavenIn(repository) {
  return ["-q", "-B", `-Dmaven.repo.local=${join(cache, repository)}`];
}

/** Says by which sources something was built. */
function hashOf(folder, version = "") {
  const hash = createHash("sha256").update(version);
  for (const file of readdirSync(folder).toSorted()) hash.update(readFileSync(join(folder, file)));
  return hash.digest("hex").slice(0, 12);
}

/** Fills a folder by `make` unless that was done before. Half filled ones and other versions go. */
async function once(folder, make) {
  const done = join(folder, ".done");
  if (existsSync(done)) return;
  const kind = basename(folder).split("-")[0];
  const stale = readdirSync(cache).filter((name) => name.startsWith(`${kind}-`));
  for (const name of stale) rmSync(join(cache, name), { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await make();
  writeFileSync(done, "");
}

/** Writes NAME.json, which tests that need the program wait for, and says what was found. */
async function attempt(name, find) {
  const file = join(cache, `${name}.json`);
  rmSync(file, { force: true });
  const startedMs = performance.now();
  const program = await foundBy(find);
  writeFileSync(`${file}.part`, JSON.stringify(program, undefined, 2));
  renameSync(`${file}.part`, file);
  const what = program.missing === undefined ? program.version : `skipped, ${program.missing}`;
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  console.error(`interop: ${name}: ${what} (${seconds} s)`);
  return program;
}

async function foundBy(find) {
  try {
    return await find();
  } catch (error) {
    return { missing: error.message };
  }
}

async function need(command, args) {
  const { status } = await ended(command, args, {});
  if (status !== 0) throw new Error(`${command} is not here`);
}

async function run(command, args, { cwd = root, input = "", ...rest } = {}) {
  const options = { cwd, timeout: FETCH_TIMEOUT_MS, ...rest };
  const { status, output } = await ended(command, args, options, input);
  if (status === 0) return;
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  const reason = lines.find((line) => /error/i.test(line)) ?? lines.at(-1) ?? "no reason given";
  throw new Error(`${command} failed: ${reason.trim().slice(0, 200)}`);
}

/** How a process ended, and all that it printed. A command that is not there has no status. */
function ended(command, args, options, input = "") {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
    // A program that ends without reading its input is no failure.
    child.stdin.on("error", () => {}).end(input);
    const output = [];
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => output.push(text));
    child.on("error", (error) => resolve({ status: null, output: error.message }));
    child.on("close", (status) => resolve({ status, output: output.join("") }));
  });
}
