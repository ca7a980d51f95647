import { isPlainText } from "./scalar.ts";

/** Longest line; a map or list that is longer gets a line for each entry, or several full ones for numbers. */
const LINE_MAX = 100;

/** A value of JSON as YAML that `readYaml` and every YAML parser read as the same value. */
export function writeYaml(value: unknown): string {
  if (isMap(value) && Object.keys(value).length > 0) return blockMap(value, 0);
  return `${inline(value)}\n`;
}

function blockMap(value: Readonly<Record<string, unknown>>, indent: number): string {
  return Object.entries(value)
    .map(([key, child]) => `${" ".repeat(indent)}${text(key)}:${after(child, indent, key.length)}`)
    .join("");
}

/** What follows a colon, with the end of its line. */
function after(value: unknown, indent: number, keyLength: number): string {
  const flat = inline(value);
  if (indent + keyLength + 2 + flat.length <= LINE_MAX || !isNested(value)) return ` ${flat}\n`;
  if (Array.isArray(value)) return `\n${blockList(value, indent + 2)}`;
  return `\n${blockMap(value as Readonly<Record<string, unknown>>, indent + 2)}`;
}

function blockList(items: readonly unknown[], indent: number): string {
  if (items.every((item) => typeof item === "number")) return wrapped(items, indent);
  const margin = " ".repeat(indent);
  return items
    .map((item) => {
      const flat = inline(item);
      if (indent + 2 + flat.length <= LINE_MAX || !isNested(item)) return `${margin}- ${flat}\n`;
      if (Array.isArray(item)) return `${margin}-\n${blockList(item, indent + 2)}`;
      // The first key stands beside the dash.
      return `${margin}- ${blockMap(item as Readonly<Record<string, unknown>>, indent + 2).trimStart()}`;
    })
    .join("");
}

/** Numbers in brackets, as many on a line as fit. */
function wrapped(numbers: readonly number[], indent: number): string {
  const margin = " ".repeat(indent);
  const lines: string[] = [];
  let line = "";
  for (const each of numbers.map(number)) {
    if (line !== "" && indent + line.length + each.length + 2 > LINE_MAX) {
      lines.push(line);
      line = "";
    }
    line += `${line === "" ? "" : " "}${each},`;
  }
  lines.push(line);
  return `${margin}[\n${lines.map((each) => `${margin}  ${each}\n`).join("")}${margin}]\n`;
}

function inline(value: unknown): string {
  if (typeof value === "string") return text(value);
  if (typeof value === "number") return number(value);
  if (Array.isArray(value)) return value.length === 0 ? "[]" : `[${value.map(inline).join(", ")}]`;
  if (!isMap(value)) return String(value);
  const entries = Object.entries(value).map(([key, child]) => `${text(key)}: ${inline(child)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}

function text(value: string): string {
  if (isPlainText(value)) return value;
  return JSON.stringify(value).replaceAll(/[\x7F-\x9F\u2028\u2029\uFEFF]/gu, escaped);
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function number(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

function isNested(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isMap(value) && Object.keys(value).length > 0;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
