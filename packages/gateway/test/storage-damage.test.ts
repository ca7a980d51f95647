/** I20: every acknowledged entry is there with a good checksum, or the log says which is not. */
import { SeededRandom } from "@sluice/core";
import { expect, test } from "vitest";
import { StorageError } from "../src/storage/storage-error.ts";
import type { LogEvent } from "../src/storage/log/log-event.ts";
import { cutBytesOf, openOn } from "./file-world.ts";
import { SimulatedDisk } from "./simulated-disk.ts";
import { readAll, say, textOf } from "./topic-log-contract.ts";

const OPTIONS = { segmentBytesMax: 220 };
const TEXTS = Array.from({ length: 9 }, (_, number) => `entry number ${number}`);

type Result =
  | { readonly kind: "read"; readonly texts: readonly string[]; readonly cutBytes: number }
  | { readonly kind: "refused"; readonly error: StorageError };

/** A log with a few entries, each of them acknowledged before the next is sent. */
async function written({ isClosed }: { readonly isClosed: boolean }): Promise<SimulatedDisk> {
  const disk = new SimulatedDisk(new SeededRandom(1));
  const log = await openOn(disk.mount(), OPTIONS);
  for (const text of TEXTS) await say(log, text);
  if (isClosed) await log.close();
  disk.kill();
  return disk;
}

async function openAndRead(disk: SimulatedDisk): Promise<Result> {
  try {
    const events: LogEvent[] = [];
    const log = await openOn(disk.mount(), OPTIONS, (event) => events.push(event));
    const texts = (await readAll(log)).map(textOf);
    return { kind: "read", texts, cutBytes: cutBytesOf(events) };
  } catch (error) {
    if (error instanceof StorageError) return { kind: "refused", error };
    throw error;
  }
}

/** The log is whole, or an error names a file and a spot in it. */
function expectWholeOrNamed(result: Result, path: string): void {
  if (result.kind === "read") {
    expect(result.texts, path).toEqual(TEXTS);
    return;
  }
  expect(result.error.kind).toBe("damaged");
  expect(result.error.spot.file).toBe(path);
  expect(result.error.message).toContain(path);
}

test("a flipped byte anywhere in a closed log is harmless or named", async () => {
  const disk = await written({ isClosed: true });
  let refusals = 0;
  for (const path of disk.paths()) {
    const { seen } = disk.content(path);
    for (let at = 0; at < seen.length; at++) {
      const flipped = Buffer.from(seen);
      flipped[at] = (seen[at] ?? 0) ^ (1 << (at % 8));
      const copy = disk.clone();
      copy.overwrite(path, flipped);
      const result = await openAndRead(copy);
      expectWholeOrNamed(result, path);
      if (result.kind === "refused") refusals++;
    }
  }
  expect(refusals).toBeGreaterThan(600);
});

test("a flipped byte in the log of a killed process is harmless, named, or in a tail that is cut", async () => {
  const disk = await written({ isClosed: false });
  const newest = disk.paths().findLast((path) => path.endsWith(".log")) ?? "";
  for (const path of disk.paths()) {
    const { seen } = disk.content(path);
    for (let at = 0; at < seen.length; at++) {
      const flipped = Buffer.from(seen);
      flipped[at] = (seen[at] ?? 0) ^ 0xff;
      const copy = disk.clone();
      copy.overwrite(path, flipped);
      const result = await openAndRead(copy);
      const isLastRecord = path === newest && at >= seen.length - 40 - "entry number 8".length;
      if (isLastRecord && result.kind === "read") {
        expect(result.texts).toEqual(TEXTS.slice(0, -1));
        expect(result.cutBytes).toBe(40 + "entry number 8".length);
      } else expectWholeOrNamed(result, path);
    }
  }
});

test("a damaged record in the middle of an unsealed segment is named by offset and entry", async () => {
  const disk = await written({ isClosed: false });
  const newest = disk.paths().findLast((path) => path.endsWith(".log")) ?? "";
  const bytes = Buffer.from(disk.content(newest).seen);
  // The length of the segment's first record: as large as it can be.
  bytes.fill(0xff, 28 + 12, 28 + 16);
  disk.overwrite(newest, bytes);
  const before = disk.content(newest).seen;
  const result = await openAndRead(disk);
  expect(result).toMatchObject({
    kind: "refused",
    error: { spot: { file: newest, offsetBytes: 28, position: { ledgerId: 2, entryId: 0 } } },
  });
  expect(disk.content(newest).seen).toEqual(before);
});

