/** What npm would publish, in an empty project: without the workspace, its sources and its registry. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startBroker } from "@sluice/gateway";
import { redisPath, RedisServer } from "../../fleet/test/redis-server.ts";
import { pathOf, read } from "../../../test/tree.ts";
import { ended } from "./ended.ts";

const PACKAGES = ["core", "egress", "fleet", "gateway", "lab", "pipeline", "pulsar", "sluice"];
/** What the projects of the READMEs install beside a package. */
const BESIDE = ["ioredis", "@types/node", "undici-types"];
/** The whole file takes about 20 s on two idle cores; a step may take this long on a busy machine. */
const STEP_MS = 240_000;

const { version } = JSON.parse(read("package.json")) as { version: string };
const folder = realpathSync(mkdtempSync(join(tmpdir(), "sluice-tarballs-")));
const project = join(folder, "project");
const examples = PACKAGES.map((name) => [name, firstExample(name)] as const).filter(
  (entry): entry is [string, string] => entry[1] !== undefined,
);

beforeAll(async () => {
  const paths = PACKAGES.map((name) => `./packages/${name}`);
  const quiet = ["--no-update-notifier", "--loglevel", "error"];
  await execute("npm", ["pack", ...paths, "--pack-destination", folder, ...quiet]);
  // Unpacked as npm does it, but in a second instead of half a minute on a busy machine, and without a registry.
  for (const name of PACKAGES) {
    mkdirSync(installed(name), { recursive: true });
    const tarball = join(
      folder,
      `${fullName(name).replace("@", "").replace("/", "-")}-${version}.tgz`,
    );
    await execute("tar", ["-xzf", tarball, "-C", installed(name), "--strip-components=1"]);
  }
  // Nothing else can be imported: a dependency that a manifest forgets is missing here, too.
  const others = PACKAGES.flatMap((name) => Object.keys(manifestOf(name).dependencies ?? {}));
  for (const name of [...others, ...BESIDE]) link(name);
  for (const [name, example] of examples) {
    write(`${name}.mts`, example);
    write(`${name}.cts`, asCommonJs(example));
  }
}, STEP_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(PACKAGES)(
  "the tarball of %s has a license, a README with npm i, types and no tests",
  (name) => {
    const manifest = manifestOf(name);
    expect(readFileSync(join(installed(name), "LICENSE"), "utf8")).toBe(read("LICENSE"));
    expect(readFileSync(join(installed(name), "README.md"), "utf8")).toContain(
      `npm i ${fullName(name)}`,
    );
    expect(manifest.keywords?.length).toBeGreaterThan(3);
    expect(manifest.repository?.directory).toBe(`packages/${name}`);
    const files = readdirSync(installed(name), { recursive: true, encoding: "utf8" });
    expect(files.filter((file) => /\.test\.|tsbuildinfo/.test(file))).toEqual([]);
    expect(existsSync(pathOf(`packages/${name}/LICENSE`)), "the copy is removed").toBe(false);
  },
);

/** Strict, with what strict leaves out; declarations of our packages are checked, too. */
const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  target: "es2023",
  types: ["node"],
};

test(
  "first examples pass TypeScript strict, as ES modules and as CommonJS, and give the programs below",
  { timeout: STEP_MS },
  () => compiled({ ...STRICT, module: "nodenext" }, ["mts", "cts"]),
);

describe.each(examples)("the first example in the README of %s", (name, example) => {
  test.each([["mjs"], ["cjs"]])("runs as .%s", { timeout: STEP_MS }, async (extension) => {
    if (example.includes("redis://") && redisPath === undefined) return;
    const file = `${name}.${extension}`;
    const program = readFileSync(join(project, file), "utf8");
    await using servers = await serversFor(program);
    write(file, servers.addressed(program));
    const { stderr } = await run(project, [file]);
    expect(stderr).toBe("");
  });
});

test("every entry can be required", { timeout: STEP_MS }, async () => {
  const entries = PACKAGES.flatMap(entriesOf);
  expect(entries.length).toBeGreaterThan(10);
  write("require.cjs", `for (const entry of ${JSON.stringify(entries)}) require(entry);`);
  expect((await run(project, ["require.cjs"])).stderr).toBe("");
});

