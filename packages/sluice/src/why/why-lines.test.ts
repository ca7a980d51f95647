import type { Why, WhyAnswer, WhyPaused } from "@sluice/gateway/admin";
import { expect, test } from "vitest";
import { sentenceOf, untilOf } from "./sentences.ts";
import type { WhyVertex, WhyWorking } from "../pipelines/admin/vertex-why.ts";
import { whyLines } from "./why-lines.ts";
import type { WholeWhy } from "./why-lines.ts";

const ORDERS: Why = {
  reason: "topic-rate",
  topic: "persistent://public/default/orders",
  limiter: "topic",
  limit: { messages: 1_000 },
  asked: 3_251,
  turn: 355,
  producers: [
    {
      name: "bulk-import",
      address: "127.0.0.1:1",
      isAware: false,
      heldFrames: 1_000,
      heldBytes: 1_100_000,
      asked: 2_340,
    },
    {
      name: "partner-feed",
      address: "127.0.0.1:2",
      isAware: true,
      heldFrames: 0,
      heldBytes: 0,
      told: { pauseMs: 619, receiptAfterMs: 11 },
    },
  ],
  others: 0,
  notWaiting: [{ name: "checkout", asked: 291 }],
  since: "2026-11-17T14:30:56.000Z",
  forMs: 72_000,
  becauseOf: { producer: "bulk-import", asked: 2_340, part: 0.72 },
  setting: {
    target: { level: "topic", name: "persistent://public/default/orders" },
    path: 'gateway.limits.topics."public/default/orders"',
    source: "flow file",
  },
};

function lines(...waiting: readonly Why[]): readonly string[] {
  const answer: WhyAnswer = { at: "2026-11-17T14:32:08.000Z", waiting, paused: [] };
  return [...whyLines(answer, undefined)];
}

test("a name of 4,000 characters leaves the columns of a table on the screen", () => {
  const name = "n".repeat(4_000);
  const [first] = ORDERS.producers;
  const told = lines({ ...ORDERS, producers: [{ ...first, name } as never, ...ORDERS.producers] });
  const table = told.filter((line) => line.includes("aware "));
  expect(table).toHaveLength(3);
  expect(table[0]).toContain(`${"n".repeat(39)}…  unaware  1,000 frames held`);
});

test("a topic at its limit is explained in the numbers of the limit, with what to try", () => {
  const [first, second, third, since, ...facts] = lines(ORDERS);
  expect([first, second, third]).toEqual([
    "  ▥ topic-rate   bulk-import and partner-feed wait to publish to orders. The topic takes 1,000/s; 3",
    "                 producers ask for at least 3,251/s, bulk-import alone for 72 % of it. Each gets an",
    "                 even turn of 355/s.",
  ]);
  expect(since).toMatch(/^ {5}since {7}\d\d:\d\d:56, for 1 min 12 s$/);
  expect(facts).toEqual([
    "     until       bulk-import sends less than 355/s",
    "     because of  bulk-import",
    "     waiting     bulk-import   unaware  1,000 frames held, 1.1 MB",
    "                 partner-feed  aware    told to wait 619 ms, receipt after 11 ms",
    "     not waiting checkout  publishes 291/s, less than a turn",
    '     setting     gateway.limits.topics."public/default/orders" = 1,000/s',
    "     try         sluice limits set topic public/default/orders messages=3300/s   # then none of them waits",
    "",
    "As data: sluice why --json",
  ]);
});

test("an answer about one topic points to its page, and one about several to the overview", () => {
  const url = "http://127.0.0.1:7070";
  const at = "2026-11-17T14:32:08.000Z";
  const pageIn = (...waiting: readonly Why[]): string =>
    [...whyLines({ at, waiting, paused: [] }, "orders", { url })].join("\n");
  expect(pageIn(ORDERS)).toContain(
    "The same in the browser: http://127.0.0.1:7070/topics/public/default/orders",
  );
  const other = { ...ORDERS, topic: "persistent://public/default/clicks" };
  expect(pageIn(ORDERS, other)).toContain("browser: http://127.0.0.1:7070/     As data:");
});

test("no line but a command to copy is longer than the terminal is wide", () => {
  const setting = { ...ORDERS.setting, place: "examples/quickstart/sluice.yaml:12" };
  const answer = answerOf([{ ...ORDERS, setting }], { vertices: [READER, OUT] });
  const long = [...whyLines(answer, "orders", { width: 80 })].filter((line) => line.length > 80);
  expect(long.filter((line) => !line.includes("sluice limits set"))).toEqual([]);
});

test("parts that are not known are left out", () => {
  const { asked: _, turn: __, becauseOf: ___, notWaiting: ____, ...known } = ORDERS;
  const text = lines(known).join("\n");
  expect(text).toMatch(/The topic\s+takes 1,000\/s\./);
  expect(text).not.toMatch(/ask|turn|because|not waiting|try|undefined|NaN/);
});

