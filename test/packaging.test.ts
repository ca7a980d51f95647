import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import type { Rolldown } from "vite";
import { expect, test } from "vitest";
import { pathOf } from "./tree.ts";

test("a browser bundle holds what was imported and little else", async () => {
  const bucket = await bundle(`export { TokenBucket } from "@sluice/core";`);
  const everything = await bundle(`export * from "@sluice/core";`);
  expect(bucket).not.toMatch(/\bfrom\s*["']/);
  expect(bucket).toContain("tryAcquire");
  expect(bucket).not.toContain("peer-busy");
  expect(everything).toContain("peer-busy");
  expect(gzipSync(bucket).length).toBeLessThan(2_800);
  expect(gzipSync(everything).length).toBeLessThan(25_500);
});

test("core runs in a worker", async () => {
  const program = `
    const { parentPort } = require("node:worker_threads");
    const built = ${JSON.stringify(pathToFileURL(pathOf("packages/core/dist/")).href)};
    Promise.all([import(built + "index.js"), import(built + "system.js")]).then(([core, system]) => {
      const bucket = new core.TokenBucket({ rate: 2, clock: system.createCachedClock() });
      parentPort.postMessage([1, 2, 3].map(() => bucket.tryAcquire(1)));
    });`;
  const worker = new Worker(program, { eval: true });
  const [answers] = (await once(worker, "message")) as [boolean[]];
  await worker.terminate();
  expect(answers).toEqual([true, true, false]);
});

async function bundle(program: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-bundle-"));
  const entry = join(folder, "entry.js");
  writeFileSync(entry, program);
  const output = await build({
    configFile: false,
    logLevel: "silent",
    resolve: { alias: { "@sluice/core": pathOf("packages/core/dist/index.js") } },
    build: { write: false, minify: true, lib: { entry, formats: ["es"], fileName: "entry" } },
  });
  rmSync(folder, { recursive: true });
  return (output as Rolldown.RolldownOutput[])[0]?.output[0].code ?? "";
}
