/** All generated pages: their text by their path below the repository's root. They need what `npm run build` makes. */
import { fileURLToPath } from "node:url";
import { apiPages } from "./api-pages.mjs";
import { cliPage } from "./cli-page.mjs";
import { flowPage } from "./flow-page.mjs";
import { metricsPage } from "./metrics-page.mjs";
import { reasonsPage } from "./reasons-page.mjs";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** @returns {Promise<Map<string, string>>} */
export async function referencePages() {
  const pages = new Map([
    ...apiPages(ROOT),
    ["cli.md", cliPage()],
    ["flow-file.md", flowPage()],
    ["metrics.md", await metricsPage()],
    ["reasons-and-errors.md", reasonsPage(ROOT)],
  ]);
  return new Map([...pages].map(([path, text]) => [`docs/reference/${path}`, `${text.trim()}\n`]));
}
