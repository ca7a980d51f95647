/** A page that is open for a long time: 10 minutes, or `SLUICE_PAGE_MINUTES`, at least 9. */
import { loadavg } from "node:os";
import type { CDPSession, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { chromiumPath, NEEDS_CHROMIUM, useBrowser, waitForSentence } from "./browser.ts";
import { play, record, replayScript, SAMPLE_MS } from "./replay.ts";
import { useFlow } from "./running-flow.ts";

const MINUTES = Number(process.env["SLUICE_PAGE_MINUTES"] ?? 10);
const SAMPLES_A_MINUTE = 60_000 / SAMPLE_MS;
const RECORDED = 40;
/** The history of samples is full after five minutes. */
const SETTLED_MINUTE = 6;
/** Readings at each end of the time: the least of them is compared, since a reading may hold what the browser frees later. */
const ENDS = 3;
/**
 * Bytes. Compiled code is in the heap too and grew by some 70 kB a minute at first. In ten minutes the bound finds a leak of a megabyte a
 * minute, such as charts that are kept; samples that are never dropped are about a kilobyte each, and only an hour shows them.
 */
const HEAP_ROOM_BYTES = 2_000_000;
/** A page that is kept when another is shown has about a thousand nodes. */
const NODES_ROOM = 100;
/** Real time of a run of the lab, ms: it is waited for, never judged. */
const LAB_MS = 60_000;

interface Reading {
  readonly minute: number;
  readonly heapBytes: number;
  readonly nodes: number;
  readonly listeners: number;
}

describe.skipIf(chromiumPath === undefined)(`a page that stays open${NEEDS_CHROMIUM}`, () => {
  const flow = useFlow();
  const { open } = useBrowser();

  test(
    "keeps its heap and its DOM nodes flat, however often it changes between its pages",
    { timeout: 240_000 + MINUTES * 30_000 },
    async () => {
      const { page: first } = await open(`${flow.admin}/`);
      await waitForSentence(first, "topic-rate");
      await first.context().close();
      const recording = await record(flow.admin, RECORDED);
      const { page, errors } = await open(`${flow.admin}/`, { before: replayScript(recording) });
      const session = await page.context().newCDPSession(page);
      await session.send("Performance.enable");
      const readings: Reading[] = [];
      for (let minute = 1; minute <= MINUTES; minute++) {
        await useForAMinute(page, minute);
        readings.push(await read(session, minute));
      }
      process.stdout.write(`${tableOf(readings)}\nload ${loadavg()[0]?.toFixed(1)}\n`);
      expect(errors.join("\n")).toBe("");
      const settled = readings.filter(({ minute }) => minute >= SETTLED_MINUTE);
      const grown = (pick: (one: Reading) => number): number =>
        Math.min(...settled.slice(-ENDS).map(pick)) - Math.min(...settled.slice(0, ENDS).map(pick));
      expect(grown(({ nodes }) => nodes)).toBeLessThan(NODES_ROOM);
      expect(grown(({ listeners }) => listeners)).toBeLessThan(NODES_ROOM);
      expect(grown(({ heapBytes }) => heapBytes)).toBeLessThan(HEAP_ROOM_BYTES);
    },
  );
});

/** A minute of samples on all four pages, which ends on the Overview. */
async function useForAMinute(page: Page, minute: number): Promise<void> {
  const part = SAMPLES_A_MINUTE / 6;
  const go = async (name: string): Promise<void> => {
    await page.locator("nav.nav").getByRole("link", { name }).click();
  };
  await go("Topics");
  await play(page, part);
  await page
    .locator("nav.limits a")
    .nth(minute % 3)
    .click();
  await play(page, part);
  await go("Fleet");
  await play(page, part);
  await go("Lab");
  await page
    .getByRole("tab")
    .nth(minute % 5)
    .click();
  await page.locator("table.results").waitFor({ timeout: LAB_MS });
  await play(page, part);
  await go("Overview");
  await play(page, part);
  // An instant that is pinned, and let go again.
  await page.locator(".throttle .u-over").first().click();
  await play(page, 5);
  await page.keyboard.press("Escape");
  await play(page, part - 5);
}

async function read(session: CDPSession, minute: number): Promise<Reading> {
  // The second collection frees what the finalizers of the first have let go.
  for (let time = 0; time < 2; time++) await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const { nodes, jsEventListeners } = await session.send("Memory.getDOMCounters");
  return { minute, heapBytes: usedSize, nodes, listeners: jsEventListeners };
}

function tableOf(readings: readonly Reading[]): string {
  return readings
    .map(
      ({ minute, heapBytes, nodes, listeners }) =>
        `minute ${minute}: ${(heapBytes / 1e6).toFixed(2)} MB, ${nodes} nodes, ${listeners} listeners`,
    )
    .join("\n");
}
