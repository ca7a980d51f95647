/** Keys and indexes from the root of a value to a place in it. */
export type Path = readonly (string | number)[];

/** A key that can stand after a dot: anything but the characters that have a meaning in a path. */
const PLAIN = /^[^.[\]"'\s]+$/u;

/**
 * An index, a quoted key in brackets, or a plain key. The key at the start has no dot before it.
 */
const SEGMENT =
  /\[(?<index>\d+)\]|\[(?<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\]|(?:^|\.)(?<plain>[^.[\]"'\s]+)/uy;

/** Reads `rows[4].members.web-1` or `members["web.1"].share`; undefined if it is no path. */
export function parsePath(text: string): Path | undefined {
  const path: (string | number)[] = [];
  SEGMENT.lastIndex = 0;
  while (SEGMENT.lastIndex < text.length) {
    const { index, quoted, plain } = SEGMENT.exec(text)?.groups ?? {};
    if (index !== undefined) path.push(Number(index));
    else if (plain !== undefined) path.push(plain);
    else if (quoted !== undefined) path.push(quoted.slice(1, -1).replaceAll(/\\(.)/gu, "$1"));
    else return undefined;
  }
  return path.length === 0 ? undefined : path;
}

/** The path as `parsePath` reads it. */
export function formatPath(path: Path): string {
  return path
    .map((segment, position) => {
      if (typeof segment === "number") return `[${segment}]`;
      if (PLAIN.test(segment)) return position === 0 ? segment : `.${segment}`;
      return `["${segment.replaceAll(/["\\]/gu, "\\$&")}"]`;
    })
    .join("");
}
