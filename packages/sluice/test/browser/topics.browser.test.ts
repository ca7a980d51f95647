/** The Topics page of a running gateway with real producers, in a real browser. */
import { systemTimer } from "@sluice/core/system";
import { connect } from "@sluice/pulsar";
import type { Producer } from "@sluice/pulsar";
import { expect, onTestFinished, test } from "vitest";
import { runFlow, until } from "../run-flow.ts";
import type { Run } from "../run-flow.ts";
import { seriousFindings } from "./axe.ts";
import { chromiumPath, keepScreenshot, NEEDS_CHROMIUM, useBrowser } from "./browser.ts";
import { tooWideAt } from "./widths.ts";

const LIMIT = 200;
const FLOW = `
name: shop
admin: { listen: 127.0.0.1:0 }
gateway:
  listen: pulsar://127.0.0.1:0
  data: memory
  limits:
    broker: { messages: 50000/s }
    groups: { analytics: { topics: ["public/analytics"], messages: 300/s } }
    topics:
      "public/default/orders": { messages: ${LIMIT}/s, bytes: 10MB/s }
`;
const ORDERS = "/topics/public/default/orders";

const { open } = useBrowser();

/** Sends again and again until the end of the test, `inFlight` messages at a time; answers how many were stored. */
function keepSending(producer: Producer, inFlight: number, pauseMs = 0): () => number {
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  let stored = 0;
  const send = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await producer.send({ data: Buffer.from("x".repeat(100)) });
      stored++;
      if (pauseMs > 0) await systemTimer.sleep(pauseMs);
    }
  };
  for (let i = 0; i < inFlight; i++) void send().catch(() => undefined);
  return () => stored;
}

/** Two producers that ask for more than the limit, and one that asks for little; answers what the two have stored. */
async function traffic({ ready }: Run): Promise<() => number> {
  const client = await connect(ready.gateway ?? "");
  onTestFinished(() => client.close());
  const producer = async (name: string): Promise<Producer> =>
    await client.createProducer({ topic: "orders", name, batching: false });
  const bulk = keepSending(await producer("bulk-import"), 400);
  const feed = keepSending(await producer("partner-feed"), 100);
  keepSending(await producer("checkout"), 1, 50);
  return () => bulk() + feed();
}

/** Messages a second that are stored in the next two seconds. */
async function rateOf(count: () => number): Promise<number> {
  const [before, fromMs] = [count(), systemTimer.now()];
  await systemTimer.sleep(2_000);
  return ((count() - before) * 1_000) / (systemTimer.now() - fromMs);
}

test.skipIf(chromiumPath === undefined)(
  `the line of a limit is moved by keys, applied, acts within two seconds and is undone${NEEDS_CHROMIUM}`,
  // Rates are judged by a real clock: a busy machine has three tries.
  { retry: 2 },
  async () => {
    const run = await runFlow(FLOW);
    const count = await traffic(run);
    const { page, errors } = await open(run.ready.admin + ORDERS);
    await page.getByText(`at its limit of ${LIMIT}/s`).waitFor();
    await page.locator("table.producers").getByText("bulk-import").waitFor();
    await keepScreenshot(page, "topic-limited-dark");
    expect(await rateOf(count)).toBeLessThan(LIMIT * 1.3);

    const line = page.getByRole("slider", { name: "Limit of orders" });
    const step = async (): Promise<number> => Number(await line.getAttribute("aria-valuenow"));
    await line.focus();
    await page.keyboard.press("ArrowUp");
    const byArrow = (await step()) - LIMIT;
    await page.keyboard.press("PageUp");
    const wanted = await step();
    expect(wanted).toBe(LIMIT + byArrow + 10 * byArrow);
    await page.getByText(`What ${wanted}/s would do`).waitFor();
    await page.getByText(`messages: ${wanted}/s`).waitFor();
    await keepScreenshot(page, "topic-tried-dark");

    await page.getByRole("button", { name: "Apply", exact: true }).click();
    const appliedAtMs = systemTimer.now();
    await page.locator(".limits").getByText(`/ ${wanted}`).first().waitFor({ timeout: 2_000 });
    expect(systemTimer.now() - appliedAtMs).toBeLessThan(2_000);
    expect(await rateOf(count)).toBeGreaterThan(LIMIT * 1.2);
    await keepScreenshot(page, "topic-applied-dark");

    await page.getByRole("button", { name: "Undo" }).click();
    await page.locator(".limits").getByText(`/ ${LIMIT}`).first().waitFor({ timeout: 2_000 });
    const limits = await fetch(`${run.ready.admin}/api/limits/topic/public%2Fdefault%2Forders`);
    expect(await limits.json()).toMatchObject({ messages: LIMIT, source: "flow file" });
    expect(errors).toEqual([]);
  },
);

