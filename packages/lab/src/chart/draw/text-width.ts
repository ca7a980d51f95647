/**
 * Widths of characters as parts of the font size. The classes are Helvetica's metrics; the fonts of
 * `FONT_FAMILY` differ from them by a few percent.
 */
const CLASSES: readonly (readonly [width: number, characters: string])[] = [
  [0.26, "iljI.,:;'|!·’"],
  [0.35, 'ft()[]{}/\\- "“”r*'],
  [0.56, "abcdeghknopqsuvxyz0123456789#$+<=>?_~^`−–×÷±≤≥▲"],
  [0.69, "ABCDEFGHJKLNOPQRSTUVXYZ&"],
  [0.88, "mwMW%@—…→"],
];

const WIDTHS: ReadonlyMap<string, number> = new Map(
  CLASSES.flatMap(([width, characters]) =>
    Array.from(characters, (character): [string, number] => [character, width]),
  ),
);

/** Other letters of the Latin, Greek and Cyrillic alphabets. */
const LETTER_WIDTH = 0.6;
const LETTERS_UNTIL = "\u{530}";

/** Any other character, such as an ideograph or an emoji, is as wide as it is high. */
const FULL_WIDTH = 1;

/** Room for fonts that are wider than Helvetica, such as DejaVu Sans and Verdana. */
const ALLOWANCE = 1.08;

/** How much wider bold text is, in fonts where that is most. */
const BOLD = 1.15;

export interface Font {
  readonly size: number;
  readonly isBold?: boolean;
}

/** The width in pixels, estimated: the reader's font is not known when the chart is drawn. */
export function textWidth(text: string, { size, isBold = false }: Font): number {
  let width = 0;
  for (const character of text) {
    width += WIDTHS.get(character) ?? (character < LETTERS_UNTIL ? LETTER_WIDTH : FULL_WIDTH);
  }
  return width * size * ALLOWANCE * (isBold ? BOLD : 1);
}

/** `text`, shortened to fit into `width`. */
export function fitText(text: string, font: Font, width: number): string {
  if (textWidth(text, font) <= width) return text;
  const characters = Array.from(text);
  while (characters.length > 0 && textWidth(`${characters.join("")}…`, font) > width)
    characters.pop();
  return `${characters.join("").trimEnd()}…`;
}

/**
 * `text` as lines that fit into `width`, broken between words; only a single longer word is cut.
 */
export function wrapText(text: string, font: Font, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (textWidth(longer, font) <= width) {
      line = longer;
      continue;
    }
    if (line !== "") lines.push(line);
    line = fitText(word, font, width);
  }
  return [...lines, line];
}
