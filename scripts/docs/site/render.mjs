/** Markdown to HTML, with the anchors of the forge, links into the site, and tables that scroll by themselves. */
import MarkdownIt from "markdown-it";
import { slugger } from "../slug.mjs";
import { highlight } from "./highlight.mjs";

const markdown = new MarkdownIt({
  html: true,
  highlight: (code, language) => highlight(code, language),
});

/** @param {string} text @param {(link: string) => string} targetOf */
export function render(text, targetOf) {
  const tokens = markdown.parse(text, {});
  const slug = slugger();
  const headings = [];
  for (const [i, token] of tokens.entries()) {
    if (token.type === "heading_open") {
      const source = tokens[i + 1]?.content ?? "";
      const heading = {
        level: Number(token.tag.slice(1)),
        text: plainOf(source),
        slug: slug(source),
      };
      token.attrSet("id", heading.slug);
      headings.push(heading);
    }
    for (const child of token.children ?? []) {
      const attribute = child.type === "image" ? "src" : "href";
      const link =
        child.type === "link_open" || child.type === "image" ? child.attrGet(attribute) : null;
      if (link !== null) child.attrSet(attribute, targetOf(decodeURI(link)));
    }
  }
  const html = markdown.renderer
    .render(tokens, markdown.options, {})
    .replaceAll(
      "<table>",
      `<div class="scroll" tabindex="0" role="region" aria-label="table"><table>`,
    )
    .replaceAll("</table>", "</table></div>")
    .replaceAll("<pre>", `<pre tabindex="0">`);
  return { html, headings };
}

export function titleOf(text) {
  return plainOf(/^# (.+)$/m.exec(text)?.[1] ?? "");
}

function plainOf(source) {
  return source.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*_]/g, "");
}
