import { decodeFrame, encodeFrame } from "@sluice/pulsar/wire";
import { expect, test } from "vitest";
import { topicsFrame } from "./topics-frame.ts";

test.each([0, 1, 3, 10_000])(
  "an answer with %i topics reads like one that is encoded whole",
  (count) => {
    const topics = Array.from({ length: count }, (_, index) => `persistent://a/b/topic-${index}`);
    const body = { requestId: 2n ** 40n, topics, filtered: false, changed: true };
    const { head, names } = topicsFrame(body);
    const { command, entry } = decodeFrame(Buffer.concat([head, names]));
    const whole = decodeFrame(encodeFrame({ kind: "getTopicsOfNamespaceResponse", body }));
    expect(command).toEqual(whole.command);
    expect(entry).toHaveLength(0);
  },
);

test("the names of one list are encoded once, and each answer has its own request", () => {
  const topics = ["persistent://a/b/c"];
  const [one, other] = [
    topicsFrame({ requestId: 1n, topics }),
    topicsFrame({ requestId: 2n, topics }),
  ];
  expect(other.names).toBe(one.names);
  expect(other.head).not.toEqual(one.head);
});
