import { spawn, spawnSync } from "node:child_process";
import type { SpawnSyncReturns } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { FLOW_KINDS, flowTemplate } from "../src/init/flow-template.ts";
import { ended } from "./ended.ts";
import { bin, until } from "./run-flow.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-init-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(FLOW_KINDS)("the flow file of kind %s", (kind) => {
  const file = `${kind}.yaml`;
  const option = kind === "whole" ? [] : [`--${kind}`];

  test("is written, passes sluice check and runs as it is", async () => {
    const { status, stdout } = sluice("init", file, ...option);
    expect(status).toBe(0);
    expect(stdout).toContain(`sluice run ${file}`);
    expect(sluice("check", file)).toMatchObject({ status: 0, stderr: "" });

    // Ports that are free, because others may run the same on this machine.
    const text = readFileSync(join(folder, file), "utf8");
    writeFileSync(
      join(folder, "free.yaml"),
      text.replaceAll(/127\.0\.0\.1:(6650|7070)/g, "127.0.0.1:0"),
    );
    const child = spawn(process.execPath, [bin, "run", "free.yaml", "--json"], { cwd: folder });
    onTestFinished(() => ended(child));
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    const ready = JSON.parse(line) as { event: string; admin: string; pipelines: string[] };
    expect(ready.event).toBe("ready");
    if (kind === "gateway") return;
    let metrics = "";
    await until(
      async () => {
        metrics = await (await fetch(`${ready.admin}/metrics`)).text();
        return /^forwarder_write_total\{pipeline="orders",vertex="out",.*\} [1-9]/m.test(metrics);
      },
      () => metrics,
    );
  });

  test("has a comment before every block, and the name of its flow", () => {
    const text = flowTemplate(kind, "shop");
    const lines = text.split("\n");
    const bare = lines.filter(
      (line, at) => /^(name|store|admin|gateway):/.test(line) && !lines[at - 1]?.startsWith("#"),
    );
    expect(bare).toEqual([]);
    expect(text).toContain("\nname: shop\n");
  });
});

test("a file that is there stays as it is, unless --force is given", () => {
  writeFileSync(join(folder, "mine.yaml"), "mine");
  const refused = sluice("init", "mine.yaml");
  expect(refused).toMatchObject({ status: 2, stdout: "" });
  expect(refused.stderr).toContain("mine.yaml is there already; --force overwrites it");
  expect(readFileSync(join(folder, "mine.yaml"), "utf8")).toBe("mine");
  expect(sluice("init", "mine.yaml", "--force").status).toBe(0);
  expect(sluice("check", "mine.yaml").status).toBe(0);
});

test("--json tells the file, its kind and the next commands as data", () => {
  const { stdout } = sluice("init", "it's mine.yaml", "--gateway", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    file: "it's mine.yaml",
    kind: "gateway",
    next: [{ command: String.raw`npx sluice check 'it'\''s mine.yaml'` }, {}, {}],
  });
});

test("- writes to standard output, which sluice check reads", () => {
  const { stdout } = sluice("init", "-", "--pipeline");
  const check = spawnSync(process.execPath, [bin, "check", "-"], { cwd: folder, input: stdout });
  expect(check.status).toBe(0);
});

test.each([
  [["init", "--gateway", "--pipeline"], /cannot be used with option/],
  [["init", "missing/sluice.yaml"], /cannot be written: there is no such folder/],
])("%s is wrong usage", (args, message) => {
  const { status, stderr } = sluice(...args);
  expect(status).toBe(2);
  expect(stderr).toMatch(message);
});

function sluice(...args: readonly string[]): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [bin, ...args], { cwd: folder, encoding: "utf8" });
}
