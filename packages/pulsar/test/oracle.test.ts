import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../src/wire/command.ts";
import {
  BROKER_ENTRY_METADATA,
  MESSAGE_METADATA,
  SINGLE_MESSAGE_METADATA,
} from "../src/wire/definition/metadata.ts";
import type { MessageType } from "../src/wire/message.ts";
import { arbitraryMessage } from "./arbitrary-message.ts";
import { forOracle, oracleOf } from "./protobufjs-oracle.ts";

const types = [
  ...Object.values(COMMANDS).map(({ body }) => body as MessageType<object>),
  MESSAGE_METADATA as MessageType<object>,
  SINGLE_MESSAGE_METADATA as MessageType<object>,
  BROKER_ENTRY_METADATA as MessageType<object>,
];

describe("protobufjs decodes what this package encodes, and the other way round", () => {
  test.each(types.map((type) => [type.name, type] as const))("%s", (_name, type) => {
    const oracle = oracleOf(type);
    fc.assert(
      fc.property(arbitraryMessage(type), (message) => {
        const theirs = oracle.encode(oracle.fromObject(forOracle(message) as object)).finish();
        expect(type.decode(theirs)).toEqual(message);
        const read = oracle.toObject(oracle.decode(type.encode(message)), { longs: String });
        expect(read).toEqual(forOracle(message));
      }),
      { numRuns: 50 },
    );
  });
});
