import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemTimer } from "@sluice/core/system";
import { describe, expect, test } from "vitest";
import { mapCommand } from "../src/map/command/map-command.ts";
import type { MapCommandOptions } from "../src/map/command/map-command.ts";
import type { Mapper } from "../src/map/mapper.ts";
import { connectorScene, messageOf, until } from "./connector-scene.ts";
import { failure, mapperScenes } from "./mapper-scene.ts";
import type { MapperScene } from "./mapper-scene.ts";

const LINES = fileURLToPath(new URL("maps/lines.py", import.meta.url));
const open = mapperScenes();

const scene = (options: Partial<MapCommandOptions> = {}): Promise<MapperScene> =>
  open(mapCommand({ command: "python3", args: [LINES], ...options }));

const hasPython = spawnSync("python3", ["--version"]).status === 0;

describe.skipIf(!hasPython)("a map in Python (needs python3)", () => {
  test("gets value, key, headers and id, and answers one, several or no outputs", async () => {
    const { map } = await scene();
    expect(await map({ do: "double", n: 21 }, "two", "drop", "tea")).toEqual([
      [{ value: 42 }],
      [{ value: 1 }, { value: 2, key: "second", headers: { a: "b" } }],
      [],
      [{ value: ["tea", "k", { h: "1" }, "3"] }],
    ]);
  });

  test("the example of docs/reference/maps.md works as it is", async () => {
    const page = await readFile(
      new URL("../../../docs/reference/maps.md", import.meta.url),
      "utf8",
    );
    const [, example = ""] = /```python\n(.*?)```/s.exec(page) ?? [];
    const { map } = await scene({ args: ["-c", example] });
    expect(await map({ price: 3, count: 2 }, { price: 3 })).toEqual([
      [{ value: { price: 3, count: 2, total: 6 }, headers: { by: "python" } }],
      failure(false, "no field 'count'"),
    ]);
  });

  test("bytes go both ways", async () => {
    const { map } = await scene();
    expect(await map(Buffer.from([1, 2, 255]))).toEqual([[{ value: Buffer.from([255, 2, 1]) }]]);
  });

  test("answers may come in any order", async () => {
    const { map } = await scene();
    expect(await map("later", "later", "now")).toEqual([
      [{ value: "later" }],
      [{ value: "later" }],
      [{ value: "now" }],
    ]);
  });

  test("a thousand messages go through with few in flight", async () => {
    const { map } = await scene({ inFlightMax: 7 });
    const values = Array.from({ length: 1_000 }, (_, n) => ({ do: "double", n }));
    expect(await map(...values)).toEqual(values.map(({ n }) => [{ value: 2 * n }]));
  });

  test("an error is a failure, retriable unless it says otherwise; a wrong answer is final", async () => {
    const { map } = await scene();
    expect(await map("fail", "fail-now", "no-outputs", "bad-output")).toEqual([
      failure(false, "cannot"),
      failure(true, "not now"),
      failure(false, "neither outputs nor error"),
      failure(false, "neither value nor valueBase64"),
    ]);
  });

  test.each([
    ["exit", "exited with code 3"],
    ["hang", "did not answer within 2300 ms"],
    ["long", "wrote a line of more than 50000 bytes"],
  ])(
    "a program that would %s fails that message alone, and is started again",
    async (what, how) => {
      const { map, told } = await scene({
        timeoutMs: 300,
        startMs: 2_000,
        lineBytesMax: 50_000,
        restartMaxMs: 100,
      });
      const values = Array.from({ length: 20 }, (_, n) => (n === 9 ? what : { do: "double", n }));
      expect(await map(...values)).toEqual(
        values.map((_, n) => (n === 9 ? failure(true, how) : [{ value: 2 * n }])),
      );
      expect(told.map(({ text }) => text).join()).toContain("it is started again");
      expect(await map({ do: "double", n: 4 })).toEqual([[{ value: 8 }]]);
    },
  );

  test("a message that the program loses fails once others have overtaken it", async () => {
    const { map } = await scene({ timeoutMs: 300, inFlightMax: 4 });
    const lost = map("lose");
    const isOver = lost.then(() => true);
    do expect(await map({ do: "double", n: 1 })).toEqual([[{ value: 2 }]]);
    while (!(await Promise.race([isOver, Promise.resolve(false)])));
    expect(await lost).toEqual([failure(true, "answered later messages, but not this one")]);
  });

  test("lines that are no answers are told and passed over", async () => {
    const { map, told } = await scene();
    expect(await map("print")).toEqual([[{ value: "printed" }]]);
    const texts = told.map(({ text }) => text);
    expect(texts).toEqual([
      'python3: a line of its output is no JSON object: "debugging"',
      'python3: the answer to "999999", which is not in flight, is ignored',
    ]);
  });

  test("what it writes to stderr is told, a bounded number of lines", async () => {
    const { map, told } = await scene();
    await map({ do: "warn", n: 100 });
    await until("twenty lines", () => told.length >= 20);
    expect(told[0]).toEqual({ level: "warning", text: "python3: warning 0" });
    expect(told.length).toBeLessThan(45);
  });

  test("a program that ends at once fails no message: they wait, and go on once it runs", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-command-"));
    const script = join(folder, "late.py");
    const { map, told, mapper } = await scene({ args: [script], restartMaxMs: 100 });
    const mapping = map({ do: "double", n: 1 });
    await until("it was started four times", () => told.length >= 8);
    expect(told.map(({ text }) => text).join()).toMatch(/exited with code 2; 1 message waits, and/);
    expect(mapper.why?.()).toMatchObject({
      detail: "for python3, which exited with code 2 before it answered anything",
    });
    await copyFile(LINES, script);
    expect(await mapping).toEqual([[{ value: 2 }]]);
    expect(mapper.why?.()).toBeUndefined();
    await rm(folder, { recursive: true });
  });

  test("a message that ends a fresh program fails, and the program is not suspected any more", async () => {
    const { map } = await scene({ restartMaxMs: 100 });
    expect(await map("exit")).toEqual([failure(true, "exited with code 3")]);
    expect(await map({ do: "double", n: 1 })).toEqual([[{ value: 2 }]]);
  });

  test("an abort answers at once, with failures that may be retried", async () => {
    const { mapper } = await scene();
    const stop = new AbortController();
    const mapping = mapper.map([messageOf("lose")], { signal: stop.signal });
    stop.abort(new Error("drained"));
    expect(await mapping).toEqual([failure(true, "drained")]);
  });

  test("closing ends a program that heeds the end of its input, and one that hangs", async () => {
    const idle = await scene();
    await idle.map(1);
    await idle.mapper.close();
    const hung = await scene({ timeoutMs: 60_000 });
    const mapping = hung.map("hang");
    await hung.mapper.close();
    expect(await mapping).toEqual([failure(true, "closed")]);
    expect(await hung.map(1)).toEqual([failure(true, "closed")]);
  });
});