const TOLD = ORDERS.producers.slice(1);

test.each<[string, Why, string, string | undefined]>([
  [
    "a group",
    {
      ...ORDERS,
      reason: "group-rate",
      limiter: "group bulk",
      producers: TOLD.concat(ORDERS.producers),
    },
    "partner-feed, bulk-import and partner-feed wait to publish to orders. Group bulk takes 1,000/s for its topics together and is asked for at least 3,251/s.",
    "group bulk is asked for less than 1,000/s",
  ],
  [
    "the broker",
    { ...ORDERS, reason: "broker-rate", limiter: "broker", limit: { bytes: 2e8 }, others: 40 },
    "bulk-import and 41 others wait to publish to orders. This gateway takes 200 MB/s in all and is asked for at least 3,251/s.",
    "less than 200 MB/s is asked",
  ],
  [
    "a told producer alone",
    { ...ORDERS, producers: TOLD, notWaiting: [], turn: 1, becauseOf: { producer: "x", asked: 1 } },
    "partner-feed waits to publish to orders. The topic takes 1,000/s; 1 producer asks for at least 3,251/s.",
    "x sends less than 1/s",
  ],
])("%s has its own sentence", (_, why, sentence, until) => {
  expect([sentenceOf(why), untilOf(why)]).toEqual([sentence, until]);
});

test("a producer that was only told waits until its pause ends", () => {
  const { turn: _, ...known } = ORDERS;
  expect(untilOf({ ...known, producers: TOLD })).toBe(
    "the pause that was told ends, at most 619 ms",
  );
});

test("a paused connection names the topic that caused it; without waits, nothing waits", () => {
  const none = { at: "2026-11-17T14:32:08.000Z", waiting: [], paused: [] };
  expect([...whyLines(none, undefined)]).toEqual(["Nothing waits."]);
  expect([...whyLines(none, "orders")]).toEqual(["Nothing waits at orders."]);
  const paused: WhyPaused[] = [
    {
      reason: "topic-rate",
      address: "127.0.0.1:1",
      becauseOfTopic: "persistent://a/b/c",
      since: "2026-11-17T14:32:05.900Z",
      forMs: 2_100,
      held: { used: 15_000_000, max: 16_000_000, resume: 14_000_000 },
      setting: { path: "gateway.limits.connection.heldBytes", place: "flow.yaml:9" },
    },
  ];
  expect([...whyLines({ ...none, paused }, "orders")]).toEqual([
    "No producer of orders waits for a limit.",
    "  ▥ topic-rate   Connection 127.0.0.1:1 is not read because of a/b/c: all its topics wait. It holds",
    "                 15 MB of the 16 MB that one connection may hold.",
    expect.stringMatching(/^ {5}since {7}\d\d:\d\d:05, for 2\.1 s$/),
    "     because of  a/b/c",
    "     setting     gateway.limits.connection.heldBytes   flow.yaml:9",
    "",
    "As data: sluice why orders --json",
  ]);
});

const PAUSED = {
  address: "127.0.0.1:7",
  since: "2026-11-17T14:32:05.000Z",
  forMs: 3_000,
  setting: { path: "gateway.limits.memory" },
} as const;

test("connections at their bound of pending publishes, and at that of memory, say the numbers", () => {
  const memory = { used: 97_500_000, max: 96_000_000, resume: 84_000_000 };
  const paused: WhyPaused[] = [
    { ...PAUSED, reason: "memory", memory },
    {
      ...PAUSED,
      reason: "connection-pending",
      pending: { used: 1_000, max: 1_000, resume: 500 },
      setting: { path: "gateway.limits.connection.pendingMessages" },
    },
    { ...PAUSED, reason: "memory", memory, forMs: 4_000 },
  ];
  const answer = { at: "2026-11-17T14:32:08.000Z", waiting: [], paused };
  const text = [...whyLines(answer, undefined)].join("\n").replaceAll(/\s+/g, " ");
  expect(text).toMatch(
    /memory 2 connections wait\. Held frames fill 98 MB of 96 MB; reading goes on at 84 MB\. since [\d:]+, for 4\.0 s setting gateway\.limits\.memory/,
  );
  expect(text).toMatch(
    /connection-pending Connection 127\.0\.0\.1:7 waits\. 1,000 of its publishes are not stored yet and 1,000 are allowed; it goes on at 500\. since [\d:]+, for 3\.0 s setting gateway\.limits\.connection\.pendingMessages/,
  );
});

