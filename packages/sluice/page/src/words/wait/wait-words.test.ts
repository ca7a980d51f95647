import type { Reason } from "@sluice/core";
import { describe, expect, test } from "vitest";
import type {
  LiveGate,
  LiveSample,
  LiveVertex,
  LiveWait,
} from "../../../../src/live/live-message.ts";
import { clockTime } from "../clock-time.ts";
import { plainText } from "../phrase.ts";
import { waitControl } from "./wait-control.ts";
import { waitWords } from "./wait-words.ts";

const AT_MS = Date.UTC(2026, 10, 16, 14, 32, 8);
const SINCE = "2026-11-16T14:30:00.000Z";

const gate: LiveGate = {
  service: "payments",
  limit: 22.4,
  limitMax: 200,
  isAdaptive: true,
  inFlight: 22,
  waiting: 108,
  sent: 210,
  ok: 210,
  busy: 0,
  failed: 0,
  rttMs: 105,
  bestRttMs: 61,
  allowed: 170,
  cut: { from: 231, to: 157, agoMs: 3_200 },
  pause: { leftMs: 4_200, pauseMs: 6_000, status: 503 },
};

function sampleOf(parts: Partial<LiveSample> = {}): LiveSample {
  const vertex: LiveVertex = {
    name: "out",
    kind: "sink",
    connector: "http",
    rate: 210,
    droppedRate: 0,
    inFlight: 22,
    gate,
  };
  return {
    atMs: AT_MS,
    pipelines: [{ name: "orders", status: "running", vertices: [vertex] }],
    waits: [],
    waitsLeftOut: 0,
    ...parts,
  };
}

type VertexWhy = Extract<LiveWait, { readonly kind: "vertex" }>["why"];

function vertexWait(reason: Reason, parts: Partial<VertexWhy> = {}): LiveWait {
  const why: VertexWhy = {
    pipeline: "orders",
    vertex: "out",
    role: "sink",
    connector: "http",
    peer: "http://127.0.0.1:9000/",
    reason,
    detail: "the detail",
    since: SINCE,
    forMs: 6_000,
    behind: [],
    ...parts,
  };
  return { kind: "vertex", key: "k", why };
}

const producer = (name: string, asked: number, parts: object = {}) => ({
  name,
  address: "127.0.0.1:1",
  isAware: false,
  heldFrames: 10,
  heldBytes: 1_000,
  asked,
  ...parts,
});

function publishWait(
  reason: Reason,
  parts: object = {},
  topics: readonly string[] = ["public/default/orders"],
): LiveWait {
  const why = {
    reason,
    topic: "persistent://public/default/orders",
    limiter:
      reason === "group-rate" ? "group analytics" : reason === "broker-rate" ? "broker" : "topic",
    limit: { messages: 1_000 },
    asked: 3_251,
    turn: 355,
    producers: [producer("bulk-import", 2_342), producer("partner-feed", 618)],
    others: 0,
    notWaiting: [{ name: "checkout", asked: 291 }],
    since: SINCE,
    forMs: 72_000,
    becauseOf: { producer: "bulk-import", asked: 2_342, part: 0.72 },
    setting: {
      path: 'gateway.limits.topics."public/default/orders"',
      target: { level: "topic" as const, name: "persistent://public/default/orders" },
    },
    ...parts,
  };
  return { kind: "publish", key: "k", why, topics, topicsLeftOut: 0 };
}

function pausedWait(reason: Reason, parts: object): LiveWait {
  const why = {
    reason,
    address: "127.0.0.1:52814",
    since: SINCE,
    forMs: 2_100,
    setting: { path: "gateway.limits.memory" },
    ...parts,
  };
  return { kind: "paused", key: "k", whys: [why], whysLeftOut: reason === "memory" ? 10 : 0 };
}

function said(wait: LiveWait, sample: LiveSample = sampleOf()): string {
  const { lead, more, until, because } = waitWords(wait, sample);
  return [
    `${plainText(lead)} ${more}`,
    until && plainText(until),
    because && `because of ${because}`,
  ]
    .filter((part) => part !== undefined)
    .join(" · ");
}

const share = {
  share: 222,
  ceiling: 888,
  max: 1_000,
  members: 4,
  rampLeftMs: 15_000,
  storeAgeMs: 13_000,
};

