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

/**
 * Characters that XML cannot hold, such as control characters and half a surrogate pair, become
 * U+FFFD.
 */
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
