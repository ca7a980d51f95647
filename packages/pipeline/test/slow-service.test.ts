/** What a limited sink brings to a service that is slower or faster than the limit, in virtual time. */
import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { generator, startPipeline } from "@sluice/pipeline";
import { expect, test } from "vitest";
import { Arrivals } from "./arrivals.ts";
import type { Service } from "./arrivals.ts";
import { passing } from "./pipeline-world.ts";

const LIMIT = 100;

/** One message after the other, some at once, all at once. */
const services: readonly Service[] = [
  { width: 1, requestMs: 20 },
  { width: 1, requestMs: 11 },
  { width: 1, requestMs: 5 },
  { width: 4, requestMs: 50 },
  { width: 40, requestMs: 800 },
  { width: 500, requestMs: 150 },
  { width: 500, requestMs: 650 },
  { width: 500, requestMs: 900 },
];
const cases = services.flatMap((service) =>
  [60, 500].flatMap((readBatchSize) => [
    { ...service, readBatchSize, tellsSent: true, concurrency: 1 },
    { ...service, readBatchSize, tellsSent: false, concurrency: 1 },
    { ...service, readBatchSize, tellsSent: true, concurrency: 4 },
  ]),
);

/** Messages a second that the service takes in batches of this size, or the limit if that is less. */
function capacityOf({
  width,
  requestMs,
  readBatchSize,
  concurrency,
}: (typeof cases)[number]): number {
  const count = Math.min(readBatchSize, LIMIT);
  const batchMs = Math.ceil(count / width) * requestMs;
  return Math.min(LIMIT, (concurrency * count * 1000) / batchMs);
}

const title =
  "batches of $readBatchSize, $concurrency at once, to a service that takes $width requests of $requestMs ms each: 0.8 of what it takes or of the limit, and no second above 1.05 times the limit";

test.each(cases)(`${title} (sends told: $tellsSent)`, async (scene) => {
  const timer = new VirtualTimer();
  const arrivals = new Arrivals();
  const { readBatchSize, concurrency } = scene;
  const rateLimit = { max: LIMIT, min: LIMIT };
  const starting = startPipeline(
    {
      name: "p",
      source: { name: "in", source: generator({ values: (index) => index }) },
      maps: [],
      sink: {
        name: "out",
        sink: arrivals.sink(timer, scene, scene),
        limits: { rateLimit, readBatchSize, concurrency },
      },
    },
    { timer, random: new SeededRandom(1) },
  );
  const running = await passing(timer, starting);
  await timer.advance(4_000);
  const fromMs = timer.now();
  await timer.advance(6_000);
  const perSecond = arrivals.perSecond(fromMs, timer.now());
  expect(perSecond).toBeGreaterThanOrEqual(0.8 * capacityOf(scene));
  expect(arrivals.most).toBeLessThanOrEqual(1.05 * LIMIT);
  await passing(timer, running.stop(), 50);
});
