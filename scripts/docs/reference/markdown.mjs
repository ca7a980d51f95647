/** Pieces of Markdown that several generated pages use. */

/** @param {readonly string[]} heads @param {readonly (readonly string[])[]} rows */
export function table(heads, rows) {
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Text of one cell: on one line, with its bars escaped. */
export function cell(text) {
  return text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|").trim();
}

function line(cells) {
  return `| ${cells.join(" | ")} |`;
}
