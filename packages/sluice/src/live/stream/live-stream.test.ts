import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { LiveHistory, SAMPLES_MAX } from "./live-history.ts";
import { LiveStream } from "./live-stream.ts";

/** A page that reads nothing until `read` is called. */
class Page extends Writable {
  text = "";
  #waiting: (() => void) | undefined;
  isReading = false;

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.text += chunk.toString();
    if (this.isReading) done();
    else this.#waiting = done;
  }

  /** Reads what waits, and everything from now on. */
  async read(): Promise<void> {
    this.isReading = true;
    for (let turn = 0; turn < 200; turn++) {
      const done = this.#waiting;
      this.#waiting = undefined;
      done?.();
      await Promise.resolve();
      await new Promise<void>((resolve) => process.nextTick(resolve));
    }
  }

  get events(): readonly string[] {
    return [...this.text.matchAll(/^event: (\w+)$/gm)].map(([, name = ""]) => name);
  }
}

function historyOf(count: number, length = 3_000): LiveHistory {
  const history = new LiveHistory();
  for (let index = 0; index < count; index++) history.push(sampleOf(index, length));
  return history;
}

function sampleOf(index: number, length: number): string {
  return JSON.stringify({ index, pad: "x".repeat(length) });
}

/** The indexes of all samples that a page has seen, in order. */
function indexesIn(page: Page): readonly number[] {
  return [...page.text.matchAll(/"index":(\d+)/g)].map(([, index]) => Number(index));
}

test("a page that reads sees the past once and in order, then every new sample", async () => {
  const history = historyOf(100);
  const page = new Page();
  const stream = new LiveStream(page, history);
  stream.open("{}", []);
  await page.read();
  history.push(sampleOf(100, 10));
  stream.sample([["topic", "{}"]]);
  await page.read();
  expect(indexesIn(page)).toEqual(Array.from({ length: 101 }, (_, index) => index));
  expect(page.events.slice(0, 2)).toEqual(["hello", "changes"]);
  expect(page.events.slice(-2)).toEqual(["sample", "topic"]);
});

test("a page that does not read holds a bounded number of bytes, and is told what it missed", async () => {
  const history = historyOf(1);
  const page = new Page();
  page.isReading = true;
  const stream = new LiveStream(page, history);
  stream.open("{}", []);
  await page.read();
  page.isReading = false;
  for (let index = 1; index <= 400; index++) {
    history.push(sampleOf(index, 3_000));
    stream.sample([]);
    stream.change(`{"change":${index}}`);
  }
  expect(page.writableLength).toBeLessThan(200_000);
  await page.read();
  history.push(sampleOf(401, 10));
  stream.sample([]);
  await page.read();
  expect(page.events).toContain("missed");
  const [, missed = "{}"] = /event: missed\ndata: (.*)/.exec(page.text) ?? [];
  const seen = indexesIn(page).filter((index) => index > 0).length;
  expect(JSON.parse(missed)).toMatchObject({ samples: 401 - seen });
  expect(page.events.filter((name) => name === "change").length).toBeLessThan(400);
});

test("the history keeps five minutes, and less of samples that are large", () => {
  expect(historyOf(700, 10).slice(0, 1_000).samples).toHaveLength(SAMPLES_MAX);
  const large = historyOf(100, 1_000_000);
  expect(large.characters).toBeLessThanOrEqual(16_000_000);
  expect(large.slice(0, 1_000).samples.length).toBeGreaterThan(10);
});

test("the past of the pool that a page looks at comes before the samples, in order and as fast as it reads", async () => {
  const page = new Page();
  const looks = Array.from({ length: 300 }, (_, index) => sampleOf(index, 1_000));
  new LiveStream(page, new LiveHistory()).open("{}", [], looks);
  expect(page.writableLength).toBeLessThan(256 * 1024);
  await page.read();
  expect(indexesIn(page)).toEqual(looks.map((_, index) => index));
  expect(new Set(page.events)).toEqual(new Set(["hello", "changes", "poolPast"]));
});
