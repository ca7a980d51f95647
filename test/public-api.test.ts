import { expect, test } from "vitest";
import { codeOf, read } from "./tree.ts";

/** The entries that a user can import from, and the file behind each. */
const ENTRIES = {
  "@sluice/core": "packages/core/src/index.ts",
  "@sluice/core/system": "packages/core/src/system.ts",
  "@sluice/core/testing": "packages/core/src/testing.ts",
  "@sluice/lab": "packages/lab/src/index.ts",
};

/** test/public-api.txt changes only with an intended change of the API, and is reviewed as such. */
test("what can be imported is what is listed", () => {
  const found = Object.entries(ENTRIES).map(
    ([entry, file]) =>
      `${entry}\n${exportsOf(file)
        .map((name) => `  ${name}\n`)
        .join("")}`,
  );
  expect(found.join("\n")).toBe(read("test/public-api.txt"));
});

function exportsOf(file: string): string[] {
  const code = codeOf(file);
  const listed = [...code.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, names = ""]) =>
    names.split(",").map((name) => name.trim()),
  );
  const declared = [
    ...code.matchAll(/export (?:async )?(?:const|function|class|interface|type) (\w+)/g),
  ].map(([, name = ""]) => name);
  return [...listed, ...declared].filter((name) => name !== "").toSorted();
}
