/** Flows of every shape: with and without a gateway or pipelines, idle, failing, hanging, and with many producers. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { NEEDS_REDIS, redisPath, RedisServer } from "../../../fleet/test/redis-server.ts";
import { flood, HANGING, pipeline, storeStage } from "../stages/reason-stages.ts";
import { runFlow } from "../run-flow.ts";
import { seriousFindings } from "./axe.ts";
import {
  chromiumPath,
  isTooWide,
  keepScreenshot,
  NEEDS_CHROMIUM,
  useBrowser,
  waitForSentence,
} from "./browser.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const ADMIN = "admin: { listen: 127.0.0.1:0 }\n";
const GATEWAY = "gateway:\n  listen: pulsar://127.0.0.1:0\n  data: memory\n";

const PRODUCERS = 60;
/** Sixty producers of one topic, each with two messages a second. */
const MANY = `
import { connect } from "@sluice/pulsar";
const [url] = process.argv.slice(1);
const client = await connect(url, { throttle: false });
const producers = await Promise.all(Array.from({ length: ${PRODUCERS} }, (_, index) =>
  client.createProducer({ topic: "orders", name: "producer-" + index, batching: false })));
setInterval(() => {
  for (const producer of producers) producer.send({ data: Buffer.alloc(10) }).catch(() => {});
}, 500);
`;

async function headline(page: Page): Promise<string> {
  return (await page.locator("h1").innerText()).replaceAll(/\s+/g, " ");
}