test.skipIf(chromiumPath === undefined)(
  `the page of a limit has no serious fault for screen readers, in both themes, and never scrolls sideways${NEEDS_CHROMIUM}`,
  async () => {
    const run = await runFlow(FLOW);
    await traffic(run);
    for (const theme of ["dark", "light"] as const) {
      const { page, errors } = await open(run.ready.admin + ORDERS, { theme });
      await page.locator("table.producers").getByText("bulk-import").waitFor();
      await page.waitForTimeout(1_500);
      expect(await seriousFindings(page)).toEqual([]);
      expect(await tooWideAt(page)).toEqual([]);
      await page.setViewportSize({ width: 390, height: 800 });
      await page.waitForTimeout(300);
      await keepScreenshot(page, `topic-390-${theme}`);
      expect(errors).toEqual([]);
    }
  },
);

test.skipIf(chromiumPath === undefined)(
  `what was typed stays in its field while numbers change, and a refusal changes nothing${NEEDS_CHROMIUM}`,
  async () => {
    const run = await runFlow(FLOW);
    await traffic(run);
    const { page } = await open(run.ready.admin + ORDERS);
    const field = page.getByRole("spinbutton", { name: "Messages" });
    await field.fill("333");
    await page.waitForTimeout(2_500);
    expect(await field.inputValue()).toBe("333");
    await page.route("**/api/limits/**", (route) =>
      route.fulfill({ status: 400, json: { reason: "messages is 333; expected another" } }),
    );
    await page.getByRole("button", { name: "Apply", exact: true }).click();
    await page
      .getByText("Refused: messages is 333; expected another. Nothing has changed.")
      .waitFor();
    expect(await field.inputValue()).toBe("333");
    await keepScreenshot(page, "topic-refused");
    await page.getByRole("button", { name: "Discard" }).click();
    expect(await field.inputValue()).toBe(String(LIMIT));
  },
);

test.skipIf(chromiumPath === undefined)(
  `a topic without a limit, one that is not there, a group, the gateway and held frames have their pages${NEEDS_CHROMIUM}`,
  async () => {
    const run = await runFlow(FLOW);
    await traffic(run);
    const client = await connect(run.ready.gateway ?? "");
    onTestFinished(() => client.close());
    const audit = await client.createProducer({ topic: "audit", name: "audit-log" });
    await audit.send({ data: Buffer.from("x") });
    const { page } = await open(`${run.ready.admin}/topics/public/default/audit`);
    await page.getByRole("heading", { level: 1, name: /audit has no limit of its own/ }).waitFor();
    await keepScreenshot(page, "topic-without-limit");
    for (const [path, says] of [
      ["public/default/nothing", /No topic is called public\/default\/nothing here/],
      ["group/analytics", /Group analytics takes/],
      ["broker", /The gateway (takes|has)/],
      ["held", /Held frames fill/],
    ] as const) {
      await page.goto(`${run.ready.admin}/topics/${path}`);
      await page.getByRole("heading", { level: 1, name: says }).waitFor();
      await page.waitForTimeout(300);
      expect(await seriousFindings(page)).toEqual([]);
      await keepScreenshot(page, `topic-${path.replaceAll("/", "-")}`);
    }
  },
);

test.skipIf(chromiumPath === undefined)(
  `a gateway that ends leaves the page with what it knew, and one without a token lets nobody change${NEEDS_CHROMIUM}`,
  async () => {
    const locked = FLOW.replace(
      "admin: { listen: 127.0.0.1:0 }",
      "admin: { listen: 127.0.0.1:0, tokenFile: ./token, readWithoutToken: true }",
    );
    const run = await runFlow(locked, { token: "a-token-for-tests" });
    await traffic(run);
    const { page } = await open(run.ready.admin + ORDERS, { theme: "light" });
    await page.getByText("give a token to apply it").waitFor();
    await page.getByRole("spinbutton", { name: "Messages" }).fill("400");
    await page.getByText("What 400/s would do").waitFor();
    expect(await page.getByRole("button", { name: "Apply", exact: true }).isDisabled()).toBe(true);
    await keepScreenshot(page, "topic-read-only-light");
    run.child.kill("SIGKILL");
    await page.getByText("No connection to this member since").waitFor();
    await page.locator(".topic-page.stale").waitFor();
    await keepScreenshot(page, "topic-disconnected-light");
    await until(
      async () => (await page.locator("table.producers tbody tr").count()) > 0,
      () => "the rows are kept",
    );
  },
);
