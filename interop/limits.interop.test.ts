/** Clients of all makers against publish limits: with the embedded broker, and before Pulsar's own. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ATTEMPTS, bestOf, betterOf, isPassing, isWithin, verdictOf } from "./cases/attempts.ts";
import type { Bounds, Verdict } from "./cases/attempts.ts";
import { FLEX, GO, JAVA, PYTHON, SLUICE } from "./drivers/clients.ts";
import type { Driver, Run } from "./drivers/driver.ts";
import { rateBetween } from "./drivers/flood.ts";
import type { FloodedFlow, FloodOutcome } from "./drivers/flood.ts";
import { startEmbeddedSite, startRelaySite } from "./servers/limited-site.ts";
import type { LimitedSite } from "./servers/limited-site.ts";
import { realMissing } from "./servers/our-broker.ts";
import { runPulsarPerf } from "./drivers/pulsar-perf.ts";
import { SiteWatch } from "./servers/site-watch.ts";
import { all, consume } from "./cases/stage.ts";

const LIMIT = 500;
const SIZE_BYTES = 200;
/** The bucket is full at the start: with the first second that makes twice the limit. */
const FIRST = 2 * LIMIT;
const MEASURED = 5 * LIMIT;
const DURATION_MS = 6_500;

/**
 * With batches, which the runs with TLS have, all messages of a batch have one receipt: a batch more or less
 * falls into the measured 5 s. A window of 50 messages bounds a batch.
 */
const BATCH_MAX = 50;
const BATCH_SLACK = BATCH_MAX / MEASURED;

/** One batch ÷ all that the bucket and the rate bring in the whole run. */
const BATCH_PART = BATCH_MAX / (LIMIT * (1 + DURATION_MS / 1_000));

/** Parts of the limit that five seconds may have. */
const GOAL: Bounds = { min: 0.98, max: 1.02 };

/**
 * On a machine that others use, a client sees receipts in bunches, and may not keep its window full: with six
 * to ten runnable threads per core, the best of three attempts was 0.90 to 1.11. A gateway that counts
 * messages twice, or a batch as one, forgets the limit, or holds a topic for good, is far outside.
 */
const WIDER_GOAL: Bounds = { min: 0.75, max: 1.25 };

/**
 * The upper bound on any machine, however late receipts come: from its first send to its last receipt a
 * client has no more than the full bucket and the rate.
 */
const TOTAL_MAX = 1.05;

const PERF_SECONDS = 6;
/** What pulsar-perf has sent by its own count ÷ the bucket and the rate while messages waited. */
const PERF_GOAL: Bounds = { min: 0.95, max: 1.05 };
const PERF_WIDER_GOAL: Bounds = { min: 0.85, max: 1.15 };

const missing = await realMissing();

const SITES = [
  { name: "the embedded broker", missing: undefined, start: startEmbeddedSite },
  { name: "Pulsar's own broker", missing, start: startRelaySite },
];

interface Limited {
  readonly driver: Driver;
  readonly topic: string;
  readonly isTls: boolean;
}

/** The one that takes longest to start is first. */
const DRIVERS = [JAVA, PYTHON, GO, FLEX, SLUICE].filter((driver) => driver.missing === undefined);

let topics = 0;

for (const { name, missing: lacking, start } of SITES)
  describe.skipIf(lacking !== undefined)(`through the gateway with limits to ${name}`, () => {
    let site: LimitedSite;
    beforeAll(async () => {
      site = await start();
    });
    afterAll(() => site.close());

    for (const isTls of [false, true])
      test(`clients with a token${isTls ? " and TLS" : ""} publish at their limit, lose nothing and keep their order`, async () => {
        let left = DRIVERS.filter(({ lacks }) => !isTls || lacks.tls === undefined);
        const best = new Map<string, Verdict>(left.map(({ name: client }) => [client, "missed"]));
        for (let attempt = 0; attempt < ATTEMPTS && left.length > 0; attempt++) {
          const flows = await flood(site, limitedOf(left, isTls));
          const parts = flows.map((flow) => partOfLimit(flow));
          process.stdout.write(`\n${reportOf(name, left, parts)}\n`);
          for (const [place, part] of parts.entries()) {
            const client = left[place]?.name ?? "";
            const reached = verdictOfPart(part, isTls);
            best.set(client, betterOf(best.get(client) ?? "missed", reached));
          }
          left = left.filter((driver) => !isPassing(best.get(driver.name) ?? "missed"));
        }
        expect.soft([...best].filter(([, verdict]) => !isPassing(verdict))).toEqual([]);
        expect(site.troubles).toEqual([]);
      });

    test.skipIf(missing !== undefined)(
      "pulsar-perf of Pulsar's own distribution publishes at the limit",
      async () => {
        const verdict = await bestOf(async () => {
          const topic = topicOf("perf");
          site.limit(topic, LIMIT);
          const watch = new SiteWatch(site);
          const { url: serviceUrl, token } = site;
          const load = { ratePerSecond: 10 * LIMIT, durationSeconds: PERF_SECONDS };
          const records = await runPulsarPerf({ serviceUrl, token, topic, ...load });
          const { heldMs } = watch.stop();
          // The bucket, which was full, and the rate while messages waited.
          const expected = LIMIT * (1 + heldMs / 1_000);
          process.stdout.write(
            `\npulsar-perf to ${name}: ${records} of ${expected.toFixed()} messages\n`,
          );
          const part = records / expected;
          return verdictOf(isWithin(part, PERF_GOAL), isWithin(part, PERF_WIDER_GOAL));
        });
        expect(verdict).toSatisfy(isPassing);
        expect(site.troubles).toEqual([]);
      },
    );
  });

