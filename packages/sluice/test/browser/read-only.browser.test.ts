import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { seriousFindings } from "./axe.ts";
import {
  chromiumPath,
  keepScreenshot,
  NEEDS_CHROMIUM,
  useBrowser,
  waitForSentence,
} from "./browser.ts";
import { useFlow } from "./running-flow.ts";

const TOKEN = "a-token-of-the-administration-0123456789";
const tokenFile = join(mkdtempSync(join(tmpdir(), "sluice-page-")), "admin.token");
writeFileSync(tokenFile, `${TOKEN}\n`, { mode: 0o600 });

describe.skipIf(chromiumPath === undefined)(`a page without a token${NEEDS_CHROMIUM}`, () => {
  const flow = useFlow((text) =>
    text.replace(
      "admin: { listen: 127.0.0.1:7070 }",
      `admin: { listen: 127.0.0.1:7070, tokenFile: ${JSON.stringify(tokenFile)}, readWithoutToken: true }`,
    ),
  );
  const { open } = useBrowser();

  test("shows all, changes nothing, and may change limits once the token is given in place", async () => {
    const { page } = await open(`${flow.admin}/`, { theme: "light" });
    await waitForSentence(page, "topic-rate");
    const row = page.locator('[data-row][data-reason="topic-rate"]');
    expect(await page.locator(".banner").innerText()).toMatch(
      /^Read only\. The token is in the file/,
    );
    expect(await row.locator(".hint").innerText()).toBe("give a token to change it");
    expect(await row.locator("input").isEditable()).toBe(false);
    expect(await seriousFindings(page)).toEqual([]);
    await keepScreenshot(page, "overview-read-only", false);

    await page.locator("#token").fill("not the token of this member");
    await page.keyboard.press("Enter");
    await page.locator(".banner .wrong").waitFor();
    await page.locator("#token").fill(TOKEN);
    await page.keyboard.press("Enter");
    await page.locator(".banner").waitFor({ state: "detached" });
    await row.locator("input").fill("1,200");
    await row.locator("input").press("Enter");
    await page.locator(".toast").waitFor();
    expect(
      await page.evaluate("JSON.stringify([{ ...localStorage }, document.cookie])"),
    ).not.toContain(TOKEN);
  });
});
