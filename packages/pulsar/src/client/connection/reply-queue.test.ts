import { expect, test } from "vitest";
import type { Command } from "../../wire/command.ts";
import { ReplyQueue } from "./reply-queue.ts";

const PONG: Command = { kind: "pong", body: {} };

function receipt(type: number): Command {
  return { kind: "unknown", type, bytes: Buffer.from([8, type]) };
}

test("replies are kept in order, and PONG only once", () => {
  const replies = new ReplyQueue();
  for (const reply of [receipt(1), PONG, receipt(2), PONG]) expect(replies.add(reply)).toBe(true);
  expect(replies.takeAll()).toEqual([receipt(1), PONG, receipt(2)]);
  expect(replies.takeAll()).toEqual([]);
});

test("the 1,001st reply is refused, and there is room again after the queue was taken", () => {
  const replies = new ReplyQueue();
  for (let count = 0; count < 1_000; count++) expect(replies.add(receipt(1))).toBe(true);
  expect(replies.add(receipt(1))).toBe(false);
  expect(replies.takeAll()).toHaveLength(1_000);
  expect(replies.add(receipt(1))).toBe(true);
});