test("a setting says its line in the flow file, or when it was set", () => {
  const { setting } = ORDERS;
  expect(lines({ ...ORDERS, setting: { ...setting, place: "flow.yaml:12" } }).join("\n")).toContain(
    'gateway.limits.topics."public/default/orders" = 1,000/s   flow.yaml:12',
  );
  const live = { ...setting, source: "policy", setAt: "2026-11-17T14:00:00.000Z" } as const;
  expect(
    lines({ ...ORDERS, setting: live })
      .join(" ")
      .replaceAll(/\s+/g, " "),
  ).toContain("= 1,000/s set by REST or pulsar-admin at 2026-11-17T14:00:00.000Z");
  const typed = { ...setting, place: "-:12" };
  expect(lines({ ...ORDERS, setting: typed }).join("\n")).toContain("standard input, line 12");
});

test("a wait that is nearly over is not said to be 0", () => {
  const { turn: _, becauseOf: __, ...known } = ORDERS;
  const why: Why = { ...known, producers: ORDERS.producers.slice(0, 1), untilInMs: 0 };
  expect(untilOf(why)).toBe("about 1 ms at the present rate");
});

const READER: WhyVertex = {
  pipeline: "shop",
  vertex: "in",
  role: "source",
  connector: "pulsar",
  peer: "orders",
  reason: "fleet-share",
  detail: "",
  since: "2026-11-17T14:30:23.000Z",
  forMs: 105_000,
  queue: 90_800,
  share: { share: 222, ceiling: 888, max: 1_000, members: 4, rampLeftMs: 15_000 },
  setting: { path: "pipelines.shop.limits.rateLimit.max", value: 1_000, place: "flow.yaml:21" },
  behind: [],
};

function answerOf(
  waiting: readonly Why[],
  pipelines: Partial<NonNullable<WholeWhy["pipelines"]>>,
): WholeWhy {
  const all = { vertices: [], working: [], failed: [], ...pipelines };
  return { at: "2026-11-17T14:32:08.000Z", waiting, paused: [], pipelines: all };
}

test("a topic's answer begins with who waits for how long, and ends with what raising its limit alone would do", () => {
  const text = [...whyLines(answerOf([ORDERS], { vertices: [READER] }), "orders")];
  expect(text[0]).toBe("orders is at its limit: 2 of its 3 producers wait, for 1 min 12 s.");
  expect(text).toContain("Further along, what comes from orders also waits here:");
  expect(text.slice(-5)).toEqual([
    "",
    "Raising the limit of orders alone would make the backlog of in grow faster, by 2,412/s at 3,300/s.",
    "A command after try holds at once, for the whole fleet. A line of the flow file can be edited: it is",
    "read again within a second or two.",
    "As data: sluice why orders --json",
  ]);
});

test("a source that could read more than the topic would take is no reason against raising it", () => {
  const share = { share: 9_000, ceiling: 9_000 };
  const answer = answerOf([ORDERS], { vertices: [{ ...READER, share }] });
  expect([...whyLines(answer, "orders")].join("\n")).not.toContain("Raising");
});

const HANGING: WhyWorking = {
  pipeline: "shop",
  vertex: "enrich",
  role: "map",
  connector: "module",
  messages: 1,
  since: "2026-11-17T14:31:56.000Z",
  forMs: 12_000,
  untilInMs: 18_000,
  setting: { path: "pipelines.shop.vertices.enrich.map.timeout", value: "30 s", place: "f.yaml:9" },
  behind: ["in"],
};

test("a map that does not answer is said to work on its message, and when it is given up", () => {
  const text = [...whyLines(answerOf([], { working: [HANGING] }), "enrich")].slice(0, -2);
  expect(text).toEqual([
    "  ▥ working      enrich has been working on one message for 12 s. Its map has not answered. in",
    "                 stands behind it: the buffer of enrich is full.",
    expect.stringMatching(/^ {5}since {7}\d\d:\d\d:56$/),
    "     until       an answer; the call is given up in 18 s",
    "     setting     pipelines.shop.vertices.enrich.map.timeout = 30 s   f.yaml:9",
  ]);
});

test("a map whose program cannot be started is said to be down, with the program and its next start", () => {
  const waitsFor = "for python3, which exited with code 2 before it answered anything";
  const down = { ...HANGING, waitsFor, untilInMs: 2_000, setting: undefined };
  const text = [...whyLines(answerOf([], { working: [down] }), "enrich")].slice(0, -2);
  expect(text).toEqual([
    "  ▥ down         enrich has waited with one message for 12 s, for python3, which exited with code 2",
    "                 before it answered anything. in stands behind it: the buffer of enrich is full.",
    expect.stringMatching(/^ {5}since {7}\d\d:\d\d:56$/),
    "     until       it can be started; the next try ends in 2.0 s",
  ]);
});

