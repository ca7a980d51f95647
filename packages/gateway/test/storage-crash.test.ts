/** Promise 2: what was acknowledged is there after any crash, and nothing else that was not sent. */
import { SeededRandom } from "@sluice/core";
import { nextTurn } from "@sluice/core/system";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { FileTopicLog } from "../src/storage/log/file-topic-log.ts";
import type { LogEvent } from "../src/storage/log/log-event.ts";
import { StorageError } from "../src/storage/storage-error.ts";
import { comparePositions } from "../src/storage/position.ts";
import { openOn } from "./file-world.ts";
import { SimulatedDisk } from "./simulated-disk.ts";
import { readAll, say, textOf } from "./topic-log-contract.ts";

const OPTIONS = { segmentBytesMax: 400, groupBytesMax: 250 };

/** What a run of the machine did before its end. */
interface Run {
  /** How many entries are appended at once, turn by turn. */
  readonly bursts: readonly number[];
  /** At which call to the disk the run ends; beyond the last call it ends by being cut off. */
  readonly crashAtCall: number;
  readonly sizeBytes: number;
  /** Only the process dies; the machine keeps what it had in memory. */
  readonly isKill: boolean;
}

const runs: fc.Arbitrary<Run[]> = fc.array(
  fc.record({
    bursts: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 6 }),
    crashAtCall: fc.nat(60),
    sizeBytes: fc.nat(150),
    isKill: fc.boolean(),
  }),
  { minLength: 1, maxLength: 4 },
);

/** Lets all that does not hang come to its end. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
}

test("after any crash at any point, what was acknowledged is there and the rest is a prefix", async () => {
  let crashes = 0;
  await fc.assert(
    fc.asyncProperty(runs, fc.integer(), async (all, seed) => {
      const disk = new SimulatedDisk(new SeededRandom(seed));
      let stored: string[] = [];
      let next = 0;
      for (const { bursts, crashAtCall, sizeBytes, isKill } of all) {
        disk.fault = isKill ? undefined : { atCall: disk.calls + crashAtCall, kind: "crash" };
        let appended: string[] = [];
        let acknowledged = 0;
        const live = async (): Promise<void> => {
          const log = await openOn(disk.mount(), OPTIONS);
          for (const burst of bursts) {
            const texts = Array.from({ length: burst }, () => `${next++}:`.padEnd(sizeBytes, "x"));
            appended.push(...texts);
            await Promise.all(texts.map((text) => say(log, text).then(() => acknowledged++)));
          }
        };
        void live();
        await settle();
        if (isKill) disk.kill();
        else disk.crash();
        crashes++;
        disk.fault = undefined;
        const found = (await readAll(await openOn(disk.mount(), OPTIONS))).map(textOf);
        const sure = [...stored, ...appended.slice(0, acknowledged)];
        expect(found.slice(0, sure.length)).toEqual(sure);
        expect(found).toEqual([...stored, ...appended].slice(0, found.length));
        stored = found;
        // The run that looked is killed, so that its half-closed log is what the next run finds.
        disk.kill();
      }
    }),
    { numRuns: 400 },
  );
  expect(crashes).toBeGreaterThan(400);
});

test("a crash while the log is opened after a crash loses nothing either", async () => {
  for (let seed = 0; seed < 300; seed++) {
    const disk = new SimulatedDisk(new SeededRandom(seed));
    const log = await openOn(disk.mount(), OPTIONS);
    const texts = ["one", "two", "three", "four", "five"];
    for (const text of texts) await say(log, text.padEnd(60));
    void Promise.all(["six", "seven"].map((text) => say(log, text)));
    for (let turn = 0; turn < seed % 12; turn++) await Promise.resolve();
    disk.crash();
    disk.fault = { atCall: disk.calls + (seed % 7), kind: "crash" };
    void openOn(disk.mount(), OPTIONS).catch(() => undefined);
    await settle();
    disk.crash();
    disk.fault = undefined;
    const found = (await readAll(await openOn(disk.mount(), OPTIONS))).map(textOf);
    expect(found.slice(0, 5).map((text) => text.trim())).toEqual(texts);
  }
});

test("a torn tail is cut, and the bytes that were cut are reported", async () => {
  const disk = new SimulatedDisk(new SeededRandom(1));
  await say(await openOn(disk.mount()), "kept");
  disk.kill();
  const [path = ""] = disk.paths();
  disk.overwrite(path, Buffer.concat([disk.content(path).seen, Buffer.alloc(17, 0xab)]));
  const events: LogEvent[] = [];
  const after = await openOn(disk.mount(), {}, (event) => events.push(event));
  expect(events).toEqual([{ kind: "tail-cut", bytes: 17 }]);
  expect((await readAll(after)).map(textOf)).toEqual(["kept"]);
  await after.close();
  await openOn(disk.mount(), {}, (event) => events.push(event));
  expect(events).toHaveLength(1);
});

test("what a killed process left unsynced is made durable before it is shown", async () => {
  const disk = new SimulatedDisk(new SeededRandom(3));
  const log = await openOn(disk.mount());
  await say(log, "one");
  // The write gets through and the sync does not begin.
  disk.fault = { atCall: disk.calls + 1, kind: "failed" };
  await expect(say(log, "two")).rejects.toThrow(StorageError);
  disk.kill();
  disk.fault = undefined;
  const seen = (await readAll(await openOn(disk.mount()))).map(textOf);
  disk.crash();
  expect((await readAll(await openOn(disk.mount()))).map(textOf)).toEqual(seen);
  expect(seen).toEqual(["one", "two"]);
});

test("a crash while a drained segment is replaced loses no position and no later entry", async () => {
  for (let atCall = 0; atCall < 15; atCall++) {
    const disk = new SimulatedDisk(new SeededRandom(atCall));
    const options = { drainedBytesMin: 1 };
    const log = await openOn(disk.mount(), options);
    for (const text of ["one", "two"]) await say(log, text);
    const { end } = log;
    disk.fault = { atCall: disk.calls + atCall, kind: "crash" };
    const retention = { nowMs: 1, ageMaxMs: 0, sizeMaxBytes: 0, drainAfterMs: 0 };
    void log.trim({ ...retention, consumedBefore: end }).then(() => say(log, "three"));
    await settle();
    disk.crash();
    disk.fault = undefined;
    const after = await openOn(disk.mount(), options);
    expect(["", "one two", "three"]).toContain((await readAll(after)).map(textOf).join(" "));
    expect(comparePositions(await say(after, "four"), end)).toBeGreaterThanOrEqual(0);
  }
});

test("trimming that a crash interrupts leaves a log that opens, without a gap", async () => {
  for (let atCall = 0; atCall < 12; atCall++) {
    const disk = new SimulatedDisk(new SeededRandom(atCall));
    const log = await openOn(disk.mount(), OPTIONS);
    for (let number = 0; number < 12; number++) await say(log, `${number}`.padEnd(100));
    const { end } = log;
    disk.fault = { atCall: disk.calls + atCall, kind: "crash" };
    void log.trimBefore(end);
    await settle();
    disk.crash();
    disk.fault = undefined;
    const after: FileTopicLog = await openOn(disk.mount(), OPTIONS);
    const found = (await readAll(after)).map((entry) => Number(textOf(entry)));
    expect(found).toEqual(Array.from({ length: found.length }, (_, at) => 12 - found.length + at));
    expect(after.end).toEqual(end);
  }
});
