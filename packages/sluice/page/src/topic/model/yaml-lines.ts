import type { LiveLimit } from "../../../../src/live/live-message.ts";
import type { LimitView } from "./limit-view.ts";

/** A line of the flow file: as it is, taken away or added. */
export interface YamlLine {
  readonly kind: "same" | "gone" | "new";
  readonly text: string;
}

const INDENT = "  ";
const UNITS = [
  ["GB", 1_000_000_000],
  ["MB", 1_000_000],
  ["kB", 1_000],
] as const;

/** The lines of a limit in a flow file, below `gateway.limits`, with the change from `before` to `after`. */
export function yamlLines(
  target: LimitView["target"],
  before: LiveLimit | undefined,
  after: LiveLimit | undefined,
): readonly YamlLine[] {
  if (isNone(before) && isNone(after)) return [];
  const heads = headsOf(target);
  const parts = [
    ...changed("messages", before?.messages, after?.messages),
    ...changed("bytes", before?.bytes, after?.bytes),
  ];
  const isNew = isNone(before);
  const indent = INDENT.repeat(heads.length);
  return [
    ...heads.map((text, level): YamlLine => {
      const kind = isNew && level === heads.length - 1 ? "new" : "same";
      return { kind, text: `${INDENT.repeat(level)}${text}` };
    }),
    ...parts.map(({ kind, text }) => ({ kind, text: indent + text })),
  ];
}

/** The lines as they would stand in the file, to be copied. */
export function yamlText(lines: readonly YamlLine[]): string {
  return lines.flatMap(({ kind, text }) => (kind === "gone" ? [] : `${text}\n`)).join("");
}

/** Bytes as a flow file has them, exactly: `10MB`, `1500kB`, `1001`. */
export function yamlBytes(bytes: number): string {
  const unit = UNITS.find(([, size]) => bytes >= size && bytes % size === 0);
  return unit === undefined ? String(bytes) : `${bytes / unit[1]}${unit[0]}`;
}

function headsOf(target: LimitView["target"]): readonly string[] {
  switch (target.kind) {
    case "topic":
      return ["topics:", `${JSON.stringify(target.name)}:`];
    case "group":
      return ["groups:", `${nameText(target.name)}:`];
    case "broker":
      return ["broker:"];
  }
}

function isNone(limit: LiveLimit | undefined): boolean {
  return limit?.messages === undefined && limit?.bytes === undefined;
}

function nameText(name: string): string {
  return /^[A-Za-z][-\w]*$/.test(name) ? name : JSON.stringify(name);
}

function changed(
  key: "messages" | "bytes",
  before: number | undefined,
  after: number | undefined,
): readonly YamlLine[] {
  const text = (value: number): string => `${key}: ${key === "bytes" ? yamlBytes(value) : value}/s`;
  if (before === after) return before === undefined ? [] : [{ kind: "same", text: text(before) }];
  return [
    ...(before === undefined ? [] : [{ kind: "gone", text: text(before) } as const]),
    ...(after === undefined ? [] : [{ kind: "new", text: text(after) } as const]),
  ];
}