test("messages that fail again and again are told with the last failure", () => {
  const working = [{ ...HANGING, messages: 5, failure: "connect ECONNREFUSED 127.0.0.1:9000" }];
  const text = [...whyLines(answerOf([], { working }), undefined)]
    .join(" ")
    .replaceAll(/\s+/g, " ");
  expect(text).toContain(
    "▥ failing enrich has tried a batch of 5 messages again and again for 12 s. The last try failed: connect ECONNREFUSED 127.0.0.1:9000.",
  );
});

test("vertices of several pipelines are told apart by the pipeline's name", () => {
  const other = { ...READER, pipeline: "bulk" };
  const text = [...whyLines(answerOf([], { vertices: [READER, other] }), undefined)].join("\n");
  expect(text).toMatch(/shop\/in waits to read.*bulk\/in waits to read/s);
});

const OUT: WhyVertex = {
  ...READER,
  vertex: "out",
  role: "sink",
  connector: "http",
  peer: "http://127.0.0.1:9000/",
  reason: "concurrency",
  detail:
    "22 of 22 requests to 127.0.0.1:9000 are in flight and each takes 105 ms, 72 % longer than at its best",
  isAdaptive: true,
  gate: {
    service: "127.0.0.1:9000",
    isAdaptive: true,
    inFlight: 22,
    limit: 22,
    limitMax: 200,
    waiting: 108,
    rttMs: 105,
    bestRttMs: 61,
  },
  queue: 108,
  untilInMs: 4.8,
  setting: { path: "pipelines.shop.vertices.out.sink.http", place: "flow.yaml:26" },
};

test("an adaptive limit that does not grow says why, and needs no setting", () => {
  const text = [...whyLines(answerOf([], { vertices: [OUT] }), undefined)]
    .join(" ")
    .replaceAll(/\s+/g, " ");
  expect(text).toContain(
    "108 requests wait to be sent to 127.0.0.1:9000. 22 of 22 are in flight and each takes 105 ms, 72 % longer than at its best, so the limit does not grow.",
  );
  expect(text).toContain("until the next answer, in about 4.8 ms");
  expect(text).toContain("setting none needed: the limit finds itself, at most 200; ");
  expect(text).not.toContain("try a");
});

test("a fixed number of requests in flight is a setting to change", () => {
  const fixed = { ...OUT, isAdaptive: false, detail: "1 of 1 requests are in flight" };
  const text = [...whyLines(answerOf([], { vertices: [fixed] }), undefined)].join("\n");
  expect(text).toContain("setting     pipelines.shop.vertices.out.sink.http   flow.yaml:26");
  expect(text).toContain("try         a higher number, or adaptive, in flow.yaml:26");
});

/** What is said of the gate of `out` for a reason with these parts. */
function saidOf(reason: WhyVertex["reason"], parts: Partial<WhyVertex["gate"]>): string {
  const gate = { service: "payments", isAdaptive: true, inFlight: 4, waiting: 31, ...parts };
  const why = { ...OUT, reason, gate, untilInMs: undefined };
  return [...whyLines(answerOf([], { vertices: [why] }), undefined)]
    .join(" ")
    .replaceAll(/\s+/g, " ");
}

test("a busy service is told with the cut, the rate now, and when the former rate is back", () => {
  const said = saidOf("peer-busy", { cut: { from: 231, to: 157, agoMs: 4_000 }, allowed: 194 });
  expect(said).toContain(
    "31 requests wait to be sent to payments. It answered busy 4.0 s ago, so the rate was cut from 231/s to 157/s and is now 194/s.",
  );
  expect(said).toContain("until it is back at 231/s, in about 4.0 s if it stays quiet");
});

test("what is not known of a cut is left out", () => {
  const said = saidOf("peer-busy", { cut: { to: 157, agoMs: 4_000 } });
  expect(said).toContain("so the rate was cut to 157/s.");
  expect(said).toContain("until the service takes more again");
});

test("a pause is told with the answer that asked for it", () => {
  const pause = { leftMs: 28_000, pauseMs: 30_000, status: 429 };
  expect(saidOf("retry-after", { pause })).toContain(
    "All requests to payments wait. It answered 429 and asked for a pause of 30 s; nothing is sent before it ends.",
  );
});

test("a rate of a gate is told with its name", () => {
  expect(saidOf("rate", { rate: { name: "tokens", limit: "200000/min" } })).toContain(
    "The gate sends at most 200000/min (tokens).",
  );
});

test("a command to try holds the name of a topic as one word of the shell", () => {
  const target = { level: "topic", name: "persistent://public/default/$(reboot)" } as const;
  const why = { ...ORDERS, setting: { ...ORDERS.setting, target } };
  expect(lines(why).join("\n")).toContain(
    "sluice limits set topic 'public/default/$(reboot)' messages=3300/s",
  );
});
