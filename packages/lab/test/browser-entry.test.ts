import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { build } from "vite";
import { loadScenario, simulate } from "@sluice/lab";
import type * as browser from "../src/browser.ts";

const ENTRY = fileURLToPath(new URL("../src/browser.ts", import.meta.url));
const SCENARIOS = new URL("../../../scenarios/", import.meta.url);

/** Of `@sluice/lab/browser` with all its kinds, compressed, in bytes. A page loads only the kinds that it runs. */
const GZIP_MAX = 73_000;

const BROWSER_KINDS = /^kind: (?:ramp|busy|overload|concurrency|publish|pool)$/m;
const texts = readdirSync(SCENARIOS)
  .map((name) => ({ name, text: readFileSync(new URL(name, SCENARIOS), "utf8") }))
  .filter(({ text }) => BROWSER_KINDS.test(text));

type Entry = Pick<typeof browser, "loadScenario" | "runScenario">;

let code = "";
let entry: Entry;

beforeAll(async () => {
  const root = new URL("../../../", import.meta.url);
  const built = await build({
    configFile: false,
    logLevel: "silent",
    resolve: {
      alias: [
        {
          find: /^@sluice\/(\w+)$/,
          replacement: fileURLToPath(new URL("packages/$1/src/index.ts", root)),
        },
        {
          find: /^@sluice\/(\w+)\/(\w+)$/,
          replacement: fileURLToPath(new URL("packages/$1/src/$2.ts", root)),
        },
      ],
    },
    build: {
      write: false,
      target: "es2022",
      minify: true,
      lib: { entry: ENTRY, formats: ["iife"], name: "lab" },
    },
  });
  const [output] = Array.isArray(built) ? built : [built];
  if (!("output" in output)) throw new Error("nothing was built");
  code = output.output.map((chunk) => ("code" in chunk ? chunk.code : "")).join("");
  // A context has the language and nothing else but cloning: no process, Buffer, performance, timers or require.
  const context = createContext({ structuredClone });
  // A global of a context is looked up through an interceptor, which made long runs 20 times slower; a local name is not.
  const globals = (runInContext("Object.getOwnPropertyNames(globalThis)", context) as string[])
    .filter((name) => /^[A-Z]\w+$/.test(name) && !["Infinity", "NaN"].includes(name))
    .join();
  const whole = `(() => { const { ${globals} } = globalThis; ${code}; return lab; })()`;
  entry = runInContext(whole, context) as Entry;
}, 60_000);

describe("the lab for browsers", () => {
  it("names no module of Node.js and stays within its budget", () => {
    expect(code).not.toMatch(/["']node:/);
    expect(gzipSync(code).length).toBeLessThanOrEqual(GZIP_MAX);
  });

  it.each(texts)("gives the same bytes for $name as the command line", async ({ name, text }) => {
    const here = await simulate(loadScenario(text, name));
    const there = await entry.runScenario(await entry.loadScenario(text, name));
    expect(JSON.stringify(there.result)).toBe(JSON.stringify(here.result));
    expect(JSON.stringify(there.run.chart())).toBe(JSON.stringify(here.run.chart()));
  });

  it("refuses a kind that needs Node.js, with its line", async () => {
    await expect(entry.loadScenario("title: x\nkind: flow\n", "a.yaml")).rejects.toThrow(
      /a\.yaml:2: kind is "flow"; expected one of concurrency, ramp/,
    );
  });
});
