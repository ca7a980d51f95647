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
  const connector = await flowConnectors({ folder, gatewayUrl: undefined, gates }).map({
    kind: "module",
    options: { module: "./hang.mjs" },
  });
  const context = { name: "p/map", timer, random: new SeededRandom(1), signal, tell: () => {} };
  const mapper = await connector.open(context);
  const mapped = Promise.resolve(mapper.map([{ id: "1", value: 1, headers: {} }], { signal }));
  await timer.advance(30_000);
  expect(timer.sleeping).toBe(0);
  expect(await mapped).toMatchObject([{ isRetriable: true }]);
});
