/**
 * A topic on the same connection as a topic that is sent ten times what its limit allows, with unmodified
 * clients. `INTEROP_ISOLATION_MS` is how long both publish together, 8,000 unless given.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bestOf, isPassing, verdictOf } from "./cases/attempts.ts";
import type { Verdict } from "./cases/attempts.ts";
import { JAVA, PYTHON, SLUICE } from "./drivers/clients.ts";
import type { Driver } from "./drivers/driver.ts";
import { latencyP99, receiptRate } from "./drivers/flood.ts";
import type { FloodedFlow, FloodFlow } from "./drivers/flood.ts";
import { startEmbeddedSite, startRelaySite } from "./servers/limited-site.ts";
import type { LimitedSite } from "./servers/limited-site.ts";
import { realMissing } from "./servers/our-broker.ts";
import { SiteWatch } from "./servers/site-watch.ts";
import type { Watched } from "./servers/site-watch.ts";
import { all, consume } from "./cases/stage.ts";

const TOGETHER_MS = Number(process.env["INTEROP_ISOLATION_MS"] ?? 8_000);
const isAll = process.env["INTEROP_ALL"] === "1";

/** How long the victim publishes alone, in milliseconds. The client's first seconds are left out. */
const ALONE_MS = Math.min(5_000 + TOGETHER_MS / 4, 20_000);
const WARM_MS = 2_000;

/** The reason for which a connection is not read while the broker behind the gateway stores too slowly. */
const SLOW_BROKER = "connection-pending";

const SIZE_BYTES = 1_024;
const VICTIM_RATE = 200;

/** Bounds of the victim beside the other topic: p99 ≤ `factor` × p99 alone + `extraMs`, and so the rate. */
interface Goal {
  readonly factor: number;
  readonly extraMs: number;
  readonly ratePart: number;
}

const GOAL: Goal = { factor: 1.2, extraMs: 5, ratePart: 0.98 };

/**
 * On a machine that others use, receipts are late with and without another topic, and a client that begins to
 * send 5,000 messages a second delays its own. A victim that waits with the other topic has a p99 of one second
 * or more: a window of 1,000 messages takes 2 s at 500/s. With three to five runnable threads per core, attempts
 * had up to 225 ms beside 10 ms alone.
 */
const WIDER_GOAL: Goal = { factor: 4, extraMs: 300, ratePart: 0.9 };

interface Setting {
  readonly name: string;
  readonly limit: number;
  readonly aggressor: Pick<FloodFlow, "batching" | "maxPending">;
}

/** Ten times the limit, with the window of 1,000 messages that the Python client has by default. */
const SETTINGS: readonly Setting[] = [
  { name: "500/s", limit: 500, aggressor: { batching: false, maxPending: 1_000 } },
];

/** Windows that take longer than `maxHoldMs` to go. */
const HARDER: readonly Setting[] = [
  { name: "100/s", limit: 100, aggressor: { batching: false, maxPending: 1_000 } },
  { name: "100/s in batches", limit: 100, aggressor: { batching: true, maxPending: 1_000 } },
];

const missing = await realMissing();

const SITES = [
  { name: "the embedded broker", missing: undefined, start: startEmbeddedSite },
  { name: "Pulsar's own broker", missing, start: startRelaySite },
];

const DRIVERS = [PYTHON, JAVA];

let topics = 0;

for (const { name, missing: lacking, start } of SITES)
  describe.skipIf(lacking !== undefined)(`on one connection through the gateway to ${name}`, () => {
    let site: LimitedSite;
    beforeAll(async () => {
      site = await start();
    });
    afterAll(() => site.close());

    for (const driver of DRIVERS)
      for (const setting of isAll ? [...SETTINGS, ...HARDER] : SETTINGS)
        test.skipIf(driver.missing !== undefined)(
          `a topic of a ${driver.name} client does not notice another that is sent ten times its limit of ${setting.name}`,
          async () => {
            const seen: object[] = [];
            const verdict = await bestOf(async () => {
              const { victim, watched } = await run(site, driver, setting);
              const figures = figuresOf(victim);
              const reached = verdictOfPauses(watched, verdictOfFigures(figures));
              seen.push({ reached, ...figures, ...watched });
              return reached;
            });
            const report = `${driver.name} to ${name}, ${setting.name}: ${JSON.stringify(seen)}`;
            process.stdout.write(`\n${report}\n`);
            expect(verdict, report).toSatisfy(isPassing);
            expect(site.troubles.filter((event) => !isOfSlowBroker(event))).toEqual([]);
          },
        );
  });

