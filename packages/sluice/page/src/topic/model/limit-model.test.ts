import { describe, expect, test } from "vitest";
import type {
  LiveGateway,
  LiveProducer,
  LiveSample,
  LiveTopicDetail,
} from "../../../../src/live/live-message.ts";
import { plainText } from "../../words/phrase.ts";
import { effectsOf } from "./effects.ts";
import { headlineOf } from "./headline.ts";
import { firstTarget, limitList } from "./limit-list.ts";
import { viewOf } from "./limit-view.ts";
import type { LimitView } from "./limit-view.ts";
import { enoughFor, predict, tightest } from "./prediction.ts";
import { BANDS_MAX, stackOf } from "./stack.ts";

const ORDERS = { kind: "topic", name: "public/default/orders" } as const;

const producer = (name: string, rate: number, more: Partial<LiveProducer> = {}): LiveProducer => ({
  name,
  topic: ORDERS.name,
  isAware: false,
  rate,
  asked: rate,
  isAskedAtLeast: false,
  heldFrames: 0,
  heldBytes: 0,
  ...more,
});

const THREE = [
  producer("checkout", 291),
  producer("partner-feed", 354.5, { asked: 618, reason: "topic-rate" }),
  producer("bulk-import", 354.5, { asked: 2_342, isAskedAtLeast: true, reason: "topic-rate" }),
];

function gatewayOf(more: Partial<LiveGateway> = {}): LiveGateway {
  return {
    upstream: "embedded",
    rate: { messages: 6_045, bytes: 6_045_000 },
    limit: { messages: 50_000 },
    asked: 8_300,
    isAskedAtLeast: true,
    memory: { used: 1_200_000, max: 256_000_000 },
    connections: 5,
    topics: [
      {
        name: ORDERS.name,
        rate: { messages: 1_000, bytes: 1_000_000 },
        limit: { messages: 1_000, bytes: 10_000_000 },
        asked: 3_251,
        isAskedAtLeast: true,
        producers: 3,
        waiting: 2,
        reason: "topic-rate",
        groups: [],
      },
      {
        name: "public/analytics/clicks",
        rate: { messages: 4_594, bytes: 4_594_000 },
        asked: 4_900,
        isAskedAtLeast: true,
        producers: 1,
        waiting: 1,
        reason: "group-rate",
        groups: ["analytics"],
      },
    ],
    topicsLeftOut: 0,
    groups: [
      {
        name: "analytics",
        rate: { messages: 5_000, bytes: 5_000_000 },
        limit: { messages: 5_000 },
        asked: 5_306,
        isAskedAtLeast: true,
        topics: 2,
        reason: "group-rate",
      },
    ],
    producers: [
      ...THREE,
      producer("clickstream", 4_594, {
        topic: "public/analytics/clicks",
        asked: 4_900,
        isAskedAtLeast: true,
        reason: "group-rate",
      }),
    ],
    producersLeftOut: { count: 0, rate: 0 },
    notices: { told: 0, limited: 2, missing: 0 },
    ...more,
  };
}

function sampleOf(gateway: LiveGateway | undefined, atMs = 0): LiveSample {
  return { atMs, gateway, pipelines: [], waits: [], waitsLeftOut: 0 };
}

function found(view: ReturnType<typeof viewOf>): LimitView {
  if (typeof view !== "object") throw new Error(`no view: ${String(view)}`);
  return view;
}

function names(view: LimitView): readonly string[] {
  return view.producers.map(({ name }) => name);
}

const orders = found(viewOf(ORDERS, sampleOf(gatewayOf()), undefined));

function effects(
  messages: number,
  reader?: LiveTopicDetail["reader"],
  gateway = gatewayOf(),
): readonly string[] {
  const prediction = predict(orders, { messages });
  return effectsOf(orders, prediction, { gateway, reader, isChange: true }).map(({ says }) =>
    plainText(says),
  );
}

describe("what is looked at", () => {
  test("a topic has its own producers, a group those of its topics, the gateway all", () => {
    const sample = sampleOf(gatewayOf());
    expect(names(orders)).toEqual(["checkout", "partner-feed", "bulk-import"]);
    const group = found(viewOf({ kind: "group", name: "analytics" }, sample, undefined));
    expect(names(group)).toEqual(["clickstream"]);
    expect(names(found(viewOf({ kind: "broker" }, sample, undefined)))).toHaveLength(4);
  });

  test("without a gateway, before the first sample and of an unknown name, it says which", () => {
    expect(viewOf(ORDERS, undefined, undefined)).toBeUndefined();
    expect(viewOf(ORDERS, sampleOf(undefined), undefined)).toBe("no gateway");
    const missing = { name: ORDERS.name, isMissing: true } as LiveTopicDetail;
    expect(viewOf(ORDERS, sampleOf(gatewayOf()), missing)).toBe("missing");
    expect(viewOf({ kind: "group", name: "x" }, sampleOf(gatewayOf()), undefined)).toBe("missing");
  });
});

