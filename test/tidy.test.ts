/** Facts about the tree that no compiler and no linter checks. */
import { describe, expect, test } from "vitest";
import { codeOf, filesIn, importsOf, read } from "./tree.ts";

/** Which of our packages each may import. A new package adds its line here, as the design has it. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  "packages/core": [],
  "packages/egress": ["@sluice/core"],
  "packages/fleet": ["@sluice/core"],
  "packages/gateway": ["@sluice/core", "@sluice/fleet", "@sluice/pulsar"],
  "packages/lab": ["@sluice/core", "@sluice/fleet", "@sluice/gateway", "@sluice/pulsar"],
  "packages/pipeline": ["@sluice/core", "@sluice/egress", "@sluice/fleet", "@sluice/pulsar"],
  "packages/pulsar": ["@sluice/core"],
  "packages/sluice": [
    "@sluice/core",
    "@sluice/fleet",
    "@sluice/gateway",
    "@sluice/lab",
    "@sluice/pipeline",
  ],
  bench: [
    "@sluice/core",
    "@sluice/egress",
    "@sluice/fleet",
    "@sluice/gateway",
    "@sluice/lab",
    "@sluice/pipeline",
    "@sluice/pulsar",
  ],
};

/**
 * The folders of a root, lowest first: a file imports from its own folder and from lower ones, so there
 * is no cycle. The files beside the folders put all of them together, unless "" is listed.
 */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  "packages/pulsar/src": ["wire", "compression", "client"],
  "packages/pulsar/src/client": [
    "check",
    "error",
    "wait",
    "message",
    "event",
    "authentication",
    "connection",
    "lookup",
    "attachment",
    "producer",
    "consumer",
    "api",
  ],
  "packages/egress/src/server": ["observe", "concurrency", "quota", "framework"],
  "packages/egress/src/gate": [
    "error",
    "pause",
    "rate",
    "permit",
    "event",
    "options",
    "queue",
    "call",
  ],
  "packages/pipeline/src": [
    "connector",
    "map",
    "definition",
    "flow",
    "run",
    "build",
    "scale",
    "observe",
  ],
  "packages/gateway/src": [
    "memory",
    "observe",
    "refusal",
    "storage",
    "name",
    "policy",
    "schema",
    "subscription",
    "topic",
    "broker",
    "auth",
    "ingress",
    "limit-book",
    "session",
    "relay",
    "server",
    "upstream",
    "admin",
  ],
  "packages/gateway/src/ingress": ["limits", "desk", "notices", "connection", "dispatch", "fleet"],
  "packages/gateway/src/storage": [
    "",
    "file",
    "segment",
    "log",
    "document",
    "cursor",
    "schema",
    "store",
    "inspect",
  ],
};

/** The one file that owns the real clock, timers and randomness; its test is real time too. */
const SYSTEM = /^packages\/core\/src\/system(\.test)?\.ts$/;
/** Tests, and the replay of samples, whose programs run in a real browser, in its time. */
const IN_A_BROWSER = /^packages\/sluice\/test\/browser\/(.*\.browser\.test|replay)\.ts$/;
const REAL =
  /\b(Date\.now|new Date|performance\.now|hrtime|set(Timeout|Interval|Immediate)|queueMicrotask|Math\.random|randomBytes|randomUUID|getRandomValues|useFakeTimers|AbortSignal\.timeout)\b/;

const BANNED_NAMES = /^(utils?|helpers?|common|misc|types|manager|impl|base|wrapper)\b/;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly scripts?: Readonly<Record<string, string>>;
}

const packages = Object.keys(ARROWS);
const sources = filesIn().filter((file) => /\.[cm]?[tj]s$/.test(file));