test("the command line's tarball holds the built dashboard and all that its page loads", () => {
  const page = join(installed("sluice"), "dist/page");
  const html = readFileSync(join(page, "index.html"), "utf8");
  const loaded = [...html.matchAll(/(?:src|href)="\.?\/?([^"#:]+)"/g)].map(([, path = ""]) => path);
  expect(loaded.filter((path) => path.endsWith(".js"))).not.toEqual([]);
  expect(loaded.filter((path) => !existsSync(join(page, path)))).toEqual([]);
});

test(
  "sluice init and sluice run of the tarball serve the dashboard with all that its page loads",
  { timeout: STEP_MS },
  async () => {
    const bin = join(project, "node_modules/sluice/bin/sluice.js");
    await run(project, [bin, "init"]);
    const flow = readFileSync(join(project, "sluice.yaml"), "utf8");
    write("sluice.yaml", flow.replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:0"));
    const child = spawn(process.execPath, [bin, "run", "--json"], { cwd: project });
    onTestFinished(() => ended(child));
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    const { admin } = JSON.parse(line) as { admin: string };
    const page = await fetch(`${admin}/`);
    expect(page.headers.get("content-type")).toContain("text/html");
    const html = await page.text();
    const loaded = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path);
    expect(loaded).not.toEqual([]);
    for (const path of loaded) expect((await fetch(`${admin}${path}`)).status, path).toBe(200);
  },
);

test(
  "the command line runs the scenarios of its tarball in a folder without any",
  { timeout: STEP_MS },
  async () => {
    const bin = join(project, "node_modules/sluice/bin/sluice.js");
    const { stdout } = await run(project, [
      bin,
      "simulate",
      "scenarios/bucket-debt.yaml",
      "--json",
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ missed: [] });
  },
);

test.each([
  ["node16", { module: "node16" }],
  ["bundler", { module: "preserve", moduleResolution: "bundler" }],
])(
  "first examples and the types of every entry resolve with moduleResolution %s",
  { timeout: STEP_MS },
  async (_, resolution) => {
    // Some entries have types of optional peers. They come last: before, programs had to run without them.
    const peers = PACKAGES.flatMap((name) => Object.keys(manifestOf(name).peerDependencies ?? {}));
    for (const name of new Set(peers)) link(name);
    // An entry without types is an error under strict.
    const lines = PACKAGES.flatMap(allOf).map(
      (entry, at) => `import type * as entry${at} from "${entry}";`,
    );
    const uses = lines.map(
      (line, at) => `${line}\nexport type Names${at} = keyof typeof entry${at};`,
    );
    write("entries.mts", uses.join("\n"));
    // The declarations of NATS contradict themselves with exact optional properties.
    const options = { ...STRICT, ...resolution, exactOptionalPropertyTypes: false, noEmit: true };
    await compiled(options, ["mts"], ["entries.mts"]);
  },
);

/** The first TypeScript block of a README; the command line's has none. */
function firstExample(name: string): string | undefined {
  return /^```ts\n([\s\S]*?)^```$/m.exec(read(`packages/${name}/README.md`))?.[1];
}

function isImport(line: string): boolean {
  return line.startsWith("import ");
}

/** CommonJS has no `await` outside of functions: the imports stay, the rest becomes one function. */
function asCommonJs(example: string): string {
  const lines = example.split("\n");
  const body = lines
    .filter((line) => !isImport(line))
    .join("\n")
    .replaceAll(/^export /gm, "");
  return `${lines.filter(isImport).join("\n")}\nasync function main() {\n${body}}\nvoid main();\n`;
}

interface Servers extends AsyncDisposable {
  /** The program with the addresses of servers that run, instead of those in the README. */
  addressed(program: string): string;
}

async function serversFor(program: string): Promise<Servers> {
  if (program.includes("redis://")) {
    const redis = await RedisServer.start();
    return {
      addressed: (text) => text.replaceAll("redis://127.0.0.1:6379", redis.url),
      [Symbol.asyncDispose]: () => redis.stop(),
    };
  }
  if (program.includes("pulsar://localhost:6650")) {
    const broker = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory" });
    return {
      addressed: (text) => text.replaceAll("pulsar://localhost:6650", broker.url),
      [Symbol.asyncDispose]: () => broker.close(),
    };
  }
  const server = createServer((_, response) => response.end("tea"));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    addressed: (text) => text.replaceAll("https://api.example.com", url),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function fullName(name: string): string {
  return name === "sluice" ? name : `@sluice/${name}`;
}

/** Where npm puts a package. */
function installed(name: string): string {
  return join(project, "node_modules", fullName(name));
}

interface Manifest {
  readonly keywords?: readonly string[];
  readonly repository?: { readonly directory?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly exports?: object;
}

function manifestOf(name: string): Manifest {
  return JSON.parse(readFileSync(join(installed(name), "package.json"), "utf8")) as Manifest;
}

function link(name: string): void {
  const target = join(project, "node_modules", name);
  if (existsSync(target)) return;
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(pathOf(`node_modules/${name}`), target);
}

/** What can be imported of a package. The command line's has only a program. */
function allOf(name: string): string[] {
  return Object.keys(manifestOf(name).exports ?? {}).map(
    (entry) => fullName(name) + entry.slice(1),
  );
}

/** The same but for entries whose optional peer is not installed here. */
function entriesOf(name: string): string[] {
  return allOf(name).filter((entry) => !/\/(undici|telemetry)$/.test(entry));
}

/** Type checks the first examples with these endings, and other files beside them. */
async function compiled(
  compilerOptions: object,
  extensions: readonly string[],
  others: readonly string[] = [],
): Promise<void> {
  const files = extensions.flatMap((ending) => examples.map(([name]) => `${name}.${ending}`));
  write("tsconfig.json", JSON.stringify({ compilerOptions, files: [...files, ...others] }));
  const tsc = pathOf("node_modules/typescript/bin/tsc");
  await expect(run(project, [tsc, "-p", "."])).resolves.toBeDefined();
}

function write(file: string, text: string): void {
  writeFileSync(join(project, file), text);
}

async function execute(command: string, args: string[]): Promise<void> {
  await promisify(execFile)(command, args, { cwd: pathOf("."), timeout: STEP_MS });
}

function run(cwd: string, args: string[]): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, args, { cwd, timeout: STEP_MS });
}
