/** Files of lines, on a real disk and a clock of ours. */
import {
  appendFile,
  mkdtemp,
  open,
  readFile,
  rename,
  rm,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualTimer } from "@sluice/core/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { END, fileSink, fileSource } from "@sluice/pipeline";
import type { FileSourceOptions, Source } from "@sluice/pipeline";
import {
  messagesOf,
  neverAborted,
  readMany,
  readOnce,
  testContext,
  textsOf,
} from "./connector-context.ts";
import { FileSink } from "../src/connector/file/file-sink.ts";
import { sinkContract } from "./sink-contract.ts";
import { sourceContract } from "./source-contract.ts";

let folder = "";
let path = "";
let checkpoint = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-file-"));
  path = join(folder, "lines.ndjson");
  checkpoint = join(folder, "lines.checkpoint");
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe("a file as a source", () => {
  test("answers every line once, the last one also without a line break, and then the end", async () => {
    await writeFile(path, 'one\n\ntwo\r\n{"three":3}');
    const source = await opened({});
    expect(textsOf(await readMany(source, 10))).toEqual(["one", "two", '{"three":3}']);
    expect(await source.read(10, { signal: neverAborted, waitMs: 0 })).toBe(END);
    await source.close();
  });

  test("answers no more lines than it may", async () => {
    await writeFile(path, "1\n2\n3\n");
    const source = await opened({});
    expect(textsOf(await readOnce(source, 2))).toEqual(["1", "2"]);
    expect(textsOf(await readOnce(source, 2))).toEqual(["3"]);
    await source.close();
  });

  test("goes on behind the acknowledged lines after a restart", async () => {
    await writeFile(path, "1\n2\n3\n4\n");
    const source = await opened({ checkpoint });
    const lines = await readMany(source, 3);
    await source.ack(lines.slice(0, 2));
    // No close: a crash.
    const again = await opened({ checkpoint });
    expect(textsOf(await readMany(again, 10))).toEqual(["3", "4"]);
    await Promise.all([source.close(), again.close()]);
  });

  test("delivers a line again that is not acknowledged, also if later ones are", async () => {
    await writeFile(path, "1\n2\n3\n");
    const source = await opened({ checkpoint });
    const [first, second, third] = await readMany(source, 3);
    await source.ack([third, first].filter((each) => each !== undefined));
    const again = await opened({ checkpoint });
    const [redelivered] = await readMany(again, 1);
    expect(redelivered).toEqual(second);
    await Promise.all([source.close(), again.close()]);
  });

  test("skips a line that is too long, with a warning, and goes on", async () => {
    await writeFile(path, `1\n${"x".repeat(100)}\n3\n`);
    const context = testContext();
    const source = await fileSource({ path, lineMaxBytes: 99 }).open(context);
    expect(textsOf(await readMany(source, 10))).toEqual(["1", "3"]);
    expect(context.told).toHaveLength(1);
    expect(context.told[0]?.text).toContain("1 lines longer than 99 bytes");
    await source.close();
  });

  test("refuses a damaged checkpoint with the way out", async () => {
    await writeFile(path, "1\n");
    await writeFile(checkpoint, '{"offset":-1}');
    await expect(opened({ checkpoint })).rejects.toThrow(/remove the file to read from the beg/);
  });

  test("refuses a file that is not there with the way out", async () => {
    await expect(opened({})).rejects.toThrow(/lines\.ndjson": there is no such file.*create it/);
  });

  test("reads a replaced file from its beginning, and says so", async () => {
    await writeFile(path, "1\n2\n");
    const source = await opened({ checkpoint });
    await source.ack(await readMany(source, 2));
    await source.close();
    await writeFile(join(folder, "other"), "A\nB\nC\n");
    await rename(join(folder, "other"), path);
    const context = testContext();
    const again = await fileSource({ path, checkpoint }).open(context);
    expect(textsOf(await readMany(again, 10))).toEqual(["A", "B", "C"]);
    expect(context.told[0]?.text).toMatch(/not the file that the checkpoint .* tells of/);
    await again.close();
  });

  test("reads the rest of a file that was rotated while nothing ran, then the new one", async () => {
    await writeFile(path, "1\n2\n3\n");
    const source = await opened({ checkpoint });
    await source.ack(await readMany(source, 2));
    await source.close();
    await rename(path, `${path}.1`);
    await writeFile(path, "4\n");
    const again = await opened({ checkpoint });
    expect(textsOf(await readMany(again, 10))).toEqual(["3", "4"]);
    await again.close();
  });
});

describe("a followed file", () => {
  test("gives lines as they are appended, whole ones only", async () => {
    const timer = new VirtualTimer();
    await writeFile(path, "1\n2");
    const source = await opened({ follow: true }, timer);
    expect(textsOf(await readOnce(source))).toEqual(["1"]);
    await appendFile(path, "2\n3\n");
    const read = readOnce(source, 100, 1000);
    await passUntilSettled(timer, read);
    expect(textsOf(await read)).toEqual(["22", "3"]);
    await source.close();
  });

  test("may be created later", async () => {
    const timer = new VirtualTimer();
    const source = await opened({ follow: true }, timer);
    const read = readOnce(source, 100, 10_000);
    await writeFile(path, "1\n");
    await passUntilSettled(timer, read);
    expect(textsOf(await read)).toEqual(["1"]);
    await source.close();
  });

  test("ends its wait when the signal aborts", async () => {
    await writeFile(path, "");
    const source = await opened({ follow: true }, new VirtualTimer());
    const controller = new AbortController();
    const read = source.read(1, { signal: controller.signal, waitMs: 60_000 });
    controller.abort();
    expect(await read).toEqual([]);
    await source.close();
  });

  test("goes on with the new file after a rotation, and a restart begins with unacknowledged lines of the old one", async () => {
    const timer = new VirtualTimer();
    await writeFile(path, "1\n2\n");
    const context = testContext(timer);
    const source = await fileSource({ path, checkpoint, follow: true }).open(context);
    const old = [...(await readOnce(source))];
    await rename(path, `${path}.1`);
    await appendFile(`${path}.1`, "3\n");
    await writeFile(path, "4\n5\n");
    const found = [];
    while (found.length < 3) {
      const read = readOnce(source, 100, 1000);
      await passUntilSettled(timer, read);
      found.push(...(await read));
    }
    expect(textsOf(found)).toEqual(["3", "4", "5"]);
    expect(context.told.map(({ text }) => text)).toEqual([expect.stringContaining("was rotated")]);
    await source.ack([...old.slice(0, 1), ...found]);
    const again = await opened({ checkpoint });
    expect(textsOf(await readMany(again, 10))).toEqual(["2", "3", "4", "5"]);
    await source.ack(old.slice(1));
    const last = await opened({ checkpoint });
    expect(textsOf(await readMany(last, 10))).toEqual([]);
    await Promise.all([source.close(), again.close(), last.close()]);
  });

  test("is read from its beginning after a truncation, with a warning", async () => {
    const timer = new VirtualTimer();
    await writeFile(path, "1\n2\n");
    const context = testContext(timer);
    const source = await fileSource({ path, checkpoint, follow: true }).open(context);
    const old = await readOnce(source);
    await truncate(path);
    await appendFile(path, "3\n");
    const read = readOnce(source, 100, 1000);
    await passUntilSettled(timer, read);
    expect(textsOf(await read)).toEqual(["3"]);
    expect(context.told[0]?.text).toMatch(/truncated from 4 to 2 bytes/);
    // Lines that are gone hold up nothing, and their acknowledgements move nothing.
    await source.ack(await read);
    await source.ack(old);
    await appendFile(path, "4\n");
    const again = await opened({ checkpoint });
    expect(textsOf(await readMany(again, 10))).toEqual(["4"]);
    await Promise.all([source.close(), again.close()]);
  });
});

describe("a file as a sink", () => {
  test("has every message as a line when the write resolves", async () => {
    const sink = await fileSink({ path }).open(testContext());
    await Promise.all([
      sink.write(messagesOf("text", { a: 1 }, Buffer.from("bytes")), { signal: neverAborted }),
      sink.write(messagesOf(2), { signal: neverAborted }),
    ]);
    expect(await readFile(path, "utf8")).toBe('text\n{"a":1}\nbytes\n2\n');
    await sink.close();
  });

  test("refuses only the message whose value has a line break", async () => {
    const sink = await fileSink({ path }).open(testContext());
    const results = await sink.write(messagesOf("a", "b\nc", "d"), { signal: neverAborted });
    expect(results?.map((each) => each?.isRetriable)).toEqual([undefined, false, undefined]);
    expect(await readFile(path, "utf8")).toBe("a\nd\n");
    await sink.close();
  });

  test("begins a new line behind one that a crash has torn", async () => {
    await writeFile(path, '{"a":');
    const sink = await fileSink({ path }).open(testContext());
    await sink.write(messagesOf({ b: 2 }), { signal: neverAborted });
    expect(await readFile(path, "utf8")).toBe('{"a":\n{"b":2}\n');
    await sink.close();
  });

  test("goes on with the new file although the old one could not be closed, and says so", async () => {
    const context = testContext();
    const sink = new FileSink(path, true, context, async (...of) => {
      const file = await open(...of);
      const close = file.close.bind(file);
      file.close = async () => {
        await close();
        throw new Error("EIO: i/o error, close");
      };
      return file;
    });
    await sink.write(messagesOf("1"));
    await rename(path, `${path}.1`);
    await sink.write(messagesOf("2"));
    await sink.write(messagesOf("3"));
    expect(await readFile(path, "utf8")).toBe("2\n3\n");
    expect(context.told[0]?.text).toContain("could not be closed");
    await expect(sink.close()).rejects.toThrow("EIO");
  });

  test("writes to the new file after a rotation", async () => {
    const sink = await fileSink({ path }).open(testContext());
    await sink.write(messagesOf(1), { signal: neverAborted });
    await rename(path, `${path}.1`);
    await sink.write(messagesOf(2), { signal: neverAborted });
    expect(await readFile(path, "utf8")).toBe("2\n");
    await sink.close();
  });

  test("refuses a folder that is not there with the way out", async () => {
    const sink = fileSink({ path: join(folder, "none", "file") });
    await expect(sink.open(testContext())).rejects.toThrow(/no such file or folder; create it/);
  });
});

describe("the options of files", () => {
  test.each([
    [{}, /path of fileSource is undefined; use a text/],
    [{ path: "a", folow: true }, /fileSource has no option "folow"; did you mean follow\?/],
    [{ path: "a", pollMs: 0 }, /pollMs of fileSource is 0; it must be a whole number from 1 to/],
    [{ path: "a", lineMaxBytes: "5" }, /lineMaxBytes of fileSource is "5"/],
    [{ path: "a", format: "xml" }, /format of fileSource is "xml"; use one of bytes, text, json/],
    [undefined, /the options of fileSource are undefined; write fileSource\(\{ path/],
  ])("that are wrong are refused: %j", (options, message) => {
    expect(() => fileSource(options as FileSourceOptions)).toThrow(message);
  });
});

for (const follow of [false, true])
  sourceContract(
    follow ? "a followed file" : "a file",
    async () => {
      const bench = await mkdtemp(join(tmpdir(), "sluice-file-"));
      const file = join(bench, "lines");
      await writeFile(file, "");
      return {
        connector: fileSource({ path: file, checkpoint: join(bench, "checkpoint"), follow }),
        put: (values) => appendFile(file, values.map((value) => `${value}\n`).join("")),
        tearDown: () => rm(bench, { recursive: true, force: true }),
      };
    },
    { hasEnd: !follow },
  );

sinkContract("a file", async () => {
  const bench = await mkdtemp(join(tmpdir(), "sluice-file-"));
  const file = join(bench, "lines");
  return {
    connector: fileSink({ path: file }),
    received: async () => (await readFile(file, "utf8")).split("\n").slice(0, -1),
    tearDown: () => rm(bench, { recursive: true, force: true }),
  };
});

async function opened(
  options: Partial<FileSourceOptions>,
  timer?: VirtualTimer,
): Promise<Source<Buffer>> {
  return fileSource({ path, ...options }).open(testContext(timer));
}

/** Lets virtual time pass while real reads of the file end in their own time. */
async function passUntilSettled(timer: VirtualTimer, work: Promise<unknown>): Promise<void> {
  const settled = new AbortController();
  const settle = (): void => settled.abort();
  work.then(settle, settle);
  while (!settled.signal.aborted) await timer.advance(timer.sleeping > 0 ? 10 : 0);
}
