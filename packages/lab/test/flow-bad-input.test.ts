import { ConfigError } from "@sluice/core";
import { loadScenario } from "@sluice/lab";
import { expect, test } from "vitest";

/** A right scenario but for one part of it, in lines whose numbers are known. */
const flow = ({
  limits = "{}",
  producer = "{ id: p1, topic: hot, perSecond: 10 }",
  second = "{ id: p2, topic: cold, perSecond: 10 }",
  event = "{ atS: 1, leave: p1 }",
  durationS = "10",
}): string => `kind: flow
limits: ${limits}
producers:
  - ${producer}
  - ${second}
events:
  - ${event}
durationS: ${durationS}
`;

test.each([
  [
    flow({ limits: "{ topics: { hot: { messages: 100 } } }" }),
    2,
    /messages is 100; expected messages with their period, such as 1000\/s/,
  ],
  [flow({ limits: "{ topics: { hot: { messages: 0/s } } }" }), 2, /messages is "0\/s"; expected/],
  [
    flow({ limits: "{ broker: { bytes: 100/s } }" }),
    2,
    /bytes is "100\/s"; expected bytes with their period, such as 10MB\/s/,
  ],
  [flow({ limits: "{ topics: { hot: {} } }" }), 2, /topics\.hot has no rate; add messages/],
  [
    flow({ limits: "{ topics: [hot] }" }),
    2,
    /limits\.topics is \["hot"\]; expected a map of topics/,
  ],
  [
    flow({ limits: "{ topics: { a/b: { messages: 1/s } } }" }),
    2,
    /"a\/b"; expected the name of a topic/,
  ],
  [
    flow({ limits: "{ topcs: {} }" }),
    2,
    /did you mean topics\? known keys: broker, groups, namespaces, topics/,
  ],
  [
    flow({ limits: "{ groups: { g: { messages: 1/s } } }" }),
    2,
    /groups\.g\.topics is missing; expected a list/,
  ],
  [
    flow({ limits: "{ connection: { heldBytes: 16 } }" }),
    2,
    /heldBytes is 16; expected a size with its unit/,
  ],
  [flow({ limits: "{ dispatch: {} }" }), 2, /limits.dispatch has no effect: .* no consumers/],
  [
    flow({ limits: "{ broker: { messages: 1/s, shared: true } }" }),
    2,
    /limits.broker.shared has no effect: the scenario has one gateway; remove it/,
  ],
  [
    flow({
      limits: "{ topics: { hot: { messages: 1/s }, public/default/hot: { messages: 1/s } } }",
    }),
    2,
    /is the topic that "hot" names too; keep one/,
  ],
  [
    flow({ limits: "{ maxHoldMs: 60000 }" }),
    2,
    /maxHoldMs is 60000; expected a number from 1 to 25000/,
  ],
  [
    flow({ producer: "{ id: p1, perSecond: 1 }" }),
    4,
    /topic is missing; expected the name of a topic/,
  ],
  [flow({ producer: "{ id: p 1, topic: a, perSecond: 1 }" }), 4, /id is "p 1"; expected an id/],
  [
    flow({ producer: "{ id: p1, topic: a, perSecond: 0 }" }),
    4,
    /perSecond is 0; expected a number from/,
  ],
  [
    flow({ producer: "{ id: p1, topic: a, perSecond: 1, untilS: 11 }" }),
    4,
    /untilS is 11; expected more than fromS, 0, and at most durationS, 10/,
  ],
  [
    flow({ producer: "{ id: p1, topic: a, perSecond: 1, fromS: 10 }" }),
    4,
    /fromS is 10; expected less than durationS, 10/,
  ],
  [
    flow({
      producer: "{ id: p1, topic: a, perSecond: 1, batch: 5000, bytes: 10000, maxPending: 5000 }",
    }),
    4,
    /batch is 5000; expected at most 520 messages of 10000 bytes/,
  ],
  [
    flow({ producer: "{ id: p1, topic: a, perSecond: 1, batch: 5, maxPending: 4 }" }),
    4,
    /batch is 5; expected at most maxPending, 4/,
  ],
  [flow({ second: "{ id: p1, topic: a, perSecond: 1 }" }), 5, /id is "p1" a second time/],
  [
    flow({ producer: "{ id: p1, topic: a, perSecond: 1000000 }" }),
    8,
    /durationS makes 10000100 messages; at most 5000000/,
  ],
  [
    flow({ event: "{ atS: 1, leave: p3 }" }),
    7,
    /is about p3; expected the id of a producer: p1, p2/,
  ],
  [flow({ event: "{ atS: 10, leave: p1 }" }), 7, /is at 10 s; expected less than durationS, 10/],
  [
    flow({ event: "{ atS: 1, crash: p1 }" }),
    7,
    /expected a map with atS and one of limits, leave, ignoreReceipts/,
  ],
  [
    flow({ event: "{ atS: 1, limits: { connection: {} } }" }),
    7,
    /connection is not known here; .*known keys: topics, groups, broker/,
  ],
  [
    flow({ event: "{ atS: 1, limits: { groups: { g: none } } }" }),
    7,
    /changes the group "g"; expected one of limits\.groups: none/,
  ],
  [
    flow({ event: "{ atS: 2, leave: p1 }\n  - { atS: 1, leave: p2 }" }),
    8,
    /is at 1 s, before the event above it/,
  ],
  [flow({ durationS: "0.5" }), 8, /durationS is 0\.5; expected a whole number/],
])("a wrong file is refused with its line and the way out (%#)", (text, line, message) => {
  let error: unknown;
  try {
    loadScenario(text, "a.yaml");
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(ConfigError);
  expect((error as ConfigError).message).toMatch(message);
  expect((error as ConfigError).message).toMatch(new RegExp(`^a\\.yaml:${line}: `));
});

test("the same file without the mistakes is right", () => {
  expect(() => loadScenario(flow({}), "a.yaml")).not.toThrow();
  expect(() =>
    loadScenario(flow({ event: "{ atS: 1, limits: { topics: { hot: none } } }" }), "a.yaml"),
  ).not.toThrow();
});
