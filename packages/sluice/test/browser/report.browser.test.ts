/** What `sluice simulate --html` writes, in Chromium. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test, vi } from "vitest";
import { runCli } from "../../src/cli/main.ts";
import { chromiumPath, NEEDS_CHROMIUM, useBrowser } from "./browser.ts";

describe.skipIf(chromiumPath === undefined)(`a report of a scenario${NEEDS_CHROMIUM}`, () => {
  const { open } = useBrowser();
  const folder = mkdtempSync(join(tmpdir(), "sluice-report-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  test("fits a telephone without a sideways scroll, and asks no other host", async () => {
    const file = join(folder, "report.html");
    vi.spyOn(process.stdout, "write").mockReturnValue(true);
    expect(await runCli(["simulate", "scenarios/flow-fair-turns.yaml", "--html", file])).toBe(0);
    const { page, errors, strangers } = await open(pathToFileURL(file).href, { width: 360 });
    await page.locator(".lab-chart header").first().waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    expect([errors, strangers]).toEqual([[], []]);
  });
});
