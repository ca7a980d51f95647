import { EARLIEST_ID, LATEST_ID, NO_ID } from "@sluice/pulsar/wire";
import { expect, test } from "vitest";
import { messageIdOf, positionOf, startPointOf } from "./message-id.ts";

const earliest = { ledgerId: EARLIEST_ID, entryId: EARLIEST_ID };
const latest = { ledgerId: LATEST_ID, entryId: LATEST_ID };
const id = { ledgerId: 3n, entryId: 7n };
const position = { ledgerId: 3, entryId: 7 };

test("an id and its position name the same entry", () => {
  expect(positionOf(id)).toEqual(position);
  expect(messageIdOf(position)).toEqual(id);
  expect(positionOf({ ledgerId: 3n, entryId: NO_ID })).toEqual({ ledgerId: 3, entryId: -1 });
});

test("a start or a seek goes to the entry itself", () => {
  expect(startPointOf(earliest)).toEqual({ kind: "earliest" });
  expect(startPointOf(id)).toEqual({ kind: "at", position });
  expect(startPointOf(latest)).toMatchObject({ kind: "at", position: { ledgerId: 2 ** 63 } });
});
