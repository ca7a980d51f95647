import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { expect, onTestFinished, test } from "vitest";
import { flowConnectors } from "./connectors.ts";
import { GateMeters } from "../observe/gate-meters.ts";

test("a map of a flow file that never answers fails its message after 30 s, without a timeout in the file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-maps-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "hang.mjs"), "export default () => new Promise(() => {});");
  const timer = new VirtualTimer();
  const { signal } = new AbortController();
  const gates = new GateMeters(() => undefined);
  const connector = await flowConnectors({ folder, gatewayUrl: undefined, gates }).map(
    { kind: "module", options: { module: "./hang.mjs" } },
    { vertices: [] },
  );
  const context = { name: "p/map", timer, random: new SeededRandom(1), signal, tell: () => {} };
  const mapper = await connector.open(context);
  const mapped = Promise.resolve(mapper.map([{ id: "1", value: 1, headers: {} }], { signal }));
  await timer.advance(30_000);
  expect(timer.sleeping).toBe(0);
  expect(await mapped).toMatchObject([{ isRetriable: true }]);
});

test("what a map's program writes for people shows no secret that its flow file names", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-maps-"));
  writeFileSync(join(folder, "token"), "S3CRET-of-file\n");
  const gates = new GateMeters(() => undefined);
  const shown = '["S3CRET-of-env", "S3CRET-of-file", "S3CRET-in-url", "S3CRET-of-header", "plain"]';
  const map = {
    kind: "command",
    options: {
      command: [process.execPath, "-e", `console.error(...${shown}); process.stdin.resume()`],
      env: { API_TOKEN: "S3CRET-of-env", MODE: "plain" },
    },
  };
  const sink = {
    kind: "http",
    options: {
      url: "http://127.0.0.1/?key=S3CRET-in-url",
      headers: { authorization: "Basic S3CRET-of-header" },
      tokenFile: "token",
    },
  };
  const connector = await flowConnectors({ folder, gatewayUrl: undefined, gates }).map(map, {
    vertices: [
      { name: "map", map },
      { name: "out", sink },
    ],
  });
  const told: string[] = [];
  const mapper = await connector.open({
    name: "p/map",
    timer: new VirtualTimer(),
    random: new SeededRandom(1),
    signal: new AbortController().signal,
    tell: ({ text }) => told.push(text),
  });
  onTestFinished(async () => {
    await mapper.close();
    rmSync(folder, { recursive: true });
  });
  await expect.poll(() => told.length, { timeout: 10_000 }).toBeGreaterThan(0);
  expect(told.join()).toMatch(/plain$/);
  expect(told.join()).not.toContain("S3CRET");
});
