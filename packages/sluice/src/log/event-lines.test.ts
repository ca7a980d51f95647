import { VirtualTimer } from "@sluice/core/testing";
import { EventFeed } from "@sluice/gateway/admin";
import { expect, test } from "vitest";
import { EventLines } from "./event-lines.ts";

function scene(isJson = false): {
  readonly timer: VirtualTimer;
  readonly feed: EventFeed;
  readonly log: EventLines;
  readonly lines: string[];
} {
  const timer = new VirtualTimer();
  const lines: string[] = [];
  const feed = new EventFeed(timer);
  const log = new EventLines({ timer, wallClock: timer }, isJson, (line) => lines.push(line));
  feed.listen((event) => log.tell(event), 0);
  return { timer, feed, log, lines };
}

const REFUSED = { kind: "client-refused", address: "10.0.0.1:5", reason: "a bad token" } as const;

test("an event is one line with its time, its kind and a sentence", () => {
  const { feed, lines } = scene();
  feed.push(REFUSED);
  expect(lines).toEqual([
    "1970-01-01T00:00:00.000Z client-refused the client 10.0.0.1:5 was refused: a bad token",
  ]);
});

test("with JSON it is one object with level, time and msg as pino's, the kind as event, and the facts", () => {
  const { feed, lines } = scene(true);
  feed.push({ kind: "topic-stopped", topic: "t", error: new Error("damaged") });
  expect(lines).toEqual([
    '{"level":"error","time":"1970-01-01T00:00:00.000Z","event":"topic-stopped","msg":"t has stopped: damaged","topic":"t","error":"damaged"}',
  ]);
});

test.each([
  [{ kind: "vertex-request-limited", subject: "a/b", text: "request limited" }, "warn"],
  [{ kind: "vertex-throttled", subject: "a/b", text: "a/b waits" }, "info"],
  [{ kind: "pipeline-failed", subject: "a", text: "a failed" }, "error"],
  [{ kind: "vertex-connector", subject: "a/b", text: "lost", level: "warning" }, "warn"],
  [{ kind: "vertex-connector", subject: "a/b", text: "listens", level: "info" }, "info"],
] as const)("the level of %o is %s", (event, level) => {
  const { feed, lines } = scene(true);
  feed.push(event);
  const { text: msg, kind, subject } = event;
  expect(JSON.parse(lines[0] ?? "")).toEqual({
    level,
    time: "1970-01-01T00:00:00.000Z",
    event: kind,
    msg,
    subject,
  });
});

test("a line of JSON stays whole, however long a name in it is", () => {
  const { feed, lines } = scene(true);
  feed.push({ ...REFUSED, reason: "\u{1F600}".repeat(5_000) });
  const { msg, reason } = JSON.parse(lines[0] ?? "") as Readonly<Record<string, string>>;
  expect([msg?.length, reason?.length]).toEqual([1_000, 1_000]);
});

test("with JSON the line that counts the rest has its level and time too", async () => {
  const { timer, feed, lines } = scene(true);
  for (let count = 0; count < 12; count++) feed.push(REFUSED);
  await timer.advance(10_000);
  expect(JSON.parse(lines.at(-1) ?? "")).toEqual({
    level: "warn",
    time: "1970-01-01T00:00:10.000Z",
    event: "client-refused",
    suppressed: 2,
    msg: "2 more events of this kind within 10 s",
  });
});

test("a storm of one kind is counted, and other kinds are still told", async () => {
  const { timer, feed, lines } = scene();
  for (let count = 0; count < 1_000; count++) feed.push(REFUSED);
  feed.push({ kind: "memory-free", bytes: 1 });
  expect(lines).toHaveLength(11);
  await timer.advance(10_000);
  expect(lines.at(-1)).toBe("client-refused 990 more events of this kind within 10 s");
  feed.push(REFUSED);
  expect(lines).toHaveLength(13);
});

test("a store that is away is a line for each vertex and 5 s, with the failed syncs since the last one, until it is back", async () => {
  const { timer, feed, lines } = scene(true);
  for (let half = 0; half < 24; half++) {
    for (const subject of ["a/in", "a/out"])
      feed.push({ kind: "vertex-sync-failed", subject, text: `${subject}: refused` });
    await timer.advance(500);
  }
  const told = lines.map((line) => JSON.parse(line) as { readonly [key: string]: unknown });
  expect(
    told.filter(({ subject }) => subject === "a/in").map(({ msg, failures }) => [msg, failures]),
  ).toEqual([
    ["a/in: refused", undefined],
    ["a/in: refused (10 syncs failed since the last line)", 10],
    ["a/in: refused (10 syncs failed since the last line)", 10],
  ]);
  expect(told).toHaveLength(6);
  feed.push({ kind: "vertex-sync-back", subject: "a/in", text: "a/in: back" });
  feed.push({ kind: "vertex-sync-failed", subject: "a/in", text: "a/in: refused" });
  expect(lines.slice(6).map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
    "a/in: back",
    "a/in: refused",
  ]);
});

test("what was counted when it closes is told", () => {
  const { feed, log, lines } = scene();
  for (let count = 0; count < 12; count++) feed.push(REFUSED);
  log.close();
  expect(lines.at(-1)).toContain("2 more events");
});

test("a name with control characters cannot forge a line", () => {
  const { feed, lines } = scene();
  feed.push({ ...REFUSED, reason: "x\n1970-01-01T00:00:00.000Z error forged\u001B[2J" });
  expect(lines[0]).not.toMatch(/\p{C}/u);
});
