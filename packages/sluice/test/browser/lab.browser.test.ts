/** The lab beside a flow that really runs: its traffic, links, files, and B put into force. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { chromiumPath, NEEDS_CHROMIUM, useBrowser } from "./browser.ts";
import { useFlow } from "./running-flow.ts";

/** A run takes milliseconds; the machine may be busy. */
const RUN_MS = 30_000;

describe.skipIf(chromiumPath === undefined)(`the lab${NEEDS_CHROMIUM}`, () => {
  const flow = useFlow();
  const { open } = useBrowser();

  test("takes the traffic of the running flow, and shows A and B side by side or in one chart", async () => {
    const { page, errors } = await open(`${flow.admin}/lab`);
    await hasRun(page);
    const live = page.getByRole("button", { name: "last 5 min" });
    await expect.poll(() => live.isEnabled(), { timeout: RUN_MS }).toBe(true);
    await live.click();
    await page.getByText("on the traffic of the last 5 minutes").waitFor({ timeout: RUN_MS });
    await page.getByRole("button", { name: "Side by side" }).click();
    expect(await page.locator(".charts.side .plot").count()).toBe(2);
    await page.getByRole("button", { name: "Overlaid" }).click();
    expect(await page.locator(".plot").count()).toBe(1);
    expect(errors).toEqual([]);
  });

  test("a scenario that cannot be read is refused with its line, and the last good run stays", async () => {
    const { page } = await open(`${flow.admin}/lab`);
    await hasRun(page);
    const before = await figures(page);
    await page.getByRole("button", { name: "Edit or paste" }).click();
    await page.getByRole("textbox", { name: "Scenario for B" }).fill("kind: ramp\ntitle: [1, 2\n");
    await page.getByRole("button", { name: "Use as B" }).click();
    const said = await page.locator(".lab-problem").innerText();
    expect(said).toMatch(/^Line \d+:/);
    expect(said).toContain("The last good run stays.");
    expect(await figures(page)).toBe(before);
  });

  test("a link opened in another page gives the same result; a hostile one is refused and nothing hangs", async () => {
    const { page } = await open(`${flow.admin}/lab`);
    await page.locator("#lab-tab-busy").click();
    await hasRun(page);
    const link = await page.locator(".lab-link span").innerText();
    const { page: other } = await open(link);
    await expect.poll(() => figures(other), { timeout: RUN_MS }).toBe(await figures(page));
    expect(await other.locator("#lab-tab-busy").getAttribute("aria-selected")).toBe("true");

    const { page: hostile, errors } = await open(`${flow.admin}/lab#lab1.${"A".repeat(20_000)}`);
    await hostile.getByText("the link is not one of this page").waitFor();
    await hasRun(hostile);
    expect(errors).toEqual([]);
  });

  test("B changes the limit of the running flow once it is confirmed, and Undo takes it back", async () => {
    const { page } = await open(`${flow.admin}/lab`);
    await hasRun(page);
    const max = async (): Promise<string | undefined> => {
      const answer = await fetch(`${flow.admin}/api/limits/vertex/payments/in`);
      return /"max":\s*(\d+)/.exec(await answer.text())?.[1];
    };
    expect(await max()).toBe("200");
    await page.getByRole("button", { name: "Use B for payments / in" }).click();
    expect(await max()).toBe("200");
    await page.getByRole("button", { name: "Set it" }).click();
    await expect.poll(max, { timeout: RUN_MS }).toBe("1000");
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(max, { timeout: RUN_MS }).toBe("200");
  });
});

/** Waits until the shown results are of the shown tab. */
async function hasRun(page: Page): Promise<void> {
  await page.locator("table.results").waitFor({ timeout: RUN_MS });
}

async function figures(page: Page): Promise<string> {
  const table = page.locator("table.results");
  return (await table.count()) === 0 ? "" : await table.innerText();
}
