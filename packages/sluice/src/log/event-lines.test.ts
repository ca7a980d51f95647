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
  const log = new EventLines(timer, isJson, (line) => lines.push(line));
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

test("with JSON it is one object", () => {
  const { feed, lines } = scene(true);
  feed.push({ kind: "topic-stopped", topic: "t", error: new Error("damaged") });
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      time: "1970-01-01T00:00:00.000Z",
      event: "topic-stopped",
      topic: "t",
      error: "damaged",
      text: "t has stopped: damaged",
    },
  ]);
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
