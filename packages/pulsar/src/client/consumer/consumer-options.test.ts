import { describe, expect, test } from "vitest";
import { MessageId } from "../message/message-id.ts";
import { consumerSettingsOf } from "./consumer-options.ts";
import type { ConsumerOptions } from "./consumer-options.ts";

const GOOD: ConsumerOptions = { topic: "t", subscription: "s" };

test.each<[Partial<ConsumerOptions> & Record<string, unknown>, string]>([
  [{ subscriptions: "s" }, 'a consumer has no option "subscriptions"'],
  [{ subscription: "" }, "subscription is empty"],
  [{ topic: undefined }, "one of topic, topics and topicsPattern"],
  [{ topics: ["u"] }, "one of topic, topics and topicsPattern"],
  [{ topic: undefined, topics: [] }, "topics has 0"],
  [{ topic: "a/b" }, 'topic "a/b" has 2 parts'],
  [{ namespace: "public/default" }, "namespace is for topicsPattern only"],
  [{ topic: undefined, topicsPattern: /a/, namespace: "public" }, "a namespace is written"],
  [{ type: "Shared" as "shared" }, 'type is "Shared"'],
  [{ initialPosition: "earlist" as "earliest" }, 'initialPosition is "earlist"'],
  [{ topic: undefined, topicsPattern: "a" as never }, "topicsPattern must be a RegExp"],
  [{ topic: 5 as never }, "a topic must have a name"],
  [{ durable: false, startMessageId: "1:1" as never }, "startMessageId must be a MessageId"],
  [{ properties: { a: 5 as never } }, 'property "a" must be a string'],
  [{ startMessageId: MessageId.earliest }, "startMessageId is for durable: false"],
  [{ type: "shared", readCompacted: true }, "readCompacted needs"],
  [{ receiverQueueSize: 0 }, "receiverQueueSize is 0"],
  [{ messageBytesMax: 0.5 }, "messageBytesMax is 0.5"],
  [{ ackTimeoutMs: 10 }, "ackTimeoutMs is 10"],
  [{ nackRedeliveryDelayMs: -1 }, "nackRedeliveryDelayMs is -1"],
])("%o is refused: %s", (options, why) => {
  expect(() => consumerSettingsOf({ ...GOOD, ...options })).toThrow(why);
});

describe("topics", () => {
  test("are meant by their full names, each once", () => {
    const topics = ["t", "public/default/t", "persistent://public/default/u"];
    const { selection } = consumerSettingsOf({ subscription: "s", topics });
    expect(selection).toEqual({
      kind: "named",
      topics: ["persistent://public/default/t", "persistent://public/default/u"],
    });
  });

  test("are matched by a pattern that forgets where it matched last", () => {
    const { selection } = consumerSettingsOf({ subscription: "s", topicsPattern: /a/giy });
    if (selection.kind !== "pattern") expect.unreachable();
    expect(selection.pattern).toEqual(/a/i);
  });
});
