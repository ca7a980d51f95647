import { describe, expect, test } from "vitest";
import type { LiveNotice } from "../../../../src/live/live-message.ts";
import { plainText } from "../../words/phrase.ts";
import type { ProducerView } from "./limit-view.ts";
import { NOTICES_MS, noticeWords, withNotices } from "./notice-log.ts";
import { inOrder, nextOrder } from "./producer-order.ts";
import { tilesOf, turnWords } from "./turn-words.ts";

const row = (name: string, more: Partial<ProducerView> = {}): ProducerView => ({
  name,
  topic: "t",
  isAware: false,
  rate: 0,
  isAskedAtLeast: false,
  heldFrames: 0,
  heldBytes: 0,
  ...more,
});

const namesOf = (all: readonly ProducerView[]): string => all.map(({ name }) => name).join("");

const notice = (atMs: number, receiptAfterMs?: number): LiveNotice => ({
  atMs,
  producer: "p",
  pauseMs: 600,
  receiptAfterMs,
});

describe("the order of producers", () => {
  const rows = [row("b", { rate: 5 }), row("a", { rate: 1 }), row("c", { rate: 9 })];

  test("rows stay in the order of names until a column is chosen", () => {
    expect(namesOf(inOrder(rows, undefined))).toBe("abc");
  });

  test("a column begins with the largest, and a second press turns it round", () => {
    const first = nextOrder(undefined, "gets");
    expect(namesOf(inOrder(rows, first))).toBe("cba");
    expect(namesOf(inOrder(rows, nextOrder(first, "gets")))).toBe("abc");
  });

  test("names begin with the first letter", () => {
    expect(nextOrder(undefined, "producer")).toEqual({ column: "producer", isDescending: false });
  });
});

describe("turns", () => {
  test("every producer has a letter of its own, its first if that is free", () => {
    const tiles = tilesOf(["billing", "bulk", "b", "checkout"]);
    expect([...tiles.values()].map(({ letter }) => letter)).toEqual(["b", "u", "a", "c"]);
  });

  test("the words name those that take turns and those that go first", () => {
    const rows = [
      row("checkout", { rate: 9 }),
      row("bulk", { reason: "topic-rate", rate: 5, asked: 50 }),
    ];
    expect(plainText(turnWords(rows, tilesOf(["checkout", "bulk"])))).toBe(
      "b bulk waits for each turn; c checkout asks for less than a turn and goes first.",
    );
    expect(plainText(turnWords([], tilesOf([])))).toBe(
      "Nobody waits, so everyone goes as they come.",
    );
  });
});

describe("notices", () => {
  test("those of the last five minutes are kept, each once", () => {
    const kept = withNotices(
      [notice(1), notice(1_000)],
      [notice(1_000), notice(2_000)],
      NOTICES_MS + 500,
    );
    expect(kept.map(({ atMs }) => atMs)).toEqual([1_000, 2_000]);
  });

  test("the words count receipts, late ones and missing ones", () => {
    expect(plainText(noticeWords([notice(1, 10), notice(2, 30)]))).toBe(
      "2 notices to 1 aware producer, 2 receipts after 20 ms on average, none late.",
    );
    expect(plainText(noticeWords([notice(1, 150), notice(2)]))).toBe(
      "2 notices to 1 aware producer, 1 receipt after 150 ms on average, 1 late, 1 missing.",
    );
    expect(plainText(noticeWords([]))).toBe("No notice was needed.");
  });
});
