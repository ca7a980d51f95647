import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { arbitraryMessage } from "../../test/arbitrary-message.ts";
import { MESSAGE_ID } from "./definition/message-id.ts";
import { MESSAGE_METADATA, SINGLE_MESSAGE_METADATA } from "./definition/metadata.ts";
import { FLOW, SUBSCRIBE } from "./definition/consumer.ts";
import { SEND, SEND_RECEIPT } from "./definition/producer.ts";
import { message } from "./message.ts";
import type { MessageType, WithUnknown } from "./message.ts";
import { ProtocolError } from "./protocol-error.ts";

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");

test("a required field must be there", () => {
  expect(FLOW.decode(hex("08 01 10 02"))).toEqual({ consumerId: 1n, messagePermits: 2 });
  expect(() => FLOW.decode(hex("08 01"))).toThrow(
    new ProtocolError("CommandFlow has no messagePermits"),
  );
});

test("zero is encoded where a value is required", () => {
  expect(FLOW.encode({ consumerId: 0n, messagePermits: 0 })).toEqual(hex("08 00 10 00"));
});

test("64 bits are kept: -1 goes out as ten bytes and comes back as 2^64 - 1", () => {
  const none = MESSAGE_ID.encode({ ledgerId: -1n, entryId: 2n ** 63n - 1n });
  expect(none).toEqual(hex("08 ffffffffffffffffff01 10 ffffffffffffffff7f"));
  expect(MESSAGE_ID.decode(none)).toEqual({ ledgerId: 2n ** 64n - 1n, entryId: 2n ** 63n - 1n });
});

test("an int32 of -1 takes ten bytes", () => {
  const id = { ledgerId: 1n, entryId: 2n, partition: -1 };
  const encoded = MESSAGE_ID.encode(id);
  expect(encoded).toEqual(hex("08 01 10 02 18 ffffffffffffffffff01"));
  expect(MESSAGE_ID.decode(encoded)).toEqual(id);
});

test("unknown fields are encoded again as they came", () => {
  const strange = hex("f8 06 2a c2 3e 03 616263 fd 3e 01020304");
  const decoded = FLOW.decode(Buffer.concat([strange, hex("08 01 10 02")]));
  expect(decoded.consumerId).toBe(1n);
  expect(FLOW.encode(decoded)).toEqual(Buffer.concat([hex("08 01 10 02"), strange]));
});

test("a field with another wire type is unknown", () => {
  const decoded = FLOW.decode(hex("0a 01 61 08 01 10 02"));
  expect(decoded).toMatchObject({ consumerId: 1n, unknown: [hex("0a 01 61")] });
});

test("repeated numbers may come packed or one by one", () => {
  const id = { ledgerId: 1n, entryId: 2n };
  expect(MESSAGE_ID.decode(hex("08 01 10 02 28 03 28 04"))).toEqual({ ...id, ackSet: [3n, 4n] });
  expect(MESSAGE_ID.decode(hex("08 01 10 02 2a 02 03 04"))).toEqual({ ...id, ackSet: [3n, 4n] });
});

test("the last value of a repeated scalar counts", () => {
  expect(FLOW.decode(hex("08 01 08 07 10 02")).consumerId).toBe(7n);
});

describe("input that no peer sends is refused", () => {
  const nested = (levels: number): Buffer => {
    let id = hex("08 01 10 02");
    for (let level = 0; level < levels; level++)
      id = Buffer.concat([hex("08 01 10 02 3a"), lengthOf(id), id]);
    return id;
  };
  const cases: Readonly<Record<string, Buffer>> = {
    "a varint of eleven bytes": hex("08 ffffffffffffffffffff01 10 02"),
    "a varint that is cut short": hex("08 80"),
    "a length beyond the end": hex("08 01 10 02 7a 05 61"),
    "a field number of zero": hex("00 01"),
    "a wire type that does not exist": hex("0f"),
    "a group that ends without a start": hex("0c"),
    "a group without an end": hex("0b 08 01"),
    "groups 10,000 deep": Buffer.alloc(10_000, 0x0b),
    "messages 100 deep": nested(100),
  };

  test.each(Object.keys(cases))("%s", (name) => {
    expect(() => MESSAGE_ID.decode(cases[name] ?? Buffer.alloc(0))).toThrow(ProtocolError);
  });

  test("moderate nesting is accepted", () => {
    expect(MESSAGE_ID.decode(nested(30)).firstChunk).toBeDefined();
    expect(FLOW.decode(hex("08 01 10 02 7b 7b 08 01 7c 7c")).unknown).toHaveLength(1);
  });
});

test("a decoded message equals the encoded one", () => {
  fc.assert(
    fc.property(arbitraryMessage(SUBSCRIBE), (subscribe) => {
      expect(SUBSCRIBE.decode(SUBSCRIBE.encode(subscribe))).toEqual(subscribe);
    }),
  );
});

describe("hand-written codecs do what the definition says", () => {
  const types: readonly MessageType<WithUnknown>[] = [
    MESSAGE_ID,
    SEND,
    SEND_RECEIPT,
    MESSAGE_METADATA,
    SINGLE_MESSAGE_METADATA,
  ];

  test.each(types.map((type) => [type.name, type] as const))("%s", (_name, type) => {
    const defined = message(type.name, type.fields);
    const strange = fc.constantFrom(undefined, [hex("f8 06 2a")]);
    fc.assert(
      fc.property(arbitraryMessage(type), strange, (fields, unknown) => {
        const value = { ...fields, ...(unknown && { unknown }) };
        const encoded = type.encode(value);
        expect(encoded).toEqual(defined.encode(value));
        expect(type.decode(encoded)).toEqual(defined.decode(encoded));
        expect(type.decode(encoded)).toEqual(value);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(outcomeOf(type, bytes)).toEqual(outcomeOf(defined, bytes));
      }),
    );
  });
});

function outcomeOf<T>(type: MessageType<T>, bytes: Uint8Array): unknown {
  try {
    return type.decode(bytes);
  } catch (error) {
    return error;
  }
}

function lengthOf(bytes: Uint8Array): Buffer {
  const { length } = bytes;
  return Buffer.from(length < 128 ? [length] : [(length & 127) | 128, length >> 7]);
}
