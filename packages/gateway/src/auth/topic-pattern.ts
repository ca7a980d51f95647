const PARTITION = /-partition-\d+$/;

/**
 * A pattern of full topic names, in which "*" stands for any characters but "/". A partition has the
 * rights of its topic. To match takes time in proportion to the name: as a regular expression, a
 * pattern with three stars took minutes for a name that a client had made up for it.
 */
export class TopicPattern {
  readonly #domain: string | undefined;
  readonly #parts: readonly (readonly string[])[];

  /** `domain`: undefined for both. `parts`: of tenant, namespace and topic. */
  constructor(domain: string | undefined, parts: readonly string[]) {
    this.#domain = domain;
    this.#parts = parts.map((part) => part.split(/\*+/));
  }

  matches(topic: string): boolean {
    const [domain = "", rest = ""] = topic.split("://");
    if (this.#domain !== undefined && domain !== this.#domain) return false;
    return this.#matchesParts(rest) || this.#matchesParts(rest.replace(PARTITION, ""));
  }

  #matchesParts(rest: string): boolean {
    const parts = rest.split("/");
    return (
      parts.length === this.#parts.length &&
      this.#parts.every((literals, index) => isMade(parts[index] ?? "", literals))
    );
  }
}

/** Whether a text begins with the first literal, ends with the last, and has the others between, in order. */
function isMade(text: string, literals: readonly string[]): boolean {
  const [first = "", ...others] = literals;
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const literal of others) {
    const found = text.indexOf(literal, at);
    if (found === -1) return false;
    at = found + literal.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
