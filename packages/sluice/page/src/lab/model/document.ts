/** A scenario as its file has it: maps, lists, text, numbers and truth values. */
export type Document = Readonly<Record<string, unknown>>;

type Path = readonly (string | number)[];

/** What stands at a place; undefined if nothing does. */
export function valueAt(document: unknown, path: Path): unknown {
  let value: unknown = document;
  for (const segment of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, segment))
      return undefined;
    value = (value as Readonly<Record<string | number, unknown>>)[segment];
  }
  return value;
}

/** The word or number at a place as text; `otherwise` if there is neither. */
export function textAt(document: unknown, path: Path, otherwise: string): string {
  const value = valueAt(document, path);
  return typeof value === "string" || typeof value === "number" ? String(value) : otherwise;
}

/** The document with another value at a place; maps on the way are made. */
export function withValue(document: Document, path: Path, value: unknown): Document {
  return set(document, path, value) as Document;
}

function set(node: unknown, path: Path, value: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return value;
  const child = set(valueAt(node, [first]), rest, value);
  if (Array.isArray(node)) return node.map((item: unknown, i) => (i === first ? child : item));
  return { ...(node as Document | undefined), [first]: child };
}

/** Seconds of a duration such as 30s or 1m30s, in the forms that the page writes itself; undefined for others. */
export function secondsOf(value: unknown): number | undefined {
  const found = typeof value === "string" ? /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(value) : null;
  if (found === null) return undefined;
  const unit = { ms: 0.001, s: 1, m: 60, h: 3600 }[found[2] as "ms" | "s" | "m" | "h"];
  return Number(found[1]) * unit;
}

/** Messages a second of a rate such as 1000/s; undefined for other forms. */
export function perSecondOf(value: unknown): number | undefined {
  const found = typeof value === "string" ? /^(\d+)\/s$/.exec(value) : null;
  return found === null ? undefined : Number(found[1]);
}
