/** A real Chromium for tests of the dashboard. `npm test` finds or fetches one; without it the tests are skipped by name. */
import { existsSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Reason } from "@sluice/core";
import { chromium } from "playwright-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"];
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** Screenshots, kept for people; not committed. */
const OUTPUT = fileURLToPath(new URL("./output/", import.meta.url));

export const chromiumPath = found();
/** Behind the name of a suite that is skipped. */
export const NEEDS_CHROMIUM = chromiumPath === undefined ? " (skipped: no Chromium here)" : "";

export interface OpenedPage {
  readonly page: Page;
  /** Errors of the console and of scripts, and requests to any other host. Both stay empty on a good page. */
  readonly errors: readonly string[];
  readonly strangers: readonly string[];
}

export interface PageLook {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: "dark" | "light";
  readonly reducedMotion?: "reduce" | "no-preference";
  /** A script that runs in the page before its own. */
  readonly before?: string;
}

/** One browser for the tests of a file; `open` gives each of them a page of its own, without the others' storage. */
export function useBrowser(args: readonly string[] = []): {
  readonly open: (url: string, look?: PageLook) => Promise<OpenedPage>;
} {
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (chromiumPath !== undefined)
      browser = await chromium.launch({ executablePath: chromiumPath, args: [...ARGS, ...args] });
  });
  afterAll(async () => await browser?.close());
  return {
    open: async (url, look = {}) => {
      if (browser === undefined) throw new Error("no Chromium is running; was the suite skipped?");
      const {
        width = 1_440,
        height = 1_000,
        theme = "dark",
        reducedMotion = "no-preference",
      } = look;
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        reducedMotion,
      });
      const page = await context.newPage();
      const errors: string[] = [];
      const strangers: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error") errors.push(message.text());
      });
      page.on("pageerror", (error) => errors.push(String(error.stack ?? error)));
      page.on("request", (request) => {
        const asked = request.url();
        if (new URL(asked).origin !== new URL(url).origin && !asked.startsWith("data:"))
          strangers.push(asked);
      });
      if (look.before !== undefined) await page.addInitScript(look.before);
      await page.goto(url);
      return { page, errors, strangers };
    },
  };
}

interface AwaitedSentence {
  /** What the text of the row must be like; any if it is not given. */
  readonly like?: RegExp;
  readonly timeoutMs?: number;
}

/** The row of Waiting now for a reason, once it is there and as it should be: its text on one line. */
export async function waitForSentence(
  page: Page,
  reason: Reason,
  { like = /./, timeoutMs = 60_000 }: AwaitedSentence = {},
): Promise<string> {
  const row = page.locator(`[data-row][data-reason="${reason}"]`).first();
  await row.waitFor({ timeout: timeoutMs });
  const text = async (): Promise<string> => (await row.innerText()).replaceAll(/\s+/g, " ");
  await expect.poll(text, { timeout: timeoutMs }).toMatch(like);
  return await text();
}

/** Keeps what the page looks like, for people: `output/<name>.png`. */
export async function keepScreenshot(page: Page, name: string, isWhole = true): Promise<void> {
  mkdirSync(OUTPUT, { recursive: true });
  await page.screenshot({ path: join(OUTPUT, `${name}.png`), fullPage: isWhole });
}

/** Whether the page would scroll sideways. */
export async function isTooWide(page: Page): Promise<boolean> {
  const [content, window] = await page.evaluate<[number, number]>(
    "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
  );
  return content > window;
}

function found(): string | undefined {
  const given = process.env["CHROMIUM"];
  if (given !== undefined && existsSync(given)) return given;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) =>
    existsSync(path),
  );
}
