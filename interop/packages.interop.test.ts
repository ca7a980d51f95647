/** What npm would publish, installed by npm itself with what it needs from the registry. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pathOf, read } from "../test/tree.ts";
import { serverProgram, untilFound } from "./programs/found.ts";

await untilFound(["packages"]);
const program = serverProgram("packages");
const SKIPPED = "missing" in program ? ` (skipped: ${program.missing})` : "";
const PACKAGES = ["core", "egress", "fleet", "gateway", "lab", "pipeline", "pulsar", "sluice"];

const folder = mkdtempSync(join(tmpdir(), "sluice-packages-"));
const project = join(folder, "project");
let tarballs: readonly string[] = [];
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(SKIPPED !== "")(`npm${SKIPPED}`, () => {
  beforeAll(async () => {
    const paths = PACKAGES.map((name) => `./packages/${name}`);
    await run(
      "npm",
      ["pack", ...paths, "--pack-destination", folder, "--loglevel", "error"],
      pathOf("."),
    );
    tarballs = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), "{}");
    const files = tarballs.map((name) => join(folder, name));
    await run("npm", ["install", "--no-audit", "--no-fund", ...files], project);
  });

  test("installs all packages into an empty project, each once, and nothing is missing", async () => {
    expect(tarballs).toHaveLength(PACKAGES.length);
    await expect(run("npm", ["ls", "--all"], project)).resolves.not.toContain("UNMET DEPENDENCY");
    const scope = join(project, "node_modules/@sluice");
    expect(readdirSync(scope)).toHaveLength(PACKAGES.length - 1);
    for (const name of readdirSync(scope))
      expect(existsSync(join(scope, name, "node_modules/@sluice")), name).toBe(false);
  });

  test("links a command line that writes a flow file and finds it right", async () => {
    const sluice = join(project, "node_modules/.bin/sluice");
    const { version } = JSON.parse(read("package.json")) as { version: string };
    expect((await run(sluice, ["--version"], project)).trim()).toBe(version);
    await run(sluice, ["init"], project);
    expect(await run(sluice, ["check"], project)).toContain("sluice.yaml is right");
  });

  test.each(PACKAGES.filter((name) => name !== "sluice"))(
    "resolves the types of %s in every way that a program may import it",
    async (name) => {
      if ("missing" in program) return;
      const tarball = tarballs.find((file) => file.startsWith(`sluice-${name}-`)) ?? "";
      await run(program.command, ["--profile", "esm-only", join(folder, tarball)], project);
      await run(
        process.execPath,
        [pathOf("node_modules/publint/src/cli.js"), join(folder, tarball), "--strict"],
        project,
      );
    },
  );
});

async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${command} ${args.join(" ")}\n${error.stdout}${error.stderr}`);
    },
  );
  return stdout;
}
