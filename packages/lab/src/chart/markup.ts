export type Attributes = Readonly<Record<string, string | number>>;

/** An element with its children on lines of their own, so that a changed chart has a small diff. */
export function element(
  name: string,
  attributes: Attributes,
  children: readonly string[] = [],
): string {
  const start = `<${name}${attributeList(attributes)}`;
  if (children.length === 0) return `${start}/>`;
  return [`${start}>`, ...children, `</${name}>`].join("\n");
}

/** Text of one line. Not an `element`, because line breaks would become part of the text. */
export function textElement(text: string, attributes: Attributes): string {
  return `<text${attributeList(attributes)}>${escapeText(text)}</text>`;
}

function attributeList(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([key, value]) => {
      return ` ${key}="${typeof value === "number" ? round(value) : escapeText(value)}"`;
    })
    .join("");
}

/** Replaces what XML has no way to say, such as control characters and half a surrogate pair. */
export function escapeText(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&apos;");
}

/** Two decimals are finer than any screen, and keep files small. */
export function round(pixels: number): number {
  return Math.round(pixels * 100) / 100;
}

/** Of an average letter in the usual sans-serif fonts, with some to spare, per pixel of height. */
const LETTER_WIDTH = 0.58;

/** An estimate: the reader's font is not known here. */
export function textWidth(text: string, fontSize: number): number {
  return Array.from(text).length * fontSize * LETTER_WIDTH;
}

/** `text`, shortened to fit into `width`. */
export function fitText(text: string, fontSize: number, width: number): string {
  if (textWidth(text, fontSize) <= width) return text;
  const count = Math.max(0, Math.floor(width / (fontSize * LETTER_WIDTH)) - 1);
  return `${Array.from(text).slice(0, count).join("").trimEnd()}…`;
}