/** For comparison, with `INTEROP_ALL=1`: the same clients with the limit in the broker itself. */
describe.skipIf(!isAll || missing !== undefined)("on one connection to Pulsar's own broker", () => {
  let site: Awaited<ReturnType<typeof startRelaySite>>;
  beforeAll(async () => {
    site = await startRelaySite();
  });
  afterAll(() => site.close());

  for (const driver of DRIVERS)
    test.skipIf(driver.missing !== undefined)(
      `a topic of a ${driver.name} client waits with another that is sent ten times its limit`,
      async () => {
        const { serviceUrl } = site.broker;
        const setLimit = (topic: string, messages: number): Promise<void> =>
          site.broker.setPublishRate(topic, messages);
        for (const setting of SETTINGS) {
          const { victim } = await run(site, driver, setting, { serviceUrl, setLimit });
          const { alone, together } = figuresOf(victim);
          process.stdout.write(
            `\n${driver.name} with Pulsar's own limit of ${setting.name}: ${JSON.stringify({ alone, together })}\n`,
          );
          expect(isReached({ alone, together }, WIDER_GOAL)).toBe(false);
        }
      },
    );
});

/** Where clients publish, and how a topic gets its limit there. */
interface Place {
  readonly serviceUrl: string;
  readonly setLimit: (topic: string, messages: number) => void | Promise<void>;
}

/** Both publish, and everything that was sent is there, once and in order. */
async function run(
  site: LimitedSite,
  driver: Driver,
  { limit, aggressor }: Setting,
  { serviceUrl, setLimit }: Place = {
    serviceUrl: site.url,
    setLimit: (topic, messages) => site.limit(topic, messages),
  },
): Promise<{ readonly victim: FloodedFlow; readonly watched: Watched }> {
  const [quiet, loud] = [topicName("quiet"), topicName("loud")];
  // Without a subscription a broker may forget what it has stored.
  for (const topic of [quiet, loud]) await contentOf(site, topic, 0);
  await setLimit(loud, limit);
  const running = driver.flood(serviceUrl, {
    durationMs: ALONE_MS + TOGETHER_MS,
    token: site.token,
    flows: [
      { topic: quiet, sizeBytes: SIZE_BYTES, batching: false, ratePerSecond: VICTIM_RATE },
      {
        topic: loud,
        sizeBytes: SIZE_BYTES,
        ratePerSecond: 10 * limit,
        fromMs: ALONE_MS,
        ...aggressor,
      },
    ],
  });
  await running.ready;
  const watch = new SiteWatch(site);
  const { flows } = await running.outcome;
  const watched = watch.stop();
  for (const [place, topic] of [quiet, loud].entries()) {
    const { sent, failed, error } = flows[place] as FloodedFlow;
    expect.soft({ failed, error }, topic).toEqual({ failed: 0, error: "" });
    expect
      .soft(await contentOf(site, topic, sent), topic)
      .toMatchObject(all(sent, { sizeBytes: SIZE_BYTES }));
  }
  return { victim: flows[0] as FloodedFlow, watched };
}

interface Figures {
  readonly p99Ms: number;
  readonly rate: number;
}

interface Compared {
  readonly alone: Figures;
  readonly together: Figures;
}

/**
 * No connection is left unread because of the other topic's limit. On a busy machine the cluster's broker may store so
 * late that the bound of pending messages stops reading for a moment: the goal is missed then, the guarantee is kept.
 */
function verdictOfPauses({ pausedMs }: Watched, ofFigures: Verdict): Verdict {
  const reasons = Object.keys(pausedMs);
  if (reasons.length === 0 || ofFigures === "missed") return ofFigures;
  return reasons.every((reason) => reason === SLOW_BROKER) ? "near" : "missed";
}

function isOfSlowBroker(event: LimitedSite["troubles"][number]): boolean {
  const isPause = event.kind === "socket-paused" || event.kind === "socket-resumed";
  return isPause && event.reason === SLOW_BROKER;
}

function verdictOfFigures(compared: Compared): Verdict {
  return verdictOf(isReached(compared, GOAL), isReached(compared, WIDER_GOAL));
}

function isReached({ alone, together }: Compared, { factor, extraMs, ratePart }: Goal): boolean {
  return together.p99Ms <= factor * alone.p99Ms + extraMs && together.rate >= ratePart * alone.rate;
}

function figuresOf(victim: FloodedFlow): Compared {
  const between = (fromMs: number, untilMs: number): Figures => ({
    p99Ms: latencyP99(victim, fromMs, untilMs),
    rate: receiptRate(victim, fromMs, untilMs),
  });
  return {
    alone: between(WARM_MS, ALONE_MS),
    together: between(ALONE_MS, ALONE_MS + TOGETHER_MS),
  };
}

function contentOf(site: LimitedSite, topic: string, count: number): Promise<object> {
  const stage = { serviceUrl: site.url, producer: SLUICE, consumer: SLUICE, topic };
  return consume(stage, { count, token: site.token });
}

function topicName(name: string): string {
  return `persistent://public/default/isolation-${name}-${topics++}`;
}