/** A shell whose child outlives it unless it is killed as well; the child's id is in `file`. */
const shell = (file: string): readonly string[] => [
  "-c",
  `sleep 600 & echo $! > '${file}.tmp' && mv '${file}.tmp' '${file}'; wait`,
];

async function started(options: Partial<MapCommandOptions>): Promise<{
  readonly map: MapperScene["map"];
  readonly mapper: Mapper;
  readonly grandchild: number;
}> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-command-"));
  const file = join(folder, "pid");
  const { map, mapper } = await scene({ command: "sh", args: shell(file), ...options });
  await until("the shell has a child", () => existsSync(file));
  const grandchild = Number(readFileSync(file, "utf8"));
  await rm(folder, { recursive: true });
  return { map, mapper, grandchild };
}

test.skipIf(process.platform === "win32").each(["yes", "yes '{'"])(
  "%s, which writes without end, holds up neither its own time-out nor other work of the process",
  async (program) => {
    const over = new AbortController();
    let turnMax = 0;
    const watch = async (): Promise<void> => {
      for (let before = process.cpuUsage(); !over.signal.aborted; before = process.cpuUsage()) {
        await systemTimer.sleep(5);
        turnMax = Math.max(turnMax, process.cpuUsage(before).user / 1_000);
      }
    };
    const watching = watch();
    const { map } = await scene({
      command: "sh",
      args: ["-c", program],
      timeoutMs: 500,
      startMs: 0,
    });
    expect(await map(1)).toEqual([failure(true, "did not answer within 500 ms")]);
    over.abort();
    await watching;
    // CPU time, ms. Without a pause between two chunks one turn took up to 40 s.
    expect(turnMax).toBeLessThan(1_500);
  },
);

describe.skipIf(process.platform === "win32")("a program that has started another one", () => {
  test("ends with it when it does not answer in time", async () => {
    const { map, grandchild } = await started({ timeoutMs: 100, startMs: 0 });
    expect(await map(1)).toEqual([failure(true, "did not answer within 100 ms")]);
    await until("the grandchild has ended", () => !isAlive(grandchild));
  });

  test("ends with it at the close", async () => {
    const { mapper, grandchild } = await started({});
    await mapper.close();
    await until("the grandchild has ended", () => !isAlive(grandchild));
  });

  test("and ends before it is found to have ended", async () => {
    const { map, told } = await scene({
      command: "sh",
      args: ["-c", "sleep 600 & read line; exit 4"],
      restartMaxMs: 100,
    });
    expect(await map(1)).toEqual([failure(true, "exited with code 4")]);
    expect(told[0]?.text).toContain("sh exited with code 4");
  });
});

/** A process that has ended may stay as a zombie where process 1 does not reap. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" && process.platform !== "linux";
  }
}

test("a program that is not there is refused at the opening", async () => {
  const opening = mapCommand({ command: "no-such-program" }).open(connectorScene().context);
  await expect(opening).rejects.toThrow(/command "no-such-program" cannot be started: .*ENOENT/);
});

test("wrong options are refused by name", () => {
  expect(() => mapCommand({ command: "" })).toThrow(/command is ""; use a program/);
  expect(() => mapCommand({ command: "cat", inFlightMax: 0 })).toThrow(/inFlightMax is 0/);
  const misspelt = { command: "cat", timeout: 5 } as unknown as MapCommandOptions;
  expect(() => mapCommand(misspelt)).toThrow(/did you mean timeoutMs/);
});
