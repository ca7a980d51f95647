import { SeededRandom } from "@sluice/core";
import { expect, test } from "vitest";
import { openStoreOn } from "../../../test/file-world.ts";
import { runsOf } from "../../../test/range-lists.ts";
import { SimulatedDisk } from "../../../test/simulated-disk.ts";
import { say } from "../../../test/topic-log-contract.ts";
import { encodeCursor } from "../cursor/cursor-codec.ts";
import { encodeSchema } from "../schema/schema-codec.ts";
import type { DataReport } from "./data-report.ts";
import { inspectData } from "./inspect-data.ts";

const TOPIC = "persistent://public/default/orders";

/** A store with a topic of three segments, of which the last is open. */
async function written(): Promise<SimulatedDisk> {
  const disk = new SimulatedDisk(new SeededRandom(1));
  const store = await openStoreOn(disk.mount(), { log: { segmentBytesMax: 220 } });
  const { log, cursors } = await store.openTopic(TOPIC);
  for (let number = 0; number < 8; number++) await say(log, `entry number ${number}`);
  const snapshot = {
    ackedBefore: { ledgerId: 0, entryId: 2 },
    ranges: runsOf([{ ledgerId: 1, from: 0, to: 2 }]),
    ackSets: [],
  };
  await cursors.save("billing", encodeCursor(snapshot));
  await cursors.save("\0topic-epoch", Buffer.alloc(8));
  await store.savePartitionCount("persistent://public/default/bills", 4);
  const schema = { name: "s", type: 2, schemaData: Buffer.from("{}") };
  await store.schemas.save(TOPIC, 0, encodeSchema({ topic: TOPIC, schema }));
  await store.documents.save("policies", Buffer.from("none"));
  return disk;
}

/** What is there, and that nothing was changed to see it. */
async function inspected(disk: SimulatedDisk): Promise<DataReport> {
  const before = disk.paths().map((path) => [path, disk.content(path).seen] as const);
  const { calls } = disk;
  const report = await inspectData("broker", disk.mount());
  expect(disk.calls).toBe(calls);
  expect(disk.paths().map((path) => [path, disk.content(path).seen] as const)).toEqual(before);
  return report;
}

test("a folder is reported while its broker runs", async () => {
  const report = await inspected(await written());
  expect(report.damage).toEqual([]);
  expect(report.topics).toMatchObject([
    {
      name: TOPIC,
      segments: [
        { ledgerId: 0, entries: 3, bytes: 28 + 3 * 54, state: "sealed", tornBytes: 0 },
        { ledgerId: 1, entries: 3, state: "sealed" },
        { ledgerId: 2, entries: 2, state: "open", tornBytes: 0, damage: undefined },
      ],
      cursors: [
        {
          subscription: "billing",
          markDelete: { ledgerId: 0, entryId: 2 },
          ranges: 1,
          ackedBeyond: 2,
          partlyAcked: 0,
        },
      ],
    },
  ]);
  expect(report.schemas).toMatchObject([{ topic: TOPIC, version: 0, type: 2 }]);
  expect([...report.partitions]).toEqual([["persistent://public/default/bills", 4]]);
});

test("a flipped byte in any file is found and named, and the rest is reported", async () => {
  const disk = await written();
  const newest = disk.paths().findLast((path) => path.endsWith(".log")) ?? "";
  for (const path of disk.paths()) {
    const { seen } = disk.content(path);
    for (const at of [0, 13, Math.floor(seen.length / 2), seen.length - 1]) {
      const copy = disk.clone();
      const flipped = Buffer.from(seen);
      flipped.writeUInt8(flipped.readUInt8(at) ^ 0x10, at);
      copy.overwrite(path, flipped);
      const report = await inspected(copy);
      const [segment] = report.topics[0]?.segments.slice(-1) ?? [];
      // The last record of an open segment cannot be told from a write that a crash has torn.
      const isTorn = path === newest && (segment?.tornBytes ?? 0) > 0;
      if (!isTorn)
        expect(
          report.damage.map(({ file }) => file),
          `${path} at ${at}`,
        ).toEqual([path]);
      expect(report.topics[0]?.segments).toHaveLength(3);
    }
  }
});

test("damage in a segment is reported with its offset and the entries before it", async () => {
  const disk = await written();
  const path = disk.paths().find((each) => each.endsWith("0000000001.log")) ?? "";
  const bytes = Buffer.from(disk.content(path).seen);
  bytes.fill(0xff, 28 + 54 + 45, 28 + 54 + 48);
  disk.overwrite(path, bytes);
  const report = await inspected(disk);
  const damage = { file: path, offsetBytes: 28 + 54 };
  expect(report.damage).toMatchObject([damage]);
  expect(report.topics[0]?.segments[1]).toMatchObject({ ledgerId: 1, entries: 1, damage });
});

test("missing files and torn tails are reported", async () => {
  const disk = await written();
  const files = disk.mount();
  const seal = disk.paths().find((path) => path.endsWith("0000000000.seal")) ?? "";
  const middle = disk.paths().find((path) => path.endsWith("0000000001.log")) ?? "";
  const newest = disk.paths().findLast((path) => path.endsWith(".log")) ?? "";
  await files.remove(seal);
  await files.remove(middle);
  disk.overwrite(newest, Buffer.concat([disk.content(newest).seen, Buffer.from("torn")]));
  const report = await inspected(disk);
  expect(report.damage.map(({ message }) => message)).toEqual([
    `${seal} is missing`,
    `${middle} is missing`,
  ]);
  expect(report.topics[0]?.segments.at(-1)).toMatchObject({ tornBytes: 4, damage: undefined });
});

test("a segment with a number far beyond the others is one finding", async () => {
  const disk = await written();
  const folder = disk.paths().find((path) => path.endsWith("0000000002.log")) ?? "";
  const stray = folder.replace("0000000002", "9999999999");
  const file = await disk.mount().openToWrite(stray);
  await file.close();
  const report = await inspected(disk);
  const missing = folder.replace("0000000002", "0000000003");
  expect(report.damage.map(({ message }) => message)).toContain(
    `${missing} is missing, and so are the 9999999995 after it`,
  );
});

test("a folder that is no data folder is refused by name", async () => {
  const files = new SimulatedDisk(new SeededRandom(1)).mount();
  await expect(inspectData("elsewhere", files)).rejects.toThrow("elsewhere has no folder");
});
