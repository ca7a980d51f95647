import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { expect, onTestFinished, test } from "vitest";
import { MAPS } from "./maps.ts";

test("a module of a flow file that never answers fails after 30 s", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-maps-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "hang.mjs"), "export default () => new Promise(() => {});");
  const timer = new VirtualTimer();
  const { signal } = new AbortController();
  const connector = await MAPS["module"]?.({ module: "./hang.mjs" }, { folder } as never);
  const opening = { name: "p/map", timer, random: new SeededRandom(1), signal, tell: () => {} };
  const mapper = await connector?.open(opening);
  let results: unknown;
  const mapping = Promise.resolve(mapper?.map([{ id: "0", value: 1, headers: {} }], { signal }));
  void mapping.then((mapped) => (results = mapped));
  await timer.advance(29_000);
  expect(results).toBeUndefined();
  await timer.advance(2_000);
  expect(results).toMatchObject([{ isRetriable: true }]);
});
