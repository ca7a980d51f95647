import { createHash } from "node:crypto";
import type { ReportedScenario } from "./report-data.ts";

/** The script and the style sheet of a report, as the build made them. */
export interface ReportAssets {
  readonly script: string;
  readonly style: string;
}

/**
 * One file that needs no other: script, style and data stand in it, and its policy allows that script and that style
 * and nothing else, from nowhere. Without the script the titles, verdicts and closing lines can still be read.
 */
export function htmlReport(scenarios: readonly ReportedScenario[], assets: ReportAssets): string {
  const script = assets.script.replaceAll("</script", String.raw`<\/script`);
  const style = assets.style.replaceAll("</style", String.raw`<\/style`);
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const [first] = scenarios;
  const title =
    scenarios.length === 1 ? first?.title || first?.file || "" : `${scenarios.length} scenarios`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark light">
<title>${escaped(title)} · Sluice</title>
<style>${style}</style>
</head>
<body>
<main class="page" id="report">${scenarios.map(plainSection).join("")}</main>
<script type="application/json" id="data">${dataText(scenarios)}</script>
<script>${script}</script>
</body>
</html>
`;
}

/** What a reader without the script sees. */
function plainSection({ file, title, closing, missed }: ReportedScenario): string {
  const verdict = missed.length === 0 ? "as expected" : `${missed.length} expectations missed`;
  return `<section><h2>${escaped(title || file)}</h2><p>${escaped(file)}: ${verdict}</p><pre>${escaped(closing)}</pre></section>`;
}

/** Titles and names are anyone's text: no character of them may end the element that they stand in. */
function dataText(scenarios: readonly ReportedScenario[]): string {
  return JSON.stringify(scenarios)
    .replaceAll("<", String.raw`\u003c`)
    .replaceAll("\u2028", String.raw`\u2028`)
    .replaceAll("\u2029", String.raw`\u2029`);
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
