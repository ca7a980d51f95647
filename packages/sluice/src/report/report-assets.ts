import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { ConfigError } from "@sluice/core";
import type { ReportAssets } from "./html-report.ts";

/** Where the build puts them; from the sources and from the build alike. */
const FOLDER = new URL("../../dist/report-page/", import.meta.url);

/** @throws ConfigError if the page was not built. */
export async function reportAssets(): Promise<ReportAssets> {
  try {
    return { script: await read("report.js"), style: await read("report.css") };
  } catch (cause) {
    const where = fileURLToPath(FOLDER);
    throw new ConfigError(
      `the parts of a report are missing in ${where}; run npm run build`,
      undefined,
      { cause },
    );
  }
}

async function read(name: string): Promise<string> {
  return await readFile(new URL(name, FOLDER), "utf8");
}
