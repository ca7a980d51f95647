import { describe, expect, test } from "vitest";
import { seriousFindings } from "./axe.ts";
import {
  chromiumPath,
  isTooWide,
  keepScreenshot,
  NEEDS_CHROMIUM,
  useBrowser,
  waitForSentence,
} from "./browser.ts";
import { useFlow } from "./running-flow.ts";

/** A change must act on what the page shows within this time. */
const ACTS_WITHIN_MS = 2_000;
const WIDTHS = [360, 390, 600, 768, 1_024, 1_280, 1_440, 1_920];

describe.skipIf(chromiumPath === undefined)(
  `the Overview of a running flow${NEEDS_CHROMIUM}`,
  () => {
    const flow = useFlow();
    const { open } = useBrowser();

    test("says what waits, why and since when, and asks no other host", async () => {
      const { page, errors, strangers } = await open(`${flow.admin}/`);
      await waitForSentence(page, "topic-rate", {
        like: /bulk-import.* waits? to publish to orders\. The topic takes 1,000\/s.*because of/,
      });
      await waitForSentence(page, "group-rate", { like: /Group analytics takes 300\/s/ });
      expect(await page.locator("h1").innerText()).toMatch(/\/s come in, .*\/s reach .* wait/);
      await keepScreenshot(page, "overview-dark");
      await page.keyboard.press("d");
      await keepScreenshot(page, "overview-light");
      expect(await seriousFindings(page)).toEqual([]);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        expect(await isTooWide(page), `${width} px`).toBe(false);
        if (width === 390 || width === 1_024) await keepScreenshot(page, `overview-${width}`);
      }
      expect(errors).toEqual([]);
      expect(strangers).toEqual([]);
    });

    test("a limit that is raised in its row acts within 2 s, and Undo takes it back", async () => {
      const { page, errors } = await open(`${flow.admin}/`);
      await waitForSentence(page, "group-rate");
      const row = page.locator('[data-row][data-reason="group-rate"]');
      const field = row.locator("input");
      await field.fill("20000");
      await expect
        .poll(() => row.locator(".effect").innerText())
        .toBe("Nobody in the group waits.");
      await field.press("Enter");
      await page.locator(".toast").waitFor({ timeout: ACTS_WITHIN_MS });
      expect(await page.locator(".toast").innerText()).toMatch(
        /Group analytics is 20,000\/s now.*It was 300\/s\./,
      );
      const level = page.locator('[data-node="g analytics"] .level');
      await expect
        .poll(() => level.innerText(), { timeout: ACTS_WITHIN_MS })
        .toContain("of 20.0k/s");
      await page.locator(".toast button").click();
      await expect.poll(() => level.innerText(), { timeout: ACTS_WITHIN_MS }).toContain("of 300/s");
      expect(errors).toEqual([]);
    });

    test("a value that is refused says what is right and changes nothing", async () => {
      const { page } = await open(`${flow.admin}/`);
      await waitForSentence(page, "topic-rate");
      const row = page.locator('[data-row][data-reason="topic-rate"]');
      await row.locator("input").fill("0");
      await row.locator("input").press("Enter");
      const refusal = row.locator(".effect.wrong");
      await refusal.waitFor();
      expect(await refusal.innerText()).toMatch(/^Refused: .*\. Nothing has changed\.$/);
      expect(await row.locator("input").inputValue()).toBe("0");
      await keepScreenshot(page, "overview-refused", false);
      await row.locator("input").press("Escape");
      expect(await row.locator("input").inputValue()).toBe("1,000");
    });

    test("an instant of the past is shown on the whole page, until Escape", async () => {
      const { page } = await open(`${flow.admin}/`);
      await waitForSentence(page, "topic-rate");
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press("ArrowLeft");
      expect(await page.locator("#waiting-title").innerText()).toMatch(
        /^Waiting at \d\d:\d\d:\d\d$/,
      );
      expect(await page.locator(".headline .side").innerText()).toMatch(/ ago\s+Back to live/);
      await keepScreenshot(page, "overview-past", false);
      await page.keyboard.press("Escape");
      expect(await page.locator("#waiting-title").innerText()).toBe("Waiting now");
    });

    test("addresses of pages can be opened, and the back button works", async () => {
      const { page } = await open(`${flow.admin}/fleet`);
      const current = page.locator('.nav [aria-current="page"]');
      expect(await current.innerText()).toBe("Fleet");
      await page.keyboard.press("1");
      expect([await current.innerText(), new URL(page.url()).pathname]).toEqual(["Overview", "/"]);
      await page.goBack();
      expect(await current.innerText()).toBe("Fleet");
    });

    test("without a connection the page says since when, stays readable, and recovers by itself", async () => {
      const { page } = await open(`${flow.admin}/`);
      await waitForSentence(page, "topic-rate");
      await flow.stop();
      const banner = page.locator(".banner");
      await banner.waitFor({ timeout: 10_000 });
      expect(await banner.innerText()).toMatch(
        /^No connection to this member since \d\d:\d\d:\d\d\. What you see is \d+ s old\. Traffic does not depend on this page\./,
      );
      expect(await page.locator(".live").innerText()).toMatch(/^No connection for \d+ s$/);
      expect(await page.locator(".headline .side").innerText()).toMatch(/^as of /);
      expect(await page.locator(".waits .hint").first().innerText()).toBe("not connected");
      expect(await seriousFindings(page)).toEqual([]);
      await keepScreenshot(page, "overview-disconnected", false);
      await banner.locator("button").click();
      await flow.start();
      await banner.waitFor({ state: "detached", timeout: 20_000 });
      await waitForSentence(page, "topic-rate");
      expect(await page.locator(".live").innerText()).toMatch(/^Live from member/);
    });
  },
);
