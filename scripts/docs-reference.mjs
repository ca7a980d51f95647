/** Writes the generated pages of `docs/reference/`. A test compares them with what this would write. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { referencePages } from "./docs/reference/pages.mjs";

const pages = await referencePages();
for (const [path, text] of pages) {
  const file = fileURLToPath(new URL(`../${path}`, import.meta.url));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
console.log(`${pages.size} pages written`);
