import { ConfigError } from "@sluice/core";

const PARTITION = /-partition-\d+$/;

const PATTERN = /^(?:(persistent|non-persistent):\/\/)?([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/;

/** "tenant/namespace/topic", such as "public/default/*", with or without the domain. */
export function parseTopicPattern(key: string, text: string): TopicPattern {
  return parse(text, (parts) => parts.length === 3) ?? refuse(key, text, "tenant/namespace/topic");
}

/** As `parseTopicPattern`; a tenant or a namespace alone stands for all its topics. */
export function parseGroupPattern(key: string, text: string): TopicPattern {
  return parse(text, () => true) ?? refuse(key, text, "tenant[/namespace[/topic]]");
}

function parse(
  text: string,
  isRight: (parts: readonly string[]) => boolean,
): TopicPattern | undefined {
  const [, domain, ...found] = PATTERN.exec(text) ?? [];
  const parts = found.filter((part: string | undefined) => part !== undefined);
  if (parts.length === 0 || !isRight(parts)) return undefined;
  return new TopicPattern(domain, [...parts, "*", "*"].slice(0, 3));
}

function refuse(key: string, text: string, form: string): never {
  throw new ConfigError(`${key} has "${text}"; a pattern is "${form}", such as "public/default/*"`);
}

/**
 * A pattern of full topic names, in which "*" stands for any characters but "/". A partition
 * matches where its topic does. To match takes time in proportion to the name: as a regular expression, a
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
