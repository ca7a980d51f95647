import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const bin = join(root, "packages/sluice/bin/sluice.js");
const goBackN = "scenarios/numaflow-go-back-n.yaml";
let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-cli-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("sluice simulate", () => {
  test("prints the table of a scenario", () => {
    const { status, stdout, stderr } = sluice("simulate", goBackN);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n").slice(0, 5)).toEqual([
      "Numaflow, goBackN",
      "time  ceiling  granted  used",
      "----  -------  -------  ----",
      "   1       10       10    10",
      "   2       20       20    10",
    ]);
  });

  test("prints one JSON object and nothing else", () => {
    const { status, stdout, stderr } = sluice("simulate", goBackN, "--json");
    const result = JSON.parse(stdout) as { kind: string; rows: unknown[] };
    expect([status, stderr]).toEqual([0, ""]);
    expect(Object.keys(result)).toEqual(["kind", "title", "rows", "missed"]);
    expect(result.rows[0]).toEqual({ t: 1, ceiling: 10, granted: [10], used: 10 });
  });

  test("draws the chart into a file", () => {
    const file = join(folder, "chart.svg");
    expect(sluice("simulate", goBackN, "--svg", file).status).toBe(0);
    expect(readFileSync(file, "utf8")).toMatch(/^<svg .*<\/svg>\s*$/s);
  });

  test("runs all scenarios of a folder with a line for each, and exits with 1 if one misses", () => {
    const scenarios = join(folder, "scenarios");
    mkdirSync(scenarios);
    const right = "kind: bucket\nbucket: { rate: 3 }\nsteps: [{ op: tokens }]";
    writeFileSync(join(scenarios, "a.yaml"), `title: A\n${right}`);
    expect(sluice("simulate", scenarios)).toMatchObject({
      status: 0,
      stdout: "a.yaml  as expected  A\n1 scenarios: all as their files expect\n",
    });
    writeFileSync(join(scenarios, "b.yaml"), `title: B\n${right}\nexpect: { rows: 1 }`);
    const { status, stdout } = sluice("simulate", scenarios, "--json");
    expect(status).toBe(1);
    expect(
      stdout
        .split("\n")
        .slice(0, 2)
        .map((line) => JSON.parse(line) as unknown),
    ).toMatchObject([
      { title: "A", rows: 1, missed: [] },
      { title: "B", missed: [{}] },
    ]);
    expect(sluice("simulate", scenarios, "--svg", "x.svg").status).toBe(2);
  });

  test("reads standard input", () => {
    const input = "kind: bucket\nbucket: { rate: 3 }\nsteps: [{ op: tokens }]";
    expect(spawn(["simulate", "-", "--json"], input).stdout).toContain('"value":3');
  });

  test("exits with 1 when an expectation is missed, and says which", () => {
    const file = write(
      "miss.yaml",
      "kind: bucket\nbucket: { rate: 3 }\nsteps: []\nexpect: { rows: 1 }",
    );
    const { status, stdout } = sluice("simulate", file);
    expect(status).toBe(1);
    expect(stdout).toContain("missed: rows: expected 1");
  });

  test("a reader that goes away early is no failure", () => {
    const long =
      "kind: bucket\nbucket: { rate: 3 }\nsteps: [{ repeat: 300000, steps: [{ op: tokens }] }]";
    const command = `node ${bin} simulate ${write("long.yaml", long)} | head -n 1`;
    const { status, stderr } = spawnSync("bash", ["-o", "pipefail", "-c", command], {
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([0, ""]);
  });
});

test.each(["--help", "--version", "help why", "limits --help", "schema"])(
  "sluice %s into a pipe that is closed already is no failure",
  (args) => {
    // The first of two commands starts only after the second one has closed the pipe.
    const command = `{ sleep 0.1; node ${bin} ${args}; } | exec 0<&-`;
    const { status, stderr } = spawnSync("bash", ["-o", "pipefail", "-c", command], {
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([0, ""]);
  },
);

test.skipIf(!existsSync("/dev/full")).each([`simulate ${goBackN}`, "--help"])(
  "sluice %s onto a full disk is reported in one line",
  (args) => {
    const command = `node ${bin} ${args} > /dev/full`;
    const { status, stderr } = spawnSync("bash", ["-c", command], { cwd: root, encoding: "utf8" });
    expect([status, stderr]).toEqual([1, "the result cannot be written: ENOSPC\n"]);
  },
);

describe("wrong usage exits with 2 and one clear line, without a stack trace", () => {
  const wrong: readonly [string, () => readonly string[], RegExp][] = [
    [
      "a wrong file",
      () => ["simulate", write("a.yaml", "kind: nope")],
      /a\.yaml:1: kind is "nope"; expected/,
    ],
    [
      "no such file",
      () => ["simulate", "nowhere.yaml"],
      /nowhere\.yaml cannot be read: there is no such file/,
    ],
    [
      "a folder without scenarios",
      () => ["simulate", mkdtempSync(join(folder, "empty-"))],
      /has no scenario; expected files \*\.yaml/,
    ],
    ["no file", () => ["simulate"], /missing required argument 'file'/],
    ["two files", () => ["simulate", "a", "b"], /too many arguments/],
    ["an unknown option", () => ["simulate", goBackN, "--frob"], /unknown option '--frob'/],
    ["an unknown command", () => ["frob"], /unknown command 'frob'/],
    ["help for an unknown command", () => ["help", "frob"], /unknown command 'frob'/],
    ["help for one below it", () => ["limits", "help", "frob"], /unknown command 'frob'/],
    [
      "a chart nowhere",
      () => ["simulate", goBackN, "--svg", join(folder, "no/a.svg")],
      /cannot be written: there is no such folder/,
    ],
  ];

  test.each(wrong)("%s", (_, args, message) => {
    const { status, stderr } = sluice(...args());
    expect(status).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/\n {4}at /);
  });
});

test("help names the commands, and each command its options and an example", () => {
  expect(sluice("--help").stdout).toMatch(/simulate .*run a scenario file/);
  expect(sluice("simulate", "--help").stdout).toMatch(/--json[\s\S]*--svg[\s\S]*Examples:/);
});

function sluice(...args: readonly string[]): {
  status: number | null;
  stdout: string;
  stderr: string;
} {
  return spawn(args, "");
}

function spawn(
  args: readonly string[],
  input: string,
): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [bin, ...args], { cwd: root, input, encoding: "utf8" });
}

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}
