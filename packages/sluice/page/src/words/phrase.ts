/** A text of which some words are strong: names and numbers that the eye looks for. */
export type Phrase = readonly (string | Strong)[];

export interface Strong {
  readonly strong: string;
}

export function strong(text: string): Strong {
  return { strong: text };
}

/** The text alone, for screen readers and tests. */
export function plainText(phrase: Phrase): string {
  return phrase.map((part) => (typeof part === "string" ? part : part.strong)).join("");
}

/** "a", "a and b", "a, b and c"; more than three: "a and 4 others". */
export function namesPhrase(names: readonly string[], others = 0): Phrase {
  const [first = "nobody"] = names;
  const count = names.length + others;
  if (count > 3 || others > 0)
    return [strong(first), ` and ${count - 1} ${count === 2 ? "other" : "others"}`];
  return names.flatMap((name, index): Phrase => {
    if (index === 0) return [strong(name)];
    return [index === names.length - 1 ? " and " : ", ", strong(name)];
  });
}

/** The same as text, of names alone. */
export function namesText(names: readonly string[]): string {
  return plainText(namesPhrase(names));
}

export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
