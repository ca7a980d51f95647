import { readFileSync } from "node:fs";

/** From the package's own manifest, two folders up from here, built or not. */
export const version: string = readVersion();

function readVersion(): string {
  const manifest = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  ) as { readonly version: string };
  return manifest.version;
}
