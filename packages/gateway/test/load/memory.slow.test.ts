/** The memory of a broker's process, with all that many clients can make it hold. */
import { systemTimer } from "@sluice/core/system";
import { expect, test, vi } from "vitest";
import { RawClient } from "../raw-client.ts";
import { attack, startBarePairs, startBrokerProcess, startGatewayProcess } from "./processes.ts";
import type { BrokerProcess } from "./processes.ts";

const MIB = 1024 * 1024;

// Two of the tests store 410,000 messages first: 10 s, and two minutes with a load of 6 for each core.
vi.setConfig({ testTimeout: 400_000 });

/** Pages that a collection has emptied are given back by one of the next ones: the least of five is what is kept. */
const COLLECTIONS = 5;

async function settledRss(settling: BrokerProcess): Promise<number> {
  let least = Infinity;
  for (let count = 0; count < COLLECTIONS; count++) {
    least = Math.min(least, (await settling.report({ collect: true })).rss);
    await systemTimer.sleep(200);
  }
  return least;
}

test("10,000 idle connections take less than 165 MiB, the process included", async () => {
  const broker = await startBrokerProcess();
  await attack("idle", broker.port, 10_000);
  const rss = await settledRss(broker);
  const { stats } = await broker.report();
  process.stdout.write(`10,000 idle connections: ${Math.round(rss / MIB)} MiB\n`);
  expect(stats.connections).toBe(10_000);
  // The goal is 150; 130 to 140 were measured.
  expect(rss).toBeLessThan(165 * MIB);
});

/** Two descriptors each of the process between: 10,000 would need more than 20,000. */
const PAIRS = 4_000;

/** What one idle connection adds to a process between the client and the broker. */
async function bytesPerPair(between: BrokerProcess): Promise<number> {
  const base = await between.report({ collect: true });
  const { stop } = await attack("idle", between.port, PAIRS);
  const { rss, stats } = await between.report({ collect: true });
  expect(stats.connections).toBe(PAIRS);
  stop();
  return (rss - base.rss) / PAIRS;
}

test("an idle connection through a relay takes less than 24 KiB, and less than three bare pairs of sockets", async () => {
  const { port } = await startBrokerProcess();
  const bare = await bytesPerPair(await startBarePairs(port));
  const relayed = await bytesPerPair(
    await startGatewayProcess({ upstream: `pulsar://127.0.0.1:${port}` }),
  );
  process.stdout.write(
    `${PAIRS} idle connections through a relay: ${Math.round(relayed)} bytes each; a bare pair of sockets: ${Math.round(bare)}\n`,
  );
  expect(relayed).toBeLessThan(24 * 1024);
  expect(relayed).toBeLessThan(3 * bare);
});

test("1,000 hostile clients make the process grow by no more than the budget and 64 MiB, and honest ones are served", async () => {
  const budget = 256 * MIB;
  const broker = await startBrokerProcess({ memoryBytesMax: budget });
  await attack("topics", broker.port, 2_000);
  await attack("backlog", broker.port, 1);
  await attack("big", broker.port, 1);
  const base = await broker.report({ collect: true });
  process.stdout.write(`before: ${Math.round(base.rss / MIB)} MiB\n`);
  let highest = 0;
  const watch = async (seconds: number): Promise<void> => {
    for (let tenth = 0; tenth < seconds * 10; tenth++) {
      await systemTimer.sleep(100);
      highest = Math.max(highest, (await broker.report()).rss);
    }
  };
  const attacks = {
    ranges: 5,
    unacknowledged: 20,
    partialFrames: 300,
    unreadAnswers: 300,
    metadata: 100,
    unreadMessages: 300,
  };
  for (const [name, clients] of Object.entries(attacks)) {
    await attack(name, broker.port, clients);
    await watch(3);
    const { rss, stats } = await broker.report();
    process.stdout.write(
      `${name}: ${Math.round(rss / MIB)} MiB, ${Math.round(stats.memoryBytes / MIB)} counted, ${stats.connections} connections\n`,
    );
  }
  const honest = await RawClient.connected(broker.port);
  honest.send("ping", {});
  await honest.next("pong");
  honest.close();
  const { faults } = await broker.report();
  expect(faults).toEqual([]);
  process.stdout.write(`grown by ${Math.round((highest - base.rss) / MIB)} MiB at most\n`);
  // 226 MiB were measured, and 270 to 336 when frames in pieces came from `malloc`, which kept what was freed.
  expect(highest - base.rss).toBeLessThan(budget + 64 * MIB);
});

test("ten clients that flood ACKs of 10,000 ids make the process grow by less than 200 MiB", async () => {
  const broker = await startBrokerProcess();
  await attack("big", broker.port, 1);
  const base = await broker.report({ collect: true });
  await attack("acks", broker.port, 10);
  let highest = 0;
  for (let tenth = 0; tenth < 60; tenth++) {
    await systemTimer.sleep(100);
    highest = Math.max(highest, (await broker.report()).rss);
  }
  process.stdout.write(`flood of ACKs: ${Math.round((highest - base.rss) / MIB)} MiB more\n`);
  // 80 to 90 MiB were measured, and 400 when the ids of an ACK outlived young garbage.
  expect(highest - base.rss).toBeLessThan(200 * MIB);
});
