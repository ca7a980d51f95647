import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { arbitraryCommand, COMMAND_KINDS } from "../../test/arbitrary-command.ts";
import { decodeFrame, encodeFrame, encodeFrameHead, encodeSendFrame } from "./frame.ts";
import { typeOf } from "./command.ts";
import { ProtocolError } from "./protocol-error.ts";

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");

test("a ping is fourteen bytes", () => {
  const ping = hex("00000009 00000005 08 12 9201 00");
  expect(encodeFrame({ kind: "ping", body: {} })).toEqual(ping);
  expect(decodeFrame(ping).command).toEqual({ kind: "ping", body: {} });
});

describe("every command is decoded as it was encoded", () => {
  test.each(COMMAND_KINDS)("%s", (kind) => {
    fc.assert(
      fc.property(arbitraryCommand(kind), fc.uint8Array({ maxLength: 50 }), (command, entry) => {
        const head = encodeFrameHead(command, entry.length);
        const frame = decodeFrame(Buffer.concat([head, entry]));
        expect(frame.command).toEqual(command);
        expect(Buffer.compare(frame.entry, entry)).toBe(0);
        expect(frame.bytes.readUInt32BE(0)).toBe(frame.bytes.length - 4);
      }),
      { numRuns: 30 },
    );
  });
});

test("each kind has a type of its own", () => {
  expect(new Set(COMMAND_KINDS.map(typeOf)).size).toBe(COMMAND_KINDS.length);
});

test("an unknown command passes unchanged", () => {
  const frame = hex("0000000c 00000008 08 e907 ca3e 02 0805");
  const { command } = decodeFrame(frame);
  expect(command).toMatchObject({ kind: "unknown", type: 1001 });
  expect(encodeFrame(command)).toEqual(frame);
});

test("a body may come before its type, and beside bodies of other types", () => {
  const flow = "5a 04 0801 1002";
  const body = hex(`${flow} 9201 00 08 0b`);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(4 + body.length, 0);
  head.writeUInt32BE(body.length, 4);
  const { command } = decodeFrame(Buffer.concat([head, body]));
  expect(command).toEqual({ kind: "flow", body: { consumerId: 1n, messagePermits: 2 } });
});

test.each([
  ["no type", "00000004 00000000"],
  ["no body", "00000006 00000002 08 12"],
  ["the body of another", "00000009 00000005 08 13 9201 00"],
  ["a command beyond the frame", "00000006 00000003 08 12"],
])("a command with %s is refused", (_what, frame) => {
  expect(() => decodeFrame(hex(frame))).toThrow(ProtocolError);
});

test("a SEND frame is its head and its entry", () => {
  const send = { producerId: 1n, sequenceId: 2n, numMessages: 3, highestSequenceId: 4n };
  const metadata = { producerName: "p", sequenceId: 2n, publishTime: 3n };
  const frame = encodeSendFrame(send, metadata, Buffer.from("payload"));
  const { command, entry } = decodeFrame(frame);
  expect(command).toEqual({ kind: "send", body: send });
  const head = encodeFrameHead(command, entry.length);
  expect(frame).toEqual(Buffer.concat([head, entry]));
});
