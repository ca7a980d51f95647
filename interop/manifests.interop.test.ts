/** The manifests of `deploy/kubernetes` against the schemas of Kubernetes itself, which the validator brings along. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { pathOf, read } from "../test/tree.ts";
import { serverProgram, untilFound } from "./programs/found.ts";

await untilFound(["kubernetes"]);
const program = serverProgram("kubernetes");
const SKIPPED = "missing" in program ? ` (skipped: ${program.missing})` : "";
const MANIFEST = "deploy/kubernetes/sluice.yaml";
/** The oldest release that its makers still mended when this was written, and a newer one. */
const RELEASES = ["1.30", "1.34"];

const folder = mkdtempSync(join(tmpdir(), "sluice-manifests-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(SKIPPED !== "")(`Kubernetes' schemas${SKIPPED}`, () => {
  test.each(RELEASES)(
    "of %s take the deployment, its service, its flow and its budget",
    async (release) => {
      const output = await validated(release, pathOf(MANIFEST));
      expect(output.match(/passed for resource/g)).toHaveLength(4);
      expect(output).not.toMatch(/WARN|ERROR/);
    },
  );

  test("refuse a key that is misspelt, so that the test above can fail", async () => {
    const file = join(folder, "wrong.yaml");
    writeFileSync(file, read(MANIFEST).replace("readinessProbe:", "readynessProbe:"));
    await expect(validated("1.34", file)).rejects.toThrow(/readynessProbe/);
  });
});

async function validated(release: string, file: string): Promise<string> {
  if ("missing" in program) return "";
  const args = [...program.args, "--strict", "-k", release, file];
  const env = { ...process.env, ...program.env };
  const { stdout, stderr } = await promisify(execFile)(program.command, args, { env }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(error.stdout + error.stderr);
    },
  );
  return stdout + stderr;
}