/** One row for each reason: the wait, and what the page says. */
const GOLDEN: readonly (readonly [string, LiveWait, string])[] = [
  [
    "topic-rate",
    publishWait("topic-rate"),
    "bulk-import and partner-feed wait to publish to orders. The topic takes 1,000/s; 3 producers ask for at least 3,251/s, bulk-import alone for 72 % of it. Each gets an even turn of 355/s. · until bulk-import sends less than 355/s · because of bulk-import",
  ],
  [
    "topic-rate, all aware",
    publishWait("topic-rate", {
      producers: [producer("partner-feed", 618, { heldFrames: 0, told: { pauseMs: 619 } })],
      notWaiting: [],
      asked: 618,
    }),
    "partner-feed waits to publish to orders. The topic takes 1,000/s; 1 producer asks for at least 618/s. · told to wait 619 ms · because of bulk-import",
  ],
  [
    "group-rate",
    publishWait("group-rate", {}, ["public/analytics/clicks"]),
    "bulk-import and partner-feed wait to publish to analytics/clicks. Group analytics takes 1,000/s for its topics together and is asked for at least 3,251/s. · until the group is asked for less than 1,000/s · because of bulk-import, 72 % of it",
  ],
  [
    "broker-rate",
    publishWait("broker-rate", { others: 4 }),
    "6 producers wait to publish. This gateway takes 1,000/s in all and is asked for at least 3,251/s. · until less than 1,000/s is asked · because of bulk-import, 72 % of it",
  ],
  [
    "connection-pending",
    pausedWait("connection-pending", { pending: { used: 1_000, max: 1_000, resume: 500 } }),
    "Connection 127.0.0.1:52814 waits. 1,000 of its publishes are not stored yet and 1,000 are allowed; it goes on at 500.",
  ],
  [
    "memory",
    pausedWait("memory", { memory: { used: 256_000_000, max: 256_000_000, resume: 128_000_000 } }),
    "11 connections wait. Held frames fill 256 MB of 256 MB; reading goes on at 128 MB.",
  ],
  [
    "fleet-share",
    vertexWait("fleet-share", {
      vertex: "in",
      role: "source",
      peer: "public/default/orders",
      queue: 90_800,
      share,
    }),
    "in waits to read from orders. Its share is 222/s: the ceiling of 888/s by 4 members, still ramping. 90.8k messages are behind it. · share grows to 250/s in 15 s · because of the backlog in orders",
  ],
  [
    "fleet-share of one process at the top of its ramp",
    vertexWait("fleet-share", {
      vertex: "in",
      role: "source",
      peer: "public/default/orders",
      share: { share: 300, max: 300, members: 1 },
    }),
    "in waits to read from orders. Its limit is 300/s, and the ramp is at its max.",
  ],
  [
    "fleet-joining",
    vertexWait("fleet-joining", { vertex: "in", role: "source", peer: "public/default/orders" }),
    "in waits to read from orders. It has joined its fleet and has no share yet. · until the fleet has given it a share, about 2 s after its start",
  ],
  [
    "fleet-refused",
    vertexWait("fleet-refused", { vertex: "in", role: "source", detail: "the pool is full" }),
    "in waits to read from 127.0.0.1:9000. The pool is full.",
  ],
  [
    "store-lost",
    vertexWait("store-lost", { share: { ...share, share: 16 } }),
    "out runs on its safe share of 16/s. The store has not answered for 13 s and this member's lease has ended. · until the store answers, then at most 6.0 s · because of the store",
  ],
  [
    "rate",
    vertexWait("rate", {
      detail: "the gate sends at most 10/s (requests) and is asked for 42/s",
      untilInMs: 100,
      setting: { path: "pipelines.orders.vertices.out.sink.http.request.rates" },
    }),
    "108 calls wait to be sent to payments. The gate sends at most 10/s (requests) and is asked for 42/s. · next token in 100 ms · because of rates",
  ],
  [
    "concurrency",
    vertexWait("concurrency", { isAdaptive: true, behind: ["in", "enrich"] }),
    "108 requests wait to be sent to payments. 22 of 22 are in flight and each takes 105 ms, 72 % longer than at its best, so the limit does not grow. in and enrich stand behind it: the buffer of out is full. · next answer in about 4.8 ms · because of payments, which answers slowly",
  ],
  [
    "peer-busy",
    vertexWait("peer-busy"),
    "108 requests wait to be sent to payments. It answered busy 3.2 s ago, so the rate was cut from 231/s to 157/s and is now 170/s. · back at 231/s in about 15 s if it stays quiet · because of payments",
  ],
  [
    "retry-after",
    vertexWait("retry-after"),
    `All requests to payments wait. It answered 503 and asked for 6.0 s; nothing is sent before ${clockTime(AT_MS + 4_200)}. · ends in 4.2 s · because of payments`,
  ],
];

