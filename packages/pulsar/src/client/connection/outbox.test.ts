import { expect, test } from "vitest";
import type { Command } from "../../wire/command.ts";
import { decodeFrame } from "../../wire/frame.ts";
import { Outbox } from "./outbox.ts";

const PONG: Command = { kind: "pong", body: {} };

function receipt(type: number): Command {
  return { kind: "unknown", type, bytes: Buffer.from([8, type]) };
}

/** An outbox whose transport takes nothing more until it is drained. */
function stalled() {
  const written: Command[] = [];
  let isTaking = false;
  let unread = 0;
  const outbox = new Outbox(() => unread++);
  outbox.open({
    start: () => undefined,
    write: (bytes) => {
      written.push(decodeFrame(Buffer.from(bytes)).command);
      return isTaking;
    },
    close: () => undefined,
  });
  outbox.reply(receipt(1));
  written.length = 0;
  const drain = (): void => {
    isTaking = true;
    outbox.onDrain();
  };
  return { outbox, written, drain, unread: () => unread };
}

test("replies wait for a writable connection in order, and PONG only once", () => {
  const { outbox, written, drain } = stalled();
  for (const reply of [receipt(91), PONG, receipt(92), PONG]) outbox.reply(reply);
  expect(written).toEqual([]);
  drain();
  expect(written).toEqual([receipt(91), PONG, receipt(92)]);
  outbox.reply(PONG);
  expect(written.at(-1)).toEqual(PONG);
});

test("replies that do not fit after a drain wait for the next one", () => {
  const { outbox, written } = stalled();
  for (const reply of [receipt(91), receipt(92)]) outbox.reply(reply);
  outbox.onDrain();
  expect(written).toEqual([receipt(91)]);
  outbox.onDrain();
  expect(written).toEqual([receipt(91), receipt(92)]);
});

test("the 1,001st reply means that the peer does not read; a receipt is dropped instead", () => {
  const { outbox, written, drain, unread } = stalled();
  for (let count = 0; count < 1_000; count++) outbox.reply(receipt(91));
  outbox.receipt(receipt(92));
  expect(unread()).toBe(0);
  outbox.reply(receipt(92));
  expect(unread()).toBe(1);
  drain();
  expect(written).toHaveLength(1_000);
  outbox.receipt(receipt(93));
  expect(written.at(-1)).toEqual(receipt(93));
});
