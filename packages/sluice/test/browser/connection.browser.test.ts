/** What a page says and keeps while its server is slow, gone, or refuses its token. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  chromiumPath,
  keepScreenshot,
  NEEDS_CHROMIUM,
  useBrowser,
  waitForSentence,
} from "./browser.ts";
import { passOn } from "./pass-on.ts";
import { useFlow } from "./running-flow.ts";

/** A change must act on what the page shows within this time. */
const ACTS_WITHIN_MS = 2_000;

describe.skipIf(chromiumPath === undefined)(`the connection of a page${NEEDS_CHROMIUM}`, () => {
  const flow = useFlow();
  const { open } = useBrowser();

  test("a slow server leaves grey bars and no made-up number", async () => {
    const proxy = await slowProxy(() => flow.admin);
    const { page } = await open(proxy.url);
    await page.locator("h1 .skeleton").waitFor();
    expect(await page.locator(".live").innerText()).toBe("Connecting");
    expect(await page.locator(".waits.loading").count()).toBe(1);
    expect(await page.locator("main").innerText()).not.toMatch(/\d\/s|Nothing waits/);
    await keepScreenshot(page, "overview-loading", false);
    proxy.release();
    await waitForSentence(page, "topic-rate");
    expect(await page.locator(".live").innerText()).toMatch(/^Live from member/);
  });

  test("what was typed survives a lost connection, the next process, and a refused token", async () => {
    const { page } = await open(`${flow.admin}/`);
    await waitForSentence(page, "topic-rate");
    const field = page.locator('[data-row][data-reason="topic-rate"] input');
    await field.fill("1,234");
    await flow.stop();
    const lostAtMs = performance.now();
    const banner = page.locator(".banner");
    await banner.waitFor({ timeout: 15_000 });
    expect(performance.now() - lostAtMs).toBeGreaterThan(1_500);
    expect(await field.inputValue()).toBe("1,234");
    await flow.start();
    await banner.getByRole("button", { name: "Try now" }).click();
    await banner.waitFor({ state: "detached", timeout: 15_000 });
    await waitForSentence(page, "topic-rate");
    expect(await field.inputValue()).toBe("1,234");

    // From now on the member wants a token, as after an operator has set one.
    await page.route("**/api/limits/**", (route) =>
      route.fulfill({ status: 401, json: { reason: "the bearer token is not valid" } }),
    );
    await field.press("Enter");
    await expect.poll(() => banner.innerText()).toMatch(/^Read only\./);
    expect(await field.inputValue()).toBe("1,234");
    expect(await page.locator(".live").innerText()).toMatch(/^Live from member/);
  });

  test("the line of a topic's chart, moved by keys and applied, acts within 2 s and is undone", async () => {
    const { page, errors } = await open(`${flow.admin}/topics/public/default/orders`);
    const line = page.getByRole("slider", { name: /^Limit of / }).first();
    await line.waitFor();
    const before = Number(await line.getAttribute("aria-valuenow"));
    await line.focus();
    await page.keyboard.press("PageUp");
    const wanted = Number(await line.getAttribute("aria-valuenow"));
    expect(wanted).toBeGreaterThan(before);
    await expect
      .poll(() => page.locator(".effects h3").innerText())
      .toMatch(new RegExp(`What ${wanted.toLocaleString("en-US")}/s would do`, "i"));
    await keepScreenshot(page, "topics-dirty", false);
    await page.getByRole("button", { name: /^Apply/ }).click();
    await page.locator(".toast").waitFor({ timeout: ACTS_WITHIN_MS });
    const limit = async (): Promise<number> => {
      const answer = await fetch(`${flow.admin}/api/limits/topic/public%2Fdefault%2Forders`);
      const { messages } = (await answer.json()) as { readonly messages: number };
      return messages;
    };
    expect(await limit()).toBe(wanted);
    await expect
      .poll(() => page.locator("h1").innerText(), { timeout: ACTS_WITHIN_MS })
      .toContain(`${wanted.toLocaleString("en-US")}/s`);
    await keepScreenshot(page, "topics-applied", false);
    await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await expect.poll(limit, { timeout: ACTS_WITHIN_MS }).toBe(before);
    expect(errors).toEqual([]);
  });
});

/** Passes all on to the flow, but the stream only after `release`. */
async function slowProxy(
  admin: () => string,
): Promise<{ readonly url: string; readonly release: () => void }> {
  const release = new AbortController();
  const released = once(release.signal, "abort");
  const server = createServer((asked, answer) => {
    if (asked.url?.startsWith("/api/live") !== true) passOn(admin(), asked, answer);
    else void released.then(() => passOn(admin(), asked, answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    release: () => release.abort(),
  };
}