function limitedOf(drivers: readonly Driver[], isTls: boolean): readonly Limited[] {
  return drivers.map((driver) => ({ driver, isTls, topic: topicOf(driver.name) }));
}

/** With batches the bounds are wider by the batch that may or may not fall into the five seconds. */
function verdictOfPart(part: number, isTls: boolean): Verdict {
  const slack = isTls ? BATCH_SLACK : 0;
  const [isMet, isNear] = [GOAL, WIDER_GOAL].map(({ min, max }) =>
    isWithin(part, { min: min - slack, max: max + slack }),
  );
  return verdictOf(isMet === true, isNear === true);
}

/**
 * All clients at the same time, each with a topic and a limit of its own. Whatever else the machine does,
 * nothing is lost, sent twice or out of order, and no connection waits.
 */
async function flood(
  site: LimitedSite,
  limited: readonly Limited[],
): Promise<readonly FloodedFlow[]> {
  // Without a subscription a broker may forget what it has stored.
  for (const { topic } of limited) await contentOf(site, topic, 0);
  const runs: Run<FloodOutcome>[] = [];
  for (const { driver, topic, isTls } of limited) {
    site.limit(topic, LIMIT);
    const run = driver.flood(isTls ? site.tlsUrl : site.url, {
      flows: [
        { topic, sizeBytes: SIZE_BYTES, batching: isTls, maxPending: isTls ? BATCH_MAX : LIMIT },
      ],
      durationMs: DURATION_MS,
      token: site.token,
      ...(isTls && { caFile: site.caFile }),
    });
    runs.push(run);
    // What a client's start costs shall not fall into the five seconds of another.
    await run.ready;
  }
  const watch = new SiteWatch(site);
  const outcomes = await Promise.all(runs.map(({ outcome }) => outcome));
  const { pausedMs } = watch.stop();
  expect.soft(pausedMs).toEqual({});
  const flows = outcomes.map(({ flows: [flow] }) => flow as FloodedFlow);
  for (const [place, { driver, topic, isTls }] of limited.entries()) {
    const { sent, failed, error } = flows[place] as FloodedFlow;
    expect.soft({ failed, error }, driver.name).toEqual({ failed: 0, error: "" });
    // The last batch may go into debt.
    const most = TOTAL_MAX + (isTls ? BATCH_PART : 0);
    expect.soft(partOfMost(flows[place] as FloodedFlow), driver.name).toBeLessThan(most);
    expect
      .soft(await contentOf(site, topic, sent), driver.name)
      .toMatchObject(all(sent, { sizeBytes: SIZE_BYTES }));
  }
  return flows;
}

/** Messages of five seconds ÷ what the limit allows in them. */
function partOfLimit(flow: FloodedFlow): number {
  return rateBetween(flow, FIRST, FIRST + MEASURED) / LIMIT;
}

/** What was published, as a part of the most that the limit allows for its time. */
function partOfMost({ sent, receiptAtMs }: FloodedFlow): number {
  const lastMs = receiptAtMs.reduce((max, atMs) => Math.max(max, atMs), 0);
  return sent / (LIMIT * (1 + lastMs / 1_000));
}

function contentOf(site: LimitedSite, topic: string, count: number): Promise<object> {
  const stage = { serviceUrl: site.url, producer: SLUICE, consumer: SLUICE, topic };
  return consume(stage, { count, token: site.token });
}

function topicOf(name: string): string {
  return `persistent://public/default/limited-${name}-${topics++}`;
}

function reportOf(name: string, drivers: readonly Driver[], parts: readonly number[]): string {
  const each = drivers.map((driver, place) => `${driver.name} ${parts[place]?.toFixed(3)}`);
  return `÷ limit of ${LIMIT}/s to ${name}: ${each.join(", ")}`;
}
