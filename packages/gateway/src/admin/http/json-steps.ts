import type { Steps } from "../../topic/stats-steps.ts";

/** A list whose items are made while it is written. */
export class LazyList {
  readonly items: Iterable<unknown>;

  constructor(items: Iterable<unknown>) {
    this.items = items;
  }
}

/** An object whose values are made while it is written. */
export class LazyRecord {
  readonly entries: Iterable<readonly [string, unknown]>;

  constructor(entries: Iterable<readonly [string, unknown]>) {
    this.entries = entries;
  }
}

/** Characters after which other work gets a turn: to make and write them takes about 1 ms. */
const CHARS_PER_STEP = 64 * 1024;

/** The JSON text of a value with lazy parts. An object is written in parts if a value of it is lazy. */
export function* jsonSteps(value: unknown): Steps<string> {
  const text = new Text();
  yield* writeSteps(value, text);
  return text.parts.join("");
}

class Text {
  readonly parts: string[] = [];
  #sinceStep = 0;

  add(part: string): void {
    this.parts.push(part);
    this.#sinceStep += part.length;
  }

  get isStepDue(): boolean {
    if (this.#sinceStep < CHARS_PER_STEP) return false;
    this.#sinceStep = 0;
    return true;
  }
}

function* writeSteps(value: unknown, text: Text): Steps<undefined> {
  if (value instanceof LazyList) {
    let separator = "[";
    for (const item of value.items) {
      text.add(separator);
      separator = ",";
      yield* writeSteps(item, text);
    }
    text.add(separator === "[" ? "[]" : "]");
  } else if (value instanceof LazyRecord) yield* writeEntries(value.entries, text);
  else if (hasLazyPart(value)) yield* writeEntries(Object.entries(value), text);
  else text.add(JSON.stringify(value));
  if (text.isStepDue) yield;
}

function* writeEntries(
  entries: Iterable<readonly [string, unknown]>,
  text: Text,
): Steps<undefined> {
  let separator = "{";
  for (const [name, value] of entries) {
    if (value === undefined) continue;
    text.add(`${separator}${JSON.stringify(name)}:`);
    separator = ",";
    yield* writeSteps(value, text);
  }
  text.add(separator === "{" ? "{}" : "}");
}

function hasLazyPart(value: unknown): value is object {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).some((part) => part instanceof LazyList || part instanceof LazyRecord)
  );
}
