/** Builds the site: every document as a page with the same text, links and anchors as on the forge. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { navigationOf } from "./navigation.mjs";
import { render, titleOf } from "./render.mjs";
import { pageHtml } from "./template.mjs";
import { tokensCss } from "./tokens.mjs";

/** Documents beside `docs/` that its pages link to. */
const BESIDE =
  /^(?:README|ARCHITECTURE|CHANGELOG|CONTRIBUTING|GLOSSARY)\.md$|^(?:packages\/[^/]+|model|interop)\/README\.md$|^bench\/RESULTS\.md$/;
const SKIPPED = new Set(["node_modules", "dist", ".git", ".cache"]);
const ASSETS = ["style.css", "site.js"];

/** @param {{ root: string, out: string }} options @returns {readonly string[]} the pages, by their path in the site */
export function buildSite({ root, out }) {
  const documents = filesBelow(root, "").filter(
    (file) => file.endsWith(".md") && (file.startsWith("docs/") || BESIDE.test(file)),
  );
  const texts = new Map(documents.map((file) => [file, readFileSync(join(root, file), "utf8")]));
  const titles = new Map([...texts].map(([file, text]) => [file, titleOf(text)]));
  const navigation = navigationOf(texts, titles);
  rmSync(out, { recursive: true, force: true });
  const copied = new Set();
  const index = [];
  for (const [file, text] of texts) {
    const address = addressOf(file);
    const target = (link) => targetOf(link, { file, address, root, texts, copied });
    const { html, headings } = render(text, target);
    for (const { level, text: heading, slug } of headings)
      if (level <= 3)
        index.push([titles.get(file), heading, level === 1 ? address : `${address}#${slug}`]);
    const page = {
      title: titles.get(file),
      html,
      headings,
      address,
      navigation,
      up: upOf(address),
    };
    write(out, address, pageHtml({ ...page, addressOf }));
  }
  for (const path of copied) copy(root, out, path);
  for (const asset of ASSETS) cpSync(new URL(asset, import.meta.url), join(out, asset));
  write(out, "tokens.css", tokensCss(root));
  write(out, "search-index.js", `globalThis.sluiceIndex=${JSON.stringify(index)};\n`);
  return documents.map(addressOf);
}

/** `docs/` is the root of the site, and a README the index of its folder. */
function addressOf(file) {
  const path = file === "README.md" ? "about.md" : file.replace(/^docs\//, "");
  return path.replace(/README\.md$/, "index.html").replace(/\.md$/, ".html");
}

function upOf(address) {
  return "../".repeat(address.split("/").length - 1);
}

/** Where a link of a document leads in the site: another page, or a copy of the file. */
function targetOf(link, { file, address, root, texts, copied }) {
  if (/^(?:https?:|mailto:|#)/.test(link)) return link;
  const [path = "", anchor] = link.split("#");
  const full = posix.normalize(posix.join(posix.dirname(file), path)).replace(/\/$/, "");
  const end = anchor === undefined ? "" : `#${anchor}`;
  if (texts.has(full)) return relativeTo(address, addressOf(full)) + end;
  if (!existsSync(join(root, full)))
    throw new Error(`${file} links to ${link}, which is not there`);
  copied.add(full);
  const place = full.replace(/^docs\//, "");
  const isFolder = statSync(join(root, full)).isDirectory();
  return relativeTo(address, isFolder ? `${place}/index.html` : place) + end;
}

function relativeTo(from, to) {
  return relative(dirname(from), to) || posix.basename(to);
}

/** A linked file as it is; a linked folder as a list of what it holds. */
function copy(root, out, path) {
  const from = join(root, path);
  const to = path.replace(/^docs\//, "");
  if (!statSync(from).isDirectory()) {
    mkdirSync(dirname(join(out, to)), { recursive: true });
    cpSync(from, join(out, to));
    return;
  }
  const files = filesBelow(root, `${path}/`);
  const links = files.map((file) => {
    const isPage = file.endsWith(".md") && file.startsWith("docs/");
    if (!isPage) copy(root, out, file);
    const name = file.slice(path.length + 1);
    return `<li><a href="${isPage ? name.replace(/\.md$/, ".html") : name}">${name}</a></li>`;
  });
  const html = `<h1>${path}</h1>\n<ul>\n${links.join("\n")}\n</ul>`;
  const address = `${to}/index.html`;
  const page = { title: path, html, headings: [], address, navigation: [], up: upOf(address) };
  if (!existsSync(join(out, address))) write(out, address, pageHtml({ ...page, addressOf }));
}

function filesBelow(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const path = `${folder}${entry.name}`;
    return entry.isDirectory() ? filesBelow(root, `${path}/`) : [path];
  });
}

function write(out, path, text) {
  mkdirSync(dirname(join(out, path)), { recursive: true });
  writeFileSync(join(out, path), text);
}
