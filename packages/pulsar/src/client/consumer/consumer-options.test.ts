import { describe, expect, test } from "vitest";
import { MessageId } from "../message/message-id.ts";
import { consumerSettingsOf } from "./consumer-options.ts";
import type { ConsumerOptions } from "./consumer-options.ts";

const GOOD: ConsumerOptions = { topic: "t", subscription: "s" };

test.each<[Partial<ConsumerOptions> & Record<string, unknown>, string]>([
  [{ subscriptions: "s" }, 'subscribe has no option "subscriptions"; did you mean subscription?'],
  [{ subscription: "" }, 'subscription is ""; use a text'],
  [{ topic: undefined }, "one of topic, topics and topicsPattern"],
  [{ topics: ["u"] }, "one of topic, topics and topicsPattern"],
  [{ topic: undefined, topics: [] }, "topics has 0"],
  [{ topic: "a/b" }, 'topic "a/b" has 2 parts'],
  [{ namespace: "public/default" }, "namespace is for topicsPattern; write"],
  [{ topic: undefined, topicsPattern: /a/, namespace: "public" }, "namespace is not valid; write"],
  [
    { type: "Shared" as "shared" },
    'type is "Shared"; use one of exclusive, shared, failover, keyShared; did you mean "shared"?',
  ],
  [{ initialPosition: "earlist" as "earliest" }, 'initialPosition is "earlist"'],
  [{ topic: undefined, topicsPattern: "a" as never }, 'topicsPattern is "a"; use a RegExp'],
  [{ topic: 5 as never }, "topic is number; write"],
  [{ durable: false, startMessageId: "1:1" as never }, 'startMessageId is "1:1"; use a MessageId'],
  [{ properties: { a: 5 as never } }, 'property "a" is 5; use a string'],
  [{ startMessageId: MessageId.earliest }, "startMessageId needs durable: false"],
  [{ type: "shared", readCompacted: true }, "readCompacted is not possible with the type shared"],
  [{ receiverQueueSize: 0 }, "receiverQueueSize is 0"],
  [{ messageBytesMax: 0.5 }, "messageBytesMax is 0.5"],
  [{ ackTimeoutMs: 10 }, "ackTimeoutMs is 10"],
  [{ nackRedeliveryDelayMs: -1 }, "nackRedeliveryDelayMs is -1"],
])("%o is refused: %s", (options, why) => {
  expect(() => consumerSettingsOf({ ...GOOD, ...options })).toThrow(why);
});

describe("topics", () => {
  test("are resolved to full names, without duplicates", () => {
    const topics = ["t", "public/default/t", "persistent://public/default/u"];
    const { selection } = consumerSettingsOf({ subscription: "s", topics });
    expect(selection).toEqual({
      kind: "named",
      topics: ["persistent://public/default/t", "persistent://public/default/u"],
    });
  });

  test("are matched by a pattern without the flags g and y, which keep state", () => {
    const { selection } = consumerSettingsOf({ subscription: "s", topicsPattern: /a/giy });
    if (selection.kind !== "pattern") expect.unreachable();
    expect(selection.pattern).toEqual(/a/i);
  });
});