describe("the prediction", () => {
  test("another limit goes to those that wait, in even turns", () => {
    const { accepted, gets, waiting, turn } = predict(orders, { messages: 1_500 });
    expect(accepted).toBe(1_500);
    expect(gets).toEqual([291, 604.5, 604.5]);
    expect(waiting.map(({ name }) => name)).toEqual(["partner-feed", "bulk-import"]);
    expect(turn).toBe(604.5);
  });

  test("at the sum of what all ask for nobody waits, and it is known to be a lower bound", () => {
    const enough = predict(orders, { messages: enoughFor(orders) });
    expect(enough.waiting).toEqual([]);
    expect(enough.turn).toBeUndefined();
    expect(enough.isAtLeast).toBe(true);
  });

  test("a limit of bytes counts by the mean size of messages", () => {
    // 1,000 bytes each.
    expect(predict(orders, { messages: 5_000, bytes: 1_200_000 }).accepted).toBe(1_200);
  });

  test("producers that are not listed keep what they have", () => {
    const few = {
      ...orders,
      producers: [THREE[2] ?? producer("x", 0)],
      rate: { messages: 1_000, bytes: 0 },
    };
    // 645.5 are of producers that are not listed.
    expect(predict(few, { messages: 1_000 }).gets[0]).toBeCloseTo(354.5, 6);
    expect(predict(few, { messages: 1_000 }).accepted).toBeCloseTo(1_000, 6);
  });

  test("of a limit in messages and bytes the one that is used up most is named", () => {
    expect(tightest(orders)).toEqual({ messages: 1_000 });
    expect(tightest({ ...orders, limit: { messages: 1_000_000, bytes: 1_000_000 } })).toEqual({
      bytes: 1_000_000,
    });
  });
});

describe("the words", () => {
  test("a higher limit says what is accepted, who still waits and with which turn", () => {
    expect(effects(1_500, { vertex: "in", rate: 887, ceiling: 887 })).toEqual([
      "1,500/s accepted instead of 1,000/s",
      "partner-feed and bulk-import wait, with turns of 605/s",
      "The source in may read 887/s, so the backlog grows by 613/s",
      "the gateway stays at 6,545/s of 50.0k/s",
    ]);
  });

  test("a reader with a higher ceiling leaves no backlog", () => {
    expect(effects(1_500, { vertex: "in", rate: 887, ceiling: 1_500 })[2]).toBe(
      "The source in may read 1,500/s; no backlog grows",
    );
  });

  test("a limit above that of the gateway moves the wait there", () => {
    const tight = gatewayOf({ limit: { messages: 6_100 } });
    expect(effects(1_500, undefined, tight).at(-1)).toBe(
      "the gateway would be asked for 6,545/s of its 6,100/s: producers wait for that limit instead",
    );
  });

  test("nobody is said to be free of waiting for sure while a demand is only a lower bound", () => {
    expect(effects(4_000)[1]).toBe("Nobody waits, unless somebody asks for more than is known now");
  });

  test("the headline names the limit, the heaviest producer and those that are not slowed", () => {
    expect(plainText(headlineOf({ ...orders, limitedForMs: 72_000 }))).toBe(
      "orders has been at its limit of 1,000/s for 1 min 12 s. bulk-import asks for 72 % of what is asked; checkout is not slowed.",
    );
  });

  test("a calm limit, one that is not set, and one of another level are told apart", () => {
    const calm = { ...orders, reason: undefined };
    expect(plainText(headlineOf(calm))).toBe(
      "orders takes 1,000/s of the 1,000/s it may. Nobody waits.",
    );
    expect(plainText(headlineOf({ ...calm, limit: undefined }))).toBe(
      "orders has no limit of its own. It takes 1,000/s; nobody waits.",
    );
    const grouped = { ...orders, reason: "group-rate", groups: ["analytics"] } as const;
    expect(plainText(headlineOf(grouped))).toBe(
      "orders takes 1,000/s. Its producers wait for the limit of group analytics.",
    );
  });
});

describe("the list", () => {
  test("topics of a group stand below it, and each limit shows its use", () => {
    const [topics, groups, gateway] = limitList(gatewayOf());
    expect(topics?.limits.map(({ label, value }) => [label, value])).toEqual([
      ["orders", "1,000 / 1,000"],
    ]);
    expect(groups?.limits.map(({ label, isBelow }) => [label, isBelow])).toEqual([
      ["analytics", false],
      ["clicks", true],
    ]);
    expect(gateway?.limits.map(({ label, value }) => [label, value])).toEqual([
      ["broker", "6,045 / 50.0k"],
      ["held frames", "1.2 MB / 256 MB"],
    ]);
  });

  test("without a name the page shows what waits, else a topic with a limit, else what there is", () => {
    expect(firstTarget(gatewayOf())).toEqual(ORDERS);
    const empty = gatewayOf({ topics: [], groups: [], producers: [], limit: undefined });
    expect(firstTarget(empty)).toEqual({ kind: "broker" });
  });
});

describe("the stack", () => {
  test("the producer that asked for most lies on top, and the bands add up to what was accepted", () => {
    const { bands, limit, asked } = stackOf([sampleOf(gatewayOf())], ORDERS);
    expect(bands.map(({ name }) => name)).toEqual(["checkout", "partner-feed", "bulk-import"]);
    expect(bands.reduce((sum, { values }) => sum + (values[0] ?? 0), 0)).toBe(1_000);
    expect([limit, asked]).toEqual([[1_000], [3_251]]);
  });

  test("more producers than bands are one band at the bottom", () => {
    const many = Array.from({ length: 9 }, (_, index) => producer(`p${index}`, 100 + index));
    const { bands } = stackOf([sampleOf(gatewayOf({ producers: many }))], ORDERS);
    expect(bands).toHaveLength(BANDS_MAX + 1);
    expect(bands[0]).toEqual({ name: undefined, values: [1_000 - (104 + 105 + 106 + 107 + 108)] });
  });

  test("a time without the topic is empty, not left out", () => {
    const { bands } = stackOf(
      [sampleOf(gatewayOf({ topics: [] })), sampleOf(gatewayOf(), 1)],
      ORDERS,
    );
    expect(bands.at(-1)?.values).toEqual([0, 354.5]);
  });
});
