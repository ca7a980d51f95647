import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { gzipSync } from "node:zlib";

/** A file of the page, read once: a request can only name one of these. */
export interface PageFile {
  /** From the folder of the page, with slashes: "assets/index-B2x.js". */
  readonly name: string;
  readonly type: string;
  readonly body: Buffer;
  /** Undefined if it would not be smaller. */
  readonly gzip: Buffer | undefined;
  readonly etag: string;
}

const TYPES: ReadonlyMap<string, string> = new Map([
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".json", "application/json"],
  [".svg", "image/svg+xml"],
  [".png", "image/png"],
  [".ico", "image/x-icon"],
  [".woff2", "font/woff2"],
  [".txt", "text/plain; charset=utf-8"],
]);

/** Files of a bundle; more would be no bundle of this page. */
const FILES_MAX = 200;

/** The built page; empty if it was not built. Files of unknown types are left out, such as source maps. */
export function readPage(folder: string): readonly PageFile[] {
  return namesIn(folder)
    .slice(0, FILES_MAX)
    .flatMap((path) => {
      const type = TYPES.get(extname(path));
      return type === undefined ? [] : [pageFile(path, type, readFileSync(join(folder, path)))];
    });
}

export function pageFile(path: string, type: string, body: Buffer): PageFile {
  const gzip = gzipSync(body, { level: 9 });
  return {
    name: path.split(sep).join("/"),
    type,
    body,
    gzip: gzip.length < body.length ? gzip : undefined,
    etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`,
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  } catch {
    return [];
  }
}