test("a damaged record that a read meets is named, and the log stops", async () => {
  const disk = await written({ isClosed: true });
  const [path = ""] = disk.paths();
  const bytes = Buffer.from(disk.content(path).seen);
  bytes.writeUInt8(bytes.readUInt8(28 + 54 + 45) ^ 1, 28 + 54 + 45);
  disk.overwrite(path, bytes);
  const events: LogEvent[] = [];
  const log = await openOn(disk.mount(), OPTIONS, (event) => events.push(event));
  await expect(readAll(log)).rejects.toMatchObject({
    kind: "damaged",
    spot: { file: path, offsetBytes: 28 + 54, position: { ledgerId: 0, entryId: 1 } },
  });
  expect(events).toMatchObject([{ kind: "damaged", error: { spot: { file: path } } }]);
  expect(log.failure?.kind).toBe("damaged");
  await expect(say(log, "later")).rejects.toMatchObject({ kind: "damaged" });
});

test("a closed log that was cut anywhere is named", async () => {
  const disk = await written({ isClosed: true });
  for (const path of disk.paths()) {
    const { seen } = disk.content(path);
    for (let length = 0; length < seen.length; length++) {
      const copy = disk.clone();
      copy.overwrite(path, seen.subarray(0, length));
      const result = await openAndRead(copy);
      expect(result.kind, `${path} cut to ${length}`).toBe("refused");
      expectWholeOrNamed(result, path);
    }
  }
});

test("the log of a killed process that was cut anywhere has a whole front, or is named", async () => {
  const disk = await written({ isClosed: false });
  const newest = disk.paths().findLast((path) => path.endsWith(".log")) ?? "";
  for (const path of disk.paths()) {
    const { seen } = disk.content(path);
    for (let length = 0; length < seen.length; length++) {
      const copy = disk.clone();
      copy.overwrite(path, seen.subarray(0, length));
      const result = await openAndRead(copy);
      if (path === newest && result.kind === "read")
        expect(result.texts).toEqual(TEXTS.slice(0, result.texts.length));
      else expectWholeOrNamed(result, path);
    }
  }
});

test.each([".log", ".seal"])("a missing %s file in the middle is named", async (ending) => {
  const disk = await written({ isClosed: true });
  const path = disk.paths().filter((name) => name.endsWith(ending))[1] ?? "";
  await disk.mount().remove(path);
  const result = await openAndRead(disk);
  expect(result).toMatchObject({
    kind: "refused",
    error: { kind: "damaged", spot: { file: path } },
  });
});

test("bytes that claim to be records cannot make a torn tail look damaged", async () => {
  const disk = new SimulatedDisk(new SeededRandom(1));
  const log = await openOn(disk.mount());
  await say(log, "kept");
  disk.kill();
  const [path = ""] = disk.paths();
  const { seen } = disk.content(path);
  // A copy of a record as another segment would have it, in a torn write.
  const forged = Buffer.from(seen.subarray(28));
  forged[0] = (forged[0] ?? 0) ^ 1;
  disk.overwrite(path, Buffer.concat([seen, Buffer.alloc(9), forged]));
  const result = await openAndRead(disk);
  expect(result).toMatchObject({ kind: "read", texts: ["kept"], cutBytes: 9 + forged.length });
});

test("a record that the disk has put in a second place is not taken for another entry", async () => {
  const disk = new SimulatedDisk(new SeededRandom(1));
  await say(await openOn(disk.mount()), "once");
  disk.kill();
  const [path = ""] = disk.paths();
  const { seen } = disk.content(path);
  disk.overwrite(path, Buffer.concat([seen, seen.subarray(28)]));
  const result = await openAndRead(disk);
  expect(result).toMatchObject({ kind: "read", texts: ["once"], cutBytes: seen.length - 28 });
});

test("two records that changed places are named", async () => {
  const disk = await written({ isClosed: true });
  const [path = ""] = disk.paths();
  const { seen } = disk.content(path);
  const [first, second] = [seen.subarray(28, 28 + 54), seen.subarray(28 + 54, 28 + 108)];
  const swapped = Buffer.concat([seen.subarray(0, 28), second, first, seen.subarray(28 + 108)]);
  disk.overwrite(path, swapped);
  expect(await openAndRead(disk)).toMatchObject({
    kind: "refused",
    error: { kind: "damaged", spot: { file: path, offsetBytes: 28 } },
  });
});
