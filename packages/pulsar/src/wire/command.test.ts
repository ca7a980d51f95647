import { expect, test } from "vitest";
import { COMMANDS, CommandTable, PULSAR_COMMANDS } from "./command.ts";
import type { CommandBodies } from "./command.ts";
import { decodeFrame, decodeFrameBy, encodeFrame, encodeFrameBy } from "./frame.ts";
import { message, optional, required, string, uint64 } from "./message.ts";
import type { MessageType, WithUnknown } from "./message.ts";

interface CommandHold extends WithUnknown {
  readonly producerId: bigint;
  readonly reason?: string | undefined;
}

const HOLD: MessageType<CommandHold> = message("CommandHold", {
  producerId: required(1, uint64),
  reason: optional(2, string),
});

interface More {
  readonly hold: CommandHold;
}

const MORE = new CommandTable<CommandBodies & More>({
  ...COMMANDS,
  hold: { type: 1001, body: HOLD },
});

test("a connection with a table of its own understands more commands; others pass them on unchanged", () => {
  const hold = { kind: "hold", body: { producerId: 7n, reason: "rate" } } as const;
  const frame = encodeFrameBy(MORE, hold);
  expect(decodeFrameBy(MORE, frame).command).toEqual(hold);
  const { command } = decodeFrame(frame);
  expect(command).toMatchObject({ kind: "unknown", type: 1001 });
  expect(encodeFrame(command)).toEqual(frame);
});

test("an extended table still understands all of Pulsar's commands", () => {
  const ping = encodeFrame({ kind: "ping", body: {} });
  expect(decodeFrameBy(MORE, ping).command).toEqual(decodeFrameBy(PULSAR_COMMANDS, ping).command);
});

test("a table in which two commands have one type is refused", () => {
  const twice = { ...COMMANDS, hold: { type: 6, body: HOLD } };
  expect(() => new CommandTable<CommandBodies & More>(twice)).toThrow("the same type");
});
