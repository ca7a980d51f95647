/** The memory of a broker's process, with all that many clients can make it hold. */
import { systemTimer } from "@sluice/core/system";
import { expect, test } from "vitest";
import { RawClient } from "../raw-client.ts";
import { attack, startBrokerProcess } from "./processes.ts";

const MIB = 1024 * 1024;

test("10,000 idle connections take less than 150 MiB, the process included", async () => {
  const broker = await startBrokerProcess();
  await attack("idle", broker.port, 10_000);
  const { rss, stats } = await broker.report({ collect: true });
  process.stdout.write(`10,000 idle connections: ${Math.round(rss / MIB)} MiB\n`);
  expect(stats.connections).toBe(10_000);
  expect(rss).toBeLessThan(150 * MIB);
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
    await watch(4);
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
  expect(highest - base.rss).toBeLessThan(budget + 64 * MIB);
});
