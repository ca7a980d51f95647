import { encodeFrame } from "@sluice/pulsar/wire";
import { expect, test } from "vitest";
import { topicsFrame } from "./topics-frame.ts";

test.each([0, 1, 3, 10_000])(
  "an answer with %i topics has the bytes of one that is encoded whole",
  (count) => {
    const topics = Array.from({ length: count }, (_, index) => `persistent://a/b/topic-${index}`);
    const body = { requestId: 2n ** 40n, topics, filtered: false, changed: true };
    const { head, list } = topicsFrame(body);
    const whole = encodeFrame({ kind: "getTopicsOfNamespaceResponse", body });
    expect(Buffer.concat([head, list]).equals(whole)).toBe(true);
  },
);

test("a list is encoded once, and each answer has its own request", () => {
  const topics = ["persistent://a/b/c"];
  const [one, other] = [
    topicsFrame({ requestId: 1n, topics }),
    topicsFrame({ requestId: 2n, topics }),
  ];
  expect(other.list).toBe(one.list);
  expect(other.head).not.toEqual(one.head);
});
