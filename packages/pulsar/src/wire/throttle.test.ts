import { expect, test } from "vitest";
import { decodeFrame, encodeFrame } from "./frame.ts";
import { ThrottleCodec, THROTTLE_NUMBERS, throttlingReasonOf } from "./throttle.ts";
import type { ThrottleCommand } from "./throttle.ts";
import type { UnknownCommand } from "./command.ts";
import { COMMANDS } from "./command.ts";

const notice: ThrottleCommand = {
  kind: "throttleProducer",
  body: { requestId: 7n, producerId: 3n, throttlingReason: 4, pauseForMillis: 619n },
};
const receipt: ThrottleCommand = { kind: "throttleProducerReceipt", body: { requestId: 7n } };

test.each([
  [notice, "000000130000000f08e907ca3e0908071003200428eb04"],
  [receipt, "0000000c0000000808ea07d23e020807"],
])("a throttle command is the document's message in the field of its type", (command, hex) => {
  const codec = new ThrottleCodec();
  const frame = encodeFrame(codec.encode(command));
  expect(frame.toString("hex")).toBe(hex);
  const decoded = decodeFrame(frame).command as UnknownCommand;
  expect([decoded.kind, codec.decode(decoded)]).toEqual(["unknown", command]);
});

test("other numbers are other commands", () => {
  const codec = new ThrottleCodec({ throttleProducer: 500, throttleProducerReceipt: 501 });
  expect(codec.decode(codec.encode(notice))).toEqual(notice);
  expect(new ThrottleCodec().decode(codec.encode(notice))).toBeUndefined();
});

/** The flags as a broker reads them from CONNECT. */
function connect(featureFlags: object): unknown {
  const bytes = COMMANDS.connect.body.encode({ clientVersion: "test", featureFlags });
  return COMMANDS.connect.body.decode(bytes).featureFlags;
}

test("the feature flag survives the wire and is found, and no other flag is taken for it", () => {
  const codec = new ThrottleCodec();
  const announced = connect(codec.announceIn({ supportsAuthRefresh: true }));
  expect(announced).toMatchObject({ supportsAuthRefresh: true });
  expect(codec.isAnnouncedIn(announced as object)).toBe(true);
  expect(codec.isAnnouncedIn(codec.withoutFlag(announced as object))).toBe(false);
  expect(codec.isAnnouncedIn(connect({ supportsReplDedupByLidAndEid: true }) as object)).toBe(
    false,
  );
  expect(new ThrottleCodec({ featureFlag: 1002 }).isAnnouncedIn(announced as object)).toBe(false);
  expect(codec.isAnnouncedIn(undefined)).toBe(false);
});

test("numbers that Pulsar or protobuf use, and two of the same, are refused", () => {
  expect(() => new ThrottleCodec({ featureFlag: 6 })).toThrow("featureFlag");
  expect(() => new ThrottleCodec({ throttleProducer: 19_000 })).toThrow("throttleProducer");
  const { throttleProducer } = THROTTLE_NUMBERS;
  expect(() => new ThrottleCodec({ throttleProducerReceipt: throttleProducer })).toThrow(
    "a number of its own",
  );
});

test("reasons of the wire have our names, unknown ones have none", () => {
  expect([0, 1, 2, 3, 4, 5].map(throttlingReasonOf)).toEqual([
    "topic-rate",
    "group-rate",
    "connection-pending",
    "memory",
    "broker-rate",
    undefined,
  ]);
});
