/** The Fleet page of several `sluice run` processes that meet in a real Redis. */
import { expect, onTestFinished, test } from "vitest";
import { NEEDS_REDIS, redisPath, RedisServer } from "../../../fleet/test/redis-server.ts";
import { ended } from "../ended.ts";
import { runFlow } from "../run-flow.ts";
import { seriousFindings } from "./axe.ts";
import { chromiumPath, keepScreenshot, NEEDS_CHROMIUM, useBrowser } from "./browser.ts";
import { tooWideAt } from "./widths.ts";

const isSkipped = chromiumPath === undefined || redisPath === undefined;
const NEEDS = NEEDS_CHROMIUM + NEEDS_REDIS;
const MAX = 300;
/** A joiner has its share after a lease and four syncs at the latest, and the machine is busy. */
const JOIN_MS = 30_000;

const flowOf = (store: string): string => `
name: shop
admin: { listen: 127.0.0.1:0 }
${store}
pipelines:
  orders:
    limits: { rateLimit: { max: ${MAX}, min: ${MAX} } }
    vertices:
      - { name: in, source: { generator: { rate: 1000/s } } }
      - { name: out, sink: { blackhole: {} } }
`;

const { open } = useBrowser();

test.skipIf(isSkipped)(
  `members agree, one joins, one is killed, and the store is lost and comes back${NEEDS}`,
  // Leases run on a real clock: a busy machine has three tries.
  { retry: 2 },
  async () => {
    const redis = await RedisServer.start();
    onTestFinished(() => redis.stop());
    const flow = flowOf(`store: { redis: { url: "${redis.url}" } }`);
    const first = await runFlow(flow);
    await runFlow(flow);
    const { page, errors } = await open(`${first.ready.admin}/fleet`);
    await page.getByText("2 members agree.").waitFor({ timeout: JOIN_MS });
    await page.getByText("AGREE", { exact: true }).waitFor();
    expect(await page.locator("table.members tbody tr:not(.gone)").count()).toBe(2);
    expect(await seriousFindings(page)).toEqual([]);
    await keepScreenshot(page, "fleet-two-agree-dark");

    const third = await runFlow(flow);
    await page.getByText("3 members agree.").waitFor({ timeout: JOIN_MS });
    await keepScreenshot(page, "fleet-three-agree-dark");

    await ended(third.child);
    await page.getByText("2 members agree.").waitFor({ timeout: JOIN_MS });
    await keepScreenshot(page, "fleet-one-killed-dark");

    // A page that comes later finds what was before it.
    await page.reload();
    await page.getByText(/^\w+ stopped, \d\d:\d\d:\d\d$/).waitFor();
    await page.locator("table.members tr.gone").waitFor();
    const uses = page.locator("table.members tbody tr:not(.gone) td.used");
    const told = await uses.allInnerTexts();
    expect(told).toHaveLength(2);
    for (const use of told) expect(use).toMatch(/^\d+ %$/);
    const { pid } = first.child;
    await page.getByText(`pid ${pid}`).waitFor();

    await redis.kill();
    await page.getByText("This member has no lease.").waitFor({ timeout: JOIN_MS });
    await page.getByText("No verdict").waitFor();
    await page.getByText("Not seen").first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await keepScreenshot(page, "fleet-store-lost-dark");

    await redis.restart();
    await page.getByText("2 members agree.").waitFor({ timeout: 2 * JOIN_MS });
    await keepScreenshot(page, "fleet-store-back-dark");
    expect(await tooWideAt(page)).toEqual([]);
    expect(errors).toEqual([]);
  },
);

test.skipIf(chromiumPath === undefined)(
  `one member without a store has the whole ceiling, and its page says so in both themes${NEEDS_CHROMIUM}`,
  async () => {
    const { ready } = await runFlow(flowOf("store: memory"));
    for (const theme of ["dark", "light"] as const) {
      const { page } = await open(`${ready.admin}/fleet`, { theme });
      await page.getByText("One member, no store.").waitFor();
      await page.getByText("exactly the ceiling").waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      expect(await tooWideAt(page)).toEqual([]);
      await page.setViewportSize({ width: 1440, height: 900 });
      await keepScreenshot(page, `fleet-alone-${theme}`);
    }
  },
);

test.skipIf(chromiumPath === undefined)(
  `a flow without a shared limit has no pool, and its page says what would make one${NEEDS_CHROMIUM}`,
  async () => {
    const { ready } = await runFlow(
      "admin: { listen: 127.0.0.1:0 }\ngateway: { listen: pulsar://127.0.0.1:0, data: memory }\n",
    );
    const { page } = await open(`${ready.admin}/fleet`);
    await page.getByText("No limit of this flow is shared.").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await keepScreenshot(page, "fleet-no-pool");
  },
);