async function isWhole(page: Page, errors: readonly string[], name: string): Promise<void> {
  await keepScreenshot(page, name);
  expect(await isTooWide(page)).toBe(false);
  expect(await seriousFindings(page)).toEqual([]);
  expect(await page.locator("body").innerText()).not.toMatch(/NaN|undefined|Infinity|\[object/);
  expect(errors).toEqual([]);
}

describe.skipIf(chromiumPath === undefined)(`the page of a flow${NEEDS_CHROMIUM}`, () => {
  const { open } = useBrowser();
  const openFlow = async (
    flow: string,
    files: Readonly<Record<string, string>> = {},
  ): Promise<Awaited<ReturnType<typeof open>> & { readonly gateway: string }> => {
    const { ready } = await runFlow(ADMIN + flow, files);
    const opened = await open(`${ready.admin}/`);
    await opened.page.locator("h1 .skeleton").waitFor({ state: "detached" });
    return { ...opened, gateway: ready.gateway ?? "" };
  };

  test("with a gateway alone and no traffic says that nothing waits, on every page", async () => {
    const { page, errors } = await openFlow(GATEWAY);
    expect(await headline(page)).toMatch(/^0\/s come in\. Nothing waits\.$/);
    expect(await page.locator(".waits .none").innerText()).toMatch(/^Nothing waits/);
    await isWhole(page, errors, "shape-empty");
    for (const [key, what] of [
      ["2", "topics"],
      ["3", "fleet"],
    ] as const) {
      await page.keyboard.press(key);
      await page.locator("h1 .skeleton").waitFor({ state: "detached" });
      await isWhole(page, errors, `shape-empty-${what}`);
    }
  });

  test("without a gateway shows several pipelines, and the page of topics says why it is empty", async () => {
    const two = pipeline("{ blackhole: {} }", "\n    limits: { rateLimit: { max: 40, min: 40 } }");
    const { page, errors } = await openFlow(
      `${two}${two.replace("pipelines:\n", "").replaceAll("orders", "refunds")}`,
    );
    // Both vertices have the pipeline's limit, so either of them may be the one that waits.
    await waitForSentence(page, "fleet-share", { like: /(in waits to read|out waits to take)/ });
    const path = await page.locator(".path").first().innerText();
    expect([path.includes("orders"), path.includes("refunds")]).toEqual([true, true]);
    expect(await headline(page)).toMatch(/\/s are read, .*\/s leave the pipelines/);
    await isWhole(page, errors, "shape-pipelines");
    await page.keyboard.press("2");
    expect(await headline(page)).toMatch(/no gateway/i);
    await isWhole(page, errors, "shape-pipelines-topics");
  });

  test("with a pipeline that does not start says its error and when it starts again", async () => {
    const { page, errors } = await openFlow(
      pipeline("{ blackhole: {} }").replace(
        "{ name: in, source: { generator: {} } }",
        "{ name: in, source: { pulsar: { topic: orders, subscription: s, url: pulsar://127.0.0.1:1 } } }",
      ),
    );
    const row = page.locator('[data-row][data-reason="failed"]');
    await row.waitFor();
    await expect.poll(() => row.innerText()).toMatch(/Pipeline orders does not run\./);
    expect(await row.innerText()).toMatch(/next start in/);
    expect(await row.innerText()).toMatch(/Sluice starts it again by itself\./);
    expect(await headline(page)).toMatch(/Pipeline orders does not run: /);
    await isWhole(page, errors, "shape-failed");
  });

  test("with a map that hangs says what it works on and when the call is given up", async () => {
    const { page, errors } = await openFlow(HANGING.flow, HANGING.files);
    const row = page.locator('[data-row][data-reason="working"]');
    await row.waitFor();
    const text = (await row.innerText()).replaceAll(/\s+/g, " ");
    expect(text).toMatch(/enrich works on a batch of \d+ messages\. Its map has not answered\./);
    expect(text).toMatch(/the call is given up in \d+/);
    expect(text).toMatch(/map\.timeout/);
    await isWhole(page, errors, "shape-hanging");
  });

  test("calm again says when the last wait ended and what it was", async () => {
    const { page, errors, gateway } = await openFlow(
      `${GATEWAY}  limits: { topics: { orders: { messages: 100/s } } }`,
    );
    flood(gateway, { topic: "orders", bytes: 10, clients: 2 });
    await waitForSentence(page, "topic-rate");
    const none = page.locator(".waits .none");
    await none.waitFor({ timeout: 30_000 });
    expect((await none.innerText()).replaceAll(/\s+/g, " ")).toMatch(
      /^Nothing waits ?The last wait ended at \d\d:\d\d:\d\d: bulk-\d.*, topic-rate\.$/,
    );
    await isWhole(page, errors, "shape-calm");
  });

  test("with sixty producers shows the heaviest and counts the others", async () => {
    const { page, errors, gateway } = await openFlow(
      `${GATEWAY}  limits: { topics: { orders: { messages: 30/s } } }`,
    );
    const child = spawn(process.execPath, ["--input-type=module", "-e", MANY, gateway], {
      cwd: here,
      stdio: "inherit",
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    await waitForSentence(page, "topic-rate", { like: /producer-\d+.* and \d+ others wait/ });
    await expect.poll(() => page.locator(".path").first().innerText()).toMatch(/\d\d others/);
    await isWhole(page, errors, "shape-many");
    await page.keyboard.press("2");
    await page.locator("h1 .skeleton").waitFor({ state: "detached" });
    await isWhole(page, errors, "shape-many-topic");
  });

  test.skipIf(redisPath === undefined)(
    `whose store is lost says so in red, and recovers when it is back${NEEDS_REDIS}`,
    async () => {
      const redis = await RedisServer.start();
      onTestFinished(() => redis.stop());
      const { page, errors } = await openFlow(storeStage(redis.url).flow);
      await waitForSentence(page, "fleet-share");
      await redis.kill();
      await waitForSentence(page, "store-lost", { like: /runs on its safe share of 25\/s/ });
      expect(await headline(page)).toMatch(
        /The store is lost, so this member keeps to its safe share of 25\/s/,
      );
      expect(await page.locator("[data-row]").first().getAttribute("data-reason")).toBe(
        "store-lost",
      );
      await isWhole(page, errors, "shape-store-lost");
      await page.keyboard.press("3");
      await page.locator("h1 .skeleton").waitFor({ state: "detached" });
      expect(await headline(page)).toMatch(/^This member has no lease\. The store has been silent/);
      await isWhole(page, errors, "shape-store-lost-fleet");
      await page.keyboard.press("1");
      await redis.restart();
      await page
        .locator('[data-row][data-reason="store-lost"]')
        .first()
        .waitFor({ state: "detached", timeout: 30_000 });
      await waitForSentence(page, "fleet-share");
    },
  );
});