describe.each(packages)("%s", (folder) => {
  const manifest = JSON.parse(read(`${folder}/package.json`)) as Manifest;
  const shipped = sources.filter(
    (file) => file.startsWith(`${folder}/src/`) && !file.endsWith(".test.ts"),
  );
  const imported = new Set(shipped.flatMap(importsOf));
  const foreign = [...imported].filter(
    (name) => !name.startsWith(".") && !name.startsWith("node:"),
  );
  const foreignPackages = new Set(foreign.map(packageOf));

  test("imports only the packages that it may", () => {
    const ours = [...foreignPackages].filter((name) => name.startsWith("@sluice/"));
    expect(ours.filter((name) => !ARROWS[folder]?.includes(name))).toEqual([]);
  });

  test("declares what it imports and nothing else, in exact versions", () => {
    const { dependencies = {}, devDependencies = {}, peerDependencies = {} } = manifest;
    const declared = { ...dependencies, ...peerDependencies };
    expect(Object.keys(declared).toSorted()).toEqual([...foreignPackages].toSorted());
    for (const version of Object.values({ ...dependencies, ...devDependencies }))
      expect(version).toMatch(/^(?:npm:[\w@/-]+@)?\d+\.\d+\.\d+$/);
  });

  test("makes every peer optional, and is tested with it", () => {
    const { peerDependencies = {}, peerDependenciesMeta = {}, devDependencies = {} } = manifest;
    for (const name of Object.keys(peerDependencies)) {
      expect(peerDependenciesMeta[name]?.optional, name).toBe(true);
      expect(devDependencies, name).toHaveProperty(name);
    }
  });

  test("imports its own files by a path within it", () => {
    for (const file of shipped) {
      for (const specifier of importsOf(file).filter((name) => name.startsWith("."))) {
        const target = new URL(specifier, `file:///${file}`).pathname.slice(1);
        expect(target, file).toMatch(new RegExp(`^${folder}/src/.*\\.ts$`));
      }
    }
  });

  test("has the version of the whole", () => {
    expect(manifest.version).toBe((JSON.parse(read("package.json")) as Manifest).version);
  });
});

describe.each(Object.entries(FOLDERS))("the folders of %s", (root, folders) => {
  /** Empty for a file beside the folders; undefined for one outside of the root. */
  const folderOf = (path: string): string | undefined => {
    if (!path.startsWith(`${root}/`)) return undefined;
    const [folder = "", ...rest] = path.slice(root.length + 1).split("/");
    return rest.length > 0 ? folder : "";
  };
  const isListed = (folder: string | undefined): folder is string =>
    folder !== undefined && (folder !== "" || folders.includes(""));
  const shipped = sources.filter((file) => isListed(folderOf(file)) && !file.endsWith(".test.ts"));

  test("are all listed", () => {
    const found = new Set(shipped.map((file) => folderOf(file) ?? ""));
    expect(found).toEqual(new Set(folders));
  });

  test("import downwards only", () => {
    for (const file of shipped)
      for (const specifier of importsOf(file).filter((name) => name.startsWith("."))) {
        const target = new URL(specifier, `file:///${file}`).pathname.slice(1);
        const imported = folderOf(target);
        if (!isListed(imported)) continue;
        const [level, own] = [imported, folderOf(file) ?? ""].map((name) => folders.indexOf(name));
        expect(level, `${file} imports ${target}`).toBeLessThanOrEqual(own ?? -1);
      }
  });
});

test("every workspace has its arrows", () => {
  const { workspaces } = JSON.parse(read("package.json")) as { workspaces: readonly string[] };
  const manifests = filesIn().filter((file) => file.endsWith("/package.json"));
  expect(workspaces).toEqual(["packages/*", "bench"]);
  expect(manifests.map((file) => file.replace("/package.json", "")).toSorted()).toEqual(
    packages.toSorted(),
  );
});

test("core needs no dependency, no Node and no browser", () => {
  const core = sources.filter((file) => /^packages\/core\/src\/.*(?<!\.test)\.ts$/.test(file));
  expect(core.flatMap(importsOf).filter((name) => !name.startsWith("."))).toEqual([]);
  // Private fields and names of files may be called the same.
  for (const file of core)
    expect(codeOf(file), file).not.toMatch(/(?<!#|\w-)\b(process|Buffer|window|document)\./);
});

test("only one file touches the real clock, real timers and real randomness", () => {
  const checked = sources.filter(
    (file) => /^(packages|examples)\//.test(file) && !SYSTEM.test(file) && !IN_A_BROWSER.test(file),
  );
  expect(checked.length).toBeGreaterThan(20);
  expect(checked.filter((file) => REAL.test(codeOf(file)))).toEqual([]);
});

test("every file is named after what it holds", () => {
  const named = sources.filter((file) => BANNED_NAMES.test(file.split("/").at(-1) ?? ""));
  expect(named).toEqual([]);
});

test("an index names every export", () => {
  const indexes = sources.filter((file) => file.endsWith("/src/index.ts"));
  for (const file of indexes) expect(codeOf(file), file).not.toMatch(/export \*/);
});

test("nothing is left for later", () => {
  const later = /TODO|FIXME|XXX\b|\.only\(/;
  const others = sources.filter((file) => file !== "test/tidy.test.ts");
  expect(others.filter((file) => later.test(read(file)))).toEqual([]);
});

test("the lockfile names no host and nothing that runs on install", () => {
  const lockfile = read("package-lock.json");
  expect(lockfile).not.toMatch(/"resolved": "http/);
  expect(lockfile).not.toContain("hasInstallScript");
});

function packageOf(specifier: string): string {
  const [scope = "", name = ""] = specifier.split("/");
  return specifier.startsWith("@") ? `${scope}/${name}` : scope;
}
