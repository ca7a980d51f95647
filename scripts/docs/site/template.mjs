/** The frame of every page: header with search, navigation by needs, the text, and its headings. */
import { relative, dirname } from "node:path";
import { escape } from "./highlight.mjs";

/** Headings that the list beside the text has at most; pages of the API have hundreds. */
const HEADINGS_MAX = 60;

export function pageHtml({ title, html, headings, address, navigation, up, addressOf }) {
  const name = title === "Sluice" ? "Sluice" : `${title} · Sluice`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(name)}</title>
<link rel="stylesheet" href="${up}tokens.css">
<link rel="stylesheet" href="${up}style.css">
<link rel="icon" href="data:,">
<script src="${up}site.js" data-up="${up}" defer></script>
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<header>
<a class="brand" href="${up}index.html">Sluice</a>
<search>
<input type="search" id="search" placeholder="Search headings" title="Press / to search" aria-label="Search headings" autocomplete="off">
<ul id="results" aria-label="Results" hidden></ul>
</search>
<button type="button" id="theme">Theme</button>
</header>
<div class="page">
<nav aria-label="Pages"><details id="pages"><summary>Pages</summary>
${navigation.map((section) => sectionHtml(section, address, addressOf)).join("\n")}
</details></nav>
<main id="text" tabindex="-1">
${html}
</main>
${asideHtml(headings)}
</div>
</body>
</html>
`;
}

function sectionHtml({ title, files }, address, addressOf) {
  const links = files.map(({ file, title: name }, i) => {
    const to = addressOf(file);
    const current = to === address ? ' aria-current="page"' : "";
    const shown =
      i === 0 && file.endsWith("README.md") && title !== "Start" && title !== "Packages"
        ? "Overview"
        : name;
    return `<li><a href="${relative(dirname(address), to)}"${current}>${escape(shown)}</a></li>`;
  });
  return `<p>${title}</p>\n<ul>\n${links.join("\n")}\n</ul>`;
}

function asideHtml(headings) {
  const shown = headings.filter(({ level }) => level === 2 || level === 3);
  const listed = shown.length > HEADINGS_MAX ? shown.filter(({ level }) => level === 2) : shown;
  if (listed.length < 2 || listed.length > HEADINGS_MAX) return "";
  const links = listed.map(
    ({ level, text, slug }) => `<li class="l${level}"><a href="#${slug}">${escape(text)}</a></li>`,
  );
  return `<aside aria-label="On this page"><p>On this page</p>\n<ul>\n${links.join("\n")}\n</ul></aside>`;
}
