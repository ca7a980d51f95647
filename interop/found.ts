import { existsSync, readFileSync } from "node:fs";

/** How to start a program that set-up has fetched or built. */
interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly version: string;
}

interface Missing {
  readonly missing: string;
}

/** What `scripts/interop.mjs` found or fetched, or why it could not. */
export interface Found {
  readonly broker: (Program & { readonly standaloneConf: string }) | Missing;
  readonly python: Program | Missing;
  readonly java: Program | Missing;
  readonly flex: Program | Missing;
  readonly go: Program | Missing;
}

const file = new URL("../node_modules/.cache/interop/found.json", import.meta.url);

export function readFound(): Found {
  if (!existsSync(file)) throw new Error("nothing is set up: run `npm run test:interop`");
  return JSON.parse(readFileSync(file, "utf8")) as Found;
}
