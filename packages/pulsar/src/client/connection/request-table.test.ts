import { expect, test } from "vitest";
import { SERVER_ERROR } from "../../wire/constants.ts";
import { ConnectionError } from "../error/connection-error.ts";
import { RequestTable } from "./request-table.ts";
import type { AnswerKind } from "./request-table.ts";

interface Asked {
  readonly id: bigint;
  readonly outcome: () => string;
}

/** Asks, and tells what has become of it. */
function ask(table: RequestTable, expects: AnswerKind, nowMs: number): Asked {
  let outcome = "open";
  const set = (word: string): void => {
    expect(outcome).toMatch(/open|held/);
    outcome = word;
  };
  const id = table.add(
    {
      expects,
      resolve: () => set("answered"),
      reject: (error) => set((error as { code: string }).code),
      onHold: () => set("held"),
    },
    nowMs,
  );
  return { id, outcome: () => outcome };
}

test("each request is settled once: by its answer, its error, or its deadline", () => {
  const table = new RequestTable(100);
  const [first, second, third] = [0, 10, 20].map((nowMs) => ask(table, "success", nowMs));
  if (first === undefined || second === undefined || third === undefined) throw new Error("none");
  table.onAnswer({ kind: "success", body: { requestId: second.id } });
  table.onAnswer({ kind: "success", body: { requestId: second.id } });
  table.onAnswer({ kind: "success", body: { requestId: 77n } });
  table.onAnswer({ kind: "ackResponse", body: { consumerId: 1n } });
  expect(table.dueAtMs).toBe(100);
  table.expire(99);
  expect(first.outcome()).toBe("open");
  table.expire(100);
  table.onError(third.id, SERVER_ERROR.MetadataError, "no");
  table.onError(third.id, SERVER_ERROR.MetadataError, "no");
  expect([first, second, third].map(({ outcome }) => outcome())).toEqual([
    "DEADLINE",
    "answered",
    "BROKER",
  ]);
  expect(table.dueAtMs).toBeUndefined();
});

test("a producer that waits for exclusive access has no deadline, and a lost connection ends it", () => {
  const table = new RequestTable(100);
  const held = ask(table, "producerSuccess", 0);
  const lost = ask(table, "producerSuccess", 0);
  for (const { id: requestId } of [held, lost])
    table.onAnswer({
      kind: "producerSuccess",
      body: { requestId, producerName: "p", producerReady: false },
    });
  table.expire(1_000);
  expect([held.outcome(), lost.outcome()]).toEqual(["held", "held"]);
  const body = { requestId: held.id, producerName: "p", producerReady: true };
  table.onAnswer({ kind: "producerSuccess", body });
  table.failAll(new ConnectionError("lost"));
  expect([held.outcome(), lost.outcome()]).toEqual(["answered", "CONNECTION"]);
});

test("an answer of another kind is a protocol error", () => {
  const table = new RequestTable(100);
  const { id: requestId } = ask(table, "lookupResponse", 0);
  expect(() => table.onAnswer({ kind: "success", body: { requestId } })).toThrow(/lookupResponse/);
});

test("a forgotten request is not settled", () => {
  const table = new RequestTable(100);
  const { id, outcome } = ask(table, "success", 0);
  table.forget(id);
  table.expire(1_000);
  table.failAll(new ConnectionError("lost"));
  expect(outcome()).toBe("open");
});
