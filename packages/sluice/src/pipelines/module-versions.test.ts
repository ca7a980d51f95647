import { expect, test } from "vitest";
import { ModuleVersions } from "./module-versions.ts";

test("of 1,000 changes of modules 100 are taken over, and the others are told with the way out", () => {
  const versions = new ModuleVersions();
  const told = Array.from({ length: 1_000 }, (_, index) => versions.raise(`/map-${index % 2}.mjs`));
  expect(told.filter((text) => text === undefined)).toHaveLength(100);
  expect([versions.of("/map-0.mjs"), versions.of("/map-1.mjs"), versions.of("/map-2.mjs")]).toEqual(
    [50, 50, 0],
  );
  expect(told.at(-1)).toContain("restart it, or give the map threads: 1");
});
