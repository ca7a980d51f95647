import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);
const SKIPPED = new Set(["node_modules", "dist", ".git", ".cache"]);

/** Paths below the repository's root of all its files, or of those in one folder. */
export function filesIn(folder = ""): string[] {
  return readdirSync(new URL(folder, root), { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const path = `${folder}${entry.name}`;
    return entry.isDirectory() ? filesIn(`${path}/`) : [path];
  });
}

export function read(path: string): string {
  return readFileSync(new URL(path, root), "utf8");
}

export function pathOf(path: string): string {
  return fileURLToPath(new URL(path, root));
}

/** A source without its comments, so that they may speak of what the code must not do. */
export function codeOf(path: string): string {
  return read(path).replaceAll(/\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$/gm, "$1");
}

/** What a source imports, as it is written there. */
export function importsOf(path: string): string[] {
  const code = codeOf(path);
  // A quote before the word: it is a text, such as the name of an option.
  const specifiers = code.matchAll(/(?<![."'])\b(?:from|import|require)\s*\(?\s*["']([^"']+)["']/g);
  return [...specifiers].map(([, specifier = ""]) => specifier);
}
