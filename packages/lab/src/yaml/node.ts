import type { Path } from "../file/path.ts";

/** A value, where it stands, and what is in it. */
export interface YamlNode {
  readonly value: unknown;
  readonly line: number;
  /** Keys of a map, or indexes of a list, with the line of the key or item. */
  readonly children?: ReadonlyMap<string | number, YamlNode>;
}

/** The line of a key or item, or of the last part of the path that is there. */
export function lineOfPath(root: YamlNode, path: Path): number {
  let node = root;
  for (const segment of path) {
    const child = node.children?.get(segment);
    if (child === undefined) break;
    node = child;
  }
  return node.line;
}

export function listNode(line: number, items: readonly YamlNode[]): YamlNode {
  return {
    value: items.map(({ value }) => value),
    line,
    children: new Map(items.entries()),
  };
}

export function mapNode(line: number, entries: ReadonlyMap<string, YamlNode>): YamlNode {
  const values = [...entries].map(([key, { value }]) => [key, value] as const);
  return { value: Object.fromEntries(values), line, children: entries };
}
