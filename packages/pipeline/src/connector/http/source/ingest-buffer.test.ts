import { expect, test } from "vitest";
import { IngestBuffer, IngestRequest } from "./ingest-buffer.ts";
import type { Message } from "../../../message.ts";
import type { IngestOutcome } from "./ingest-buffer.ts";

function requestOf(values: readonly unknown[]): {
  request: IngestRequest;
  outcomes: IngestOutcome[];
} {
  const outcomes: IngestOutcome[] = [];
  const contents = values.map((value) => ({ id: String(value), value, headers: {} }));
  return { request: new IngestRequest(contents, (outcome) => outcomes.push(outcome)), outcomes };
}

test("a request is taken whole or not at all", () => {
  const buffer = new IngestBuffer(3);
  expect(buffer.offer(requestOf([1, 2]).request)).toBe(true);
  expect(buffer.offer(requestOf([3, 4]).request)).toBe(false);
  expect([buffer.queued, buffer.room]).toEqual([2, 1]);
  expect(buffer.take(1).map(({ value }) => value)).toEqual([1]);
  expect(buffer.offer(requestOf([3, 4]).request)).toBe(true);
  expect(buffer.take(9).map(({ value }) => value)).toEqual([2, 3, 4]);
});

test("a request ends with its last acknowledgement, once, however often a message is acknowledged", () => {
  const buffer = new IngestBuffer(9);
  const { request, outcomes } = requestOf([1, 2]);
  buffer.offer(request);
  const [first, second] = buffer.take(9);
  buffer.ack([first as Message, first as Message, { id: "x", value: 0, headers: {} }]);
  expect(outcomes).toEqual([]);
  buffer.ack([second as Message]);
  buffer.close();
  expect(outcomes).toEqual(["acknowledged"]);
});

test("messages that are given back are read again, unless their request is over", () => {
  const buffer = new IngestBuffer(9);
  const { request, outcomes } = requestOf([1, 2]);
  buffer.offer(request);
  const taken = buffer.take(1);
  buffer.putBack(taken);
  expect(buffer.take(9).map(({ value }) => value)).toEqual([2, 1]);
  buffer.withdraw(request);
  buffer.putBack(taken);
  expect([buffer.queued, outcomes]).toEqual([0, ["withdrawn"]]);
});

test("closing ends every request, those that were read too", () => {
  const buffer = new IngestBuffer(9);
  const [read, waiting] = [requestOf([1]), requestOf([2])];
  buffer.offer(read.request);
  buffer.take(1);
  buffer.offer(waiting.request);
  buffer.close();
  expect([read.outcomes, waiting.outcomes, buffer.queued]).toEqual([["closed"], ["closed"], 0]);
});
