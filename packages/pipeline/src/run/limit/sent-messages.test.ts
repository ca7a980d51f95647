import { expect, test } from "vitest";
import { SentMessages } from "./sent-messages.ts";

test("a message that is sent again counts once more, and those that are not sent yet still count", () => {
  const sent = new SentMessages();
  const write = sent.begin(3, true, 0);
  write.onSent(1, 0, false);
  for (const atMs of [100, 200]) write.onSent(1, atMs, true);
  expect([sent.pending, sent.sum(200)]).toEqual([2, 5]);
  expect(sent.sum(1200)).toBe(2);
  write.end();
  expect([sent.pending, sent.sum(1200)]).toEqual([0, 0]);
});

test("a sink that does not tell has sent all of a write at its start", () => {
  const sent = new SentMessages();
  sent.begin(3, false, 0);
  expect([sent.pending, sent.sum(0)]).toEqual([0, 3]);
});
