import { expect, test } from "vitest";
import { topicName, withTopicNames } from "./names.ts";

test("topics have their short names, alone and in a sentence", () => {
  expect(topicName("persistent://public/default/orders")).toBe("orders");
  expect(topicName("public/analytics/clicks")).toBe("analytics/clicks");
  expect(topicName("shop/eu/orders")).toBe("shop/eu/orders");
  expect(
    withTopicNames("producer web of public/analytics/clicks waits; public/default/orders: flows"),
  ).toBe("producer web of analytics/clicks waits; orders: flows");
  expect(withTopicNames("GET /public/a is not a topic")).toBe("GET /public/a is not a topic");
});
