/** Characters. Raised, lines run over the edge of wider terminals; lowered, a narrow one shows single letters below each other. */
const WIDTH_MIN = 7;

/**
 * Text in lines of at most `width` characters, broken between words, but not before a percent sign. A word that fits
 * in no line is broken within: a client may choose a name of 4,000 characters. A line has at least `WIDTH_MIN`, also
 * where a narrow terminal leaves less beside a label.
 */
export function wrapped(text: string, widthMax: number): readonly string[] {
  const width = Math.max(WIDTH_MIN, widthMax);
  const lines: string[] = [];
  for (const word of text.split(/ (?!%)/).flatMap((one) => pieces(one, width))) {
    const line = lines.at(-1);
    // A second space parts two sentences of a line; at the start of a line it would indent.
    if (line === "") lines[lines.length - 1] = word;
    else if (line === undefined || line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}

function pieces(word: string, width: number): readonly string[] {
  if (word.length <= width) return [word];
  const count = Math.ceil(word.length / width);
  return Array.from({ length: count }, (_, at) => word.slice(at * width, (at + 1) * width));
}