describe("a row of Waiting now says who waits for what, why and until when", () => {
  test.each(GOLDEN)("%s", (_, wait, text) => {
    expect(said(wait)).toBe(text);
  });
});

test("what is not known of a wait is left out", () => {
  const wait = publishWait("topic-rate", {
    asked: undefined,
    turn: undefined,
    becauseOf: undefined,
    notWaiting: undefined,
  });
  expect(said(wait)).toBe(
    "bulk-import and partner-feed wait to publish to orders. The topic takes 1,000/s.",
  );
  expect(said(vertexWait("concurrency"), sampleOf({ pipelines: [] }))).toBe(
    "Requests wait to be sent to 127.0.0.1:9000. The detail.",
  );
});

test("more than three names become one and a count", () => {
  const names = ["a", "b", "c", "d"].map((name) => producer(name, 1));
  expect(said(publishWait("topic-rate", { producers: names }))).toMatch(
    /^a and 3 others wait to publish/,
  );
});

test("a map whose program does not run, and a pipeline that does not start, are told too", () => {
  const working: LiveWait = {
    kind: "working",
    key: "k",
    why: {
      pipeline: "orders",
      vertex: "enrich",
      role: "map",
      connector: "command",
      messages: 20,
      waitsFor: "for python3, which exited with code 1",
      since: SINCE,
      forMs: 9_000,
      behind: ["in"],
    },
  };
  expect(said(working)).toBe(
    "enrich waits with a batch of 20 messages, for python3, which exited with code 1. in stands behind it: the buffer of enrich is full. · until it can be started",
  );
  const failed: LiveWait = {
    kind: "failed",
    key: "k",
    why: { pipeline: "orders", error: "no such topic", since: SINCE, nextInMs: 2_000, starts: 3 },
  };
  expect(said(failed)).toBe(
    "Pipeline orders does not run. no such topic. It has failed 3 times in a row. · next start in 2.0 s",
  );
});

describe("the control beside a wait", () => {
  const live = sampleOf({
    gateway: {
      upstream: "embedded",
      rate: { messages: 1_000, bytes: 1 },
      asked: 3_251,
      isAskedAtLeast: true,
      memory: { used: 0, max: 1 },
      connections: 2,
      topics: [],
      topicsLeftOut: 0,
      groups: [],
      producersLeftOut: { count: 0, rate: 0 },
      notices: { told: 0, limited: 2, missing: 0 },
      producers: [
        ["bulk-import", 2_342],
        ["partner-feed", 618],
        ["checkout", 291],
      ].map(([name, asked]) => ({
        name: String(name),
        topic: "public/default/orders",
        isAware: false,
        rate: 300,
        asked: Number(asked),
        isAskedAtLeast: true,
        heldFrames: 1,
        heldBytes: 1,
      })),
    },
  });

  test("changes the limit of the topic, and says what another number would do", () => {
    const control = waitControl(publishWait("topic-rate"), live);
    if (control.kind !== "number") throw new Error(`found ${control.kind}, expected a number`);
    expect([control.value, control.step, control.words, control.body(1_500)]).toEqual([
      1_000,
      100,
      ["topic", "persistent://public/default/orders"],
      { messages: 1_500 },
    ]);
    expect(control.effect(1_500)).toBe("Accepts 1,500/s. bulk-import and partner-feed still wait.");
    expect(control.effect(2_000)).toBe("Accepts 2,000/s. bulk-import still waits.");
    expect(control.effect(4_000)).toBe("Accepts 3,251/s. Nobody waits.");
    expect(control.effect(500)).toMatch(/^Accepts only 500\/s/);
  });

  test("keeps the limit of bytes when that of messages is changed", () => {
    const control = waitControl(
      publishWait("topic-rate", { limit: { messages: 1_000, bytes: 5_000_000 } }),
      live,
    );
    expect(control.kind === "number" && control.body(2_000)).toEqual({
      messages: 2_000,
      bytes: 5_000_000,
    });
  });

  test("says that the service decides of a pause that it asked for", () => {
    expect(waitControl(vertexWait("retry-after"), live)).toEqual({
      kind: "none",
      text: "The service decides.",
    });
  });

  test("needs nothing for a limit that finds itself, and says its bound", () => {
    const wait = vertexWait("concurrency", {
      isAdaptive: true,
      setting: { path: "request.concurrency", place: "flow.yaml:9" },
    });
    expect(waitControl(wait, live)).toEqual({
      kind: "note",
      setting: "request.concurrency",
      text: "adaptive, at most 200",
      place: "flow.yaml:9",
    });
  });
});
