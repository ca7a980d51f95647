/** The navigation by needs. The order of a section is that of the links in its README. */
import { posix } from "node:path";

const SECTIONS = [
  { title: "Recipes", home: "docs/recipes/README.md" },
  { title: "Reference", home: "docs/reference/README.md" },
  { title: "Explanation", home: "docs/explanation/README.md" },
  { title: "Migration", home: "docs/migration/README.md" },
];

/** @returns {readonly { title: string, files: readonly { file: string, title: string }[] }[]} */
export function navigationOf(texts, titles) {
  const shorts = [...titles.values()].map(shortTitle);
  const entry = (file) => {
    const title = titles.get(file) ?? file;
    const short = shortTitle(title);
    return { file, title: shorts.filter((one) => one === short).length > 1 ? title : short };
  };
  const start = { title: "Start", files: ["docs/README.md", "docs/tutorial.md"].map(entry) };
  const needs = SECTIONS.map(({ title, home }) => ({
    title,
    files: [home, ...linked(home, texts)].map(entry),
  }));
  const packages = [...texts.keys()].filter((file) => file.startsWith("packages/"));
  return [start, ...needs, { title: "Packages", files: packages.map(entry) }];
}

/** Documents of the same folder that a README links to, each once. */
function linked(home, texts) {
  const folder = posix.dirname(home);
  const targets = [...(texts.get(home) ?? "").matchAll(/\]\(([^)#\s]+\.md)[^)]*\)/g)].map(
    ([, link = ""]) => posix.normalize(posix.join(folder, link)),
  );
  return [...new Set(targets)].filter((file) => file.startsWith(`${folder}/`) && file !== home);
}

function shortTitle(title) {
  return title.replace(/:.*$/, "");
}
