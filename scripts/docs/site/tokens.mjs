/** The dashboard's colours as custom properties: dark, light by the reader's setting, and by choice. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const TOKENS = "packages/sluice/page/src/style/tokens.json";

export function tokensCss(root) {
  const { dark, light } = JSON.parse(readFileSync(join(root, TOKENS), "utf8"));
  return `:root{color-scheme:dark;${set(dark)}}
@media (prefers-color-scheme:light){:root:not([data-theme="dark"]){color-scheme:light;${set(light)}}}
:root[data-theme="light"]{color-scheme:light;${set(light)}}
@media print{:root,:root[data-theme]{color-scheme:light;${set(light)}}}
`;
}

function set(colours) {
  return Object.entries(colours)
    .map(([name, value]) => `--${name}:${value};`)
    .join("");
}
