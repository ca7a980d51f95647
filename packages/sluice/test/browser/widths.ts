import type { Page } from "playwright-core";
import { isTooWide } from "./browser.ts";

const WIDTHS = [360, 390, 600, 768, 1_024, 1_280, 1_440, 1_920];

/** Widths of windows in which the page would scroll sideways. */
export async function tooWideAt(page: Page): Promise<readonly number[]> {
  const found: number[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    // A chart takes its new width with the next frame.
    await page.waitForTimeout(200);
    if (await isTooWide(page)) found.push(width);
  }
  return found;
}
