/** Builds the site of the docs: `npm run docs`. Any web server can serve the folder; it needs no other host. */
import { fileURLToPath } from "node:url";
import { buildSite } from "./docs/site/build.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const out = fileURLToPath(new URL("../.cache/site/", import.meta.url));
const pages = buildSite({ root, out });
console.log(`${pages.length} pages in .cache/site; open .cache/site/index.html`);
