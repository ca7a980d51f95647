import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds that is serious or critical: the rule, and where. Empty on a good page. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  // Through the debugger, which the content security policy of the page does not bind.
  await page.evaluate(source);
  // Selectors of all nodes that pass took most of the time of a large page.
  const run = `axe.run({ resultTypes: ["violations"] })`;
  const { violations } = await page.evaluate<AxeResults>(run);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(" ")}`));
}
