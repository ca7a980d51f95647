import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { LiveProducer, LiveSample, LiveShare } from "../../live/live-message.ts";
import type { WholeWhy } from "../../why/why-lines.ts";
import { TopHistory } from "./history.ts";
import { scrollMaxOf, topFrame } from "./top-frame.ts";
import type { FrameOptions } from "./top-frame.ts";
import { limitWordsOf, shownRows, topRows } from "../rows/top-rows.ts";
import type { TopSnapshot } from "../top-snapshot.ts";
import { TOP_START } from "../top-state.ts";
import type { TopState } from "../top-state.ts";

const ORDERS = "public/default/orders";

const PRODUCER: LiveProducer = {
  name: "bulk-import",
  topic: ORDERS,
  client: "Java 3.3",
  isAware: false,
  rate: 355,
  asked: 2_342,
  isAskedAtLeast: true,
  heldFrames: 1_000,
  heldBytes: 1_100_000,
  reason: "topic-rate",
};

const SHARE: LiveShare = {
  pool: "shop/orders/in",
  share: 222,
  ceiling: 888,
  max: 1_000,
  members: 4,
  rampLeftMs: 15_000,
  syncAgeMs: 212,
  syncMs: 0.8,
};

const WHY: WholeWhy = {
  at: "2026-11-17T14:32:08.000Z",
  waiting: [
    {
      reason: "topic-rate",
      topic: ORDERS,
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
          asked: 2_342,
        },
      ],
      others: 0,
      becauseOf: { producer: "bulk-import", asked: 2_342, part: 0.72 },
      since: "2026-11-17T14:30:56.000Z",
      forMs: 72_000,
      setting: {
        target: { level: "topic", name: `persistent://${ORDERS}` },
        path: 'gateway.limits.topics."public/default/orders"',
      },
    },
  ],
  paused: [],
  pipelines: {
    vertices: [
      {
        pipeline: "orders",
        vertex: "out",
        role: "sink",
        connector: "http",
        peer: "http://127.0.0.1:9000/",
        reason: "concurrency",
        detail: "22 of 22 in flight, each takes 105 ms",
        since: "2026-11-17T14:32:02.000Z",
        forMs: 6_000,
        untilInMs: 5,
        queue: 108,
        behind: ["enrich"],
      },
    ],
    working: [],
    failed: [],
  },
};

const QUIET = { asked: 0, isAskedAtLeast: false, producers: 1, waiting: 0 } as const;
const VERTEX = { connector: "", droppedRate: 0, inFlight: 0 } as const;

const SAMPLE: LiveSample = {
  atMs: 0,
  gateway: {
    upstream: "embedded",
    rate: { messages: 6_045, bytes: 0 },
    limit: { messages: 50_000 },
    asked: 9_000,
    isAskedAtLeast: true,
    memory: { used: 0, max: 1 },
    connections: 3,
    topics: [
      {
        ...QUIET,
        name: ORDERS,
        rate: { messages: 1_000.4, bytes: 0 },
        limit: { messages: 1_000 },
        reason: "topic-rate",
        groups: [],
        backlog: 90_812,
      },
      {
        ...QUIET,
        name: "public/analytics/clicks",
        rate: { messages: 5_000, bytes: 0 },
        reason: "group-rate",
        groups: ["analytics"],
      },
      { ...QUIET, name: "public/default/audit", rate: { messages: 45, bytes: 0 }, groups: [] },
    ],
    topicsLeftOut: 0,
    groups: [
      {
        name: "analytics",
        rate: { messages: 5_000, bytes: 0 },
        limit: { messages: 5_000 },
        asked: 5_200,
        isAskedAtLeast: true,
        topics: 1,
        reason: "group-rate",
      },
    ],
    producers: [
      PRODUCER,
      {
        ...PRODUCER,
        name: "partner-feed",
        isAware: true,
        asked: 618,
        isAskedAtLeast: false,
        heldFrames: 6,
        told: { pauseMs: 619, receiptAfterMs: 11 },
      },
      {
        name: "checkout",
        topic: ORDERS,
        isAware: true,
        rate: 291,
        asked: 291,
        isAskedAtLeast: false,
        heldFrames: 0,
        heldBytes: 0,
      },
    ],
    producersLeftOut: { count: 0, rate: 0 },
    notices: { told: 1, limited: 2, missing: 0 },
  },
  pipelines: [
    {
      name: "orders",
      status: "running",
      vertices: [
        { ...VERTEX, name: "in", kind: "source", peer: ORDERS, rate: 222, share: SHARE },
        { ...VERTEX, name: "enrich", kind: "map", rate: 219, queue: 4, behind: "out" },
        {
          ...VERTEX,
          name: "out",
          kind: "sink",
          rate: 210,
          queue: 108,
          gate: {
            service: "payments",
            limit: 22,
            isAdaptive: true,
            inFlight: 22,
            waiting: 108,
            sent: 210,
            ok: 210,
            busy: 0,
            failed: 0,
          },
        },
      ],
    },
  ],
  waits: [
    ...WHY.waiting.map((why) => ({
      kind: "publish" as const,
      key: "topic-rate",
      why,
      topics: [ORDERS],
      topicsLeftOut: 0,
    })),
    ...(WHY.pipelines?.vertices ?? []).map((why) => ({ kind: "vertex" as const, key: "out", why })),
  ],
  waitsLeftOut: 0,
};

const MEMBER = { isThis: false, incarnation: "1", share: 222, syncAgeMs: 100 } as const;

const SNAPSHOT: TopSnapshot = {
  hello: {
    version: "0.1.0",
    format: 1,
    flow: "shop",
    member: "a7f3",
    startedAtMs: 0,
    canChange: true,
    sampleMs: 500,
  },
  sample: SAMPLE,
  pool: {
    atMs: 0,
    pool: SHARE.pool,
    of: "orders/in",
    share: SHARE,
    members: [
      { ...MEMBER, id: "a7f3b1", isThis: true, leaseLeftMs: 5_000, state: "holds" },
      { ...MEMBER, id: "51c0d2", leaseLeftMs: 4_900, state: "holds" },
      { ...MEMBER, id: "dead00", state: "left" },
    ],
    settings: {
      leaseMs: 5_000,
      syncMs: 500,
      storeTimeoutMs: 250,
      maxMembers: 64,
      safeShare: 15,
      onStoreLoss: "safe-share",
      resumeTtlMs: 180_000,
      mode: "relaxed",
      rampPerSecond: 7.5,
    },
    store: { address: "redis", isAnswering: true, missedSyncs: 0 },
  },
};

const OPTIONS = { columns: 100, rows: 40, isColoured: false, time: "14:32:08", isLive: true };

function frameOf(
  state: Partial<TopState> = {},
  options: Partial<FrameOptions> = {},
  seconds = 0,
  snapshot = SNAPSHOT,
): readonly string[] {
  return topFrame(
    snapshot,
    historyOf(seconds),
    { ...TOP_START, ...state },
    { ...OPTIONS, ...options },
  );
}

function historyOf(seconds: number): TopHistory {
  const history = new TopHistory();
  for (let second = 1; second <= seconds; second++)
    history.add(topRows(SAMPLE).map((row) => ({ ...row, perSecond: second })));
  return history;
}

test("a frame shows the path of the messages, the producers, the fleet, and one wait in sentences", () => {
  expect(frameOf({}, { rows: 29 }, 60)).toEqual([
    "sluice top   shop, member a7f3 of 4                           14:32:08   every 0.5 s  ? keys  q quit",
    "────────────────────────────────────────────────────────────────────────────────────────────────────",
    "6,045/s come in, 210/s reach payments. 2 things wait; the tightest point is orders.",
    "",
    "PATH            RATE     LIMIT  USE                QUEUE  STATE       REASON          FOR  LAST 60 s",
    "▸broker      6,045/s   50.0k/s  █·········|  12 %         ≈ flowing                        ▁▂▃▃▄▅▅▆▇",
    " orders      1,000/s   1,000/s  ██████████| 100 %  1,006  ▥ throttled topic-rate   1m 12s  ▁▂▃▃▄▅▅▆▇",
    " analytics   5,000/s   5,000/s  ██████████| 100 %      0  ▥ throttled group-rate           ▁▂▃▃▄▅▅▆▇",
    "  clicks     5,000/s         –                         0  ▥ throttled group-rate           ▁▂▃▃▄▅▅▆▇",
    " audit          45/s         –                         0  ≈ flowing                        ▁▂▃▃▄▅▅▆▇",
    "in             222/s     222/s  ██████████| 100 %  90.8k  ≈ flowing                        ▁▂▃▃▄▅▅▆▇",
    "enrich         219/s         –                         4  ▹ waiting   for out              ▁▂▃▃▄▅▅▆▇",
    "out            210/s  22 of 22  ██████████| 100 %    108  ▥ throttled concurrency    6.0s  ▁▂▃▃▄▅▅▆▇",
    "payments       210/s         –                            ≈ answering                      ▁▂▃▃▄▅▅▆▇",
    "",
    "PRODUCERS      TOPIC       ASKS FOR       GETS    HELD  HOW",
    "bulk-import    orders     ≥ 2,342/s      355/s   1,000  held, 1.1 MB; Java 3.3, unaware",
    "partner-feed   orders         618/s      355/s       6  told to wait 619 ms, receipt after 11 ms",
    "checkout       orders         291/s      291/s       0  asks for less than a turn, does not wait",
    "",
    "FLEET       2 agree on 2   ceiling 888/s of 1,000, +7.5/s each second   store answers in 0.8 ms",
    "            a7f3 222/s lease 5.0 s   51c0 222/s 4.9 s",
    "",
    "WHY 1 of 2  ▥ topic-rate  bulk-import waits to publish to orders. The topic takes 1,000/s; 1",
    "            producer asks for at least 3,251/s. Until bulk-import sends less than 355/s.   Setting:",
    '            gateway.limits.topics."public/default/orders"',
    "            sluice limits set topic public/default/orders messages=3300/s",
    "────────────────────────────────────────────────────────────────────────────────────────────────────",
    "↑↓ move   enter open   w next why   l change a limit   s sort: path   / find",
  ]);
});

test("a frame that is printed once names no keys and no chosen row", () => {
  const text = frameOf({}, { isLive: false }).join("\n");
  expect(text).not.toMatch(/quit|move|▸/);
});

test("what is found does not change the summary, and the keys stay in the last line", () => {
  const frame = frameOf({ find: "enrich" }, { rows: 24 });
  expect(frame[2]).toBe(frameOf({}, { rows: 24 })[2]);
  expect(frame).toHaveLength(24);
  expect(frame.at(-1)).toContain("/ find: enrich");
});

test("the next wait is that of a vertex, and after the last comes the first", () => {
  const second = frameOf({ whyIndex: 1 }).join("\n");
  expect(second).toContain("WHY 2 of 2  ▥ concurrency  Requests of out wait to be sent to");
  expect(frameOf({ whyIndex: 2 }).join("\n")).toContain("WHY 1 of 2");
});

test("a frame fits the terminal, whatever its size and whatever is open", () => {
  const modes: readonly TopState["mode"][] = [
    { name: "table" },
    { name: "detail", row: "vertex orders/out", scroll: 99 },
    { name: "find" },
    { name: "limit", text: "vertex orders/out max=500" },
    { name: "keys" },
  ];
  for (const mode of modes)
    for (const rows of [1, 5, 12, 24, 60])
      for (const columns of [30, 60, 80, 100, 200]) {
        const frame = frameOf({ mode }, { rows, columns }, 3);
        expect(frame.length).toBeLessThanOrEqual(rows);
        expect(Math.max(...frame.map((line) => line.length))).toBeLessThanOrEqual(columns);
      }
});

test("a summary that is too wide for the terminal ends with a shorter word, not in the middle of one", () => {
  expect(frameOf({}, { columns: 80, rows: 24 })[2]).toBe(
    "6,045/s come in, 210/s reach payments. 2 things wait; tightest: orders.",
  );
});

test("a producer that sends nothing is idle", () => {
  const { gateway } = SAMPLE;
  const producers = gateway?.producers.map((one) => ({
    ...one,
    rate: 0,
    heldFrames: 0,
    told: undefined,
    reason: undefined,
  }));
  const sample = { ...SAMPLE, gateway: gateway && { ...gateway, producers: producers ?? [] } };
  expect(frameOf({}, { rows: 29 }, 0, { ...SNAPSHOT, sample }).join("\n")).toMatch(
    /bulk-import .* idle; Java 3\.3, unaware/,
  );
});

test("at 80 columns every column but the history is there", () => {
  const [, , , , head, ...rows] = frameOf({}, { columns: 80, rows: 24 });
  expect(head).toBe(
    "PATH            RATE     LIMIT  USE    QUEUE  STATE       REASON          FOR",
  );
  expect(rows).toContain(
    "out            210/s  22 of 22  100 %    108  ▥ throttled concurrency    6.0s",
  );
});

test("a terminal of 24 lines keeps the table, the explanation and the keys", () => {
  const text = frameOf({}, { columns: 80, rows: 24 }).join("\n");
  expect(text).toMatch(/payments +210\/s/);
  expect(text).toContain("WHY 1 of 2");
  expect(text).toContain("↑↓ move");
});

test("the chosen row stays in sight when there are more rows than lines", () => {
  const topics = Array.from({ length: 19 }, (_, n) => ({
    ...QUIET,
    name: `public/default/t${n}`,
    rate: { messages: 100 - n, bytes: 0 },
    groups: [],
  }));
  const gateway = SAMPLE.gateway && { ...SAMPLE.gateway, topics };
  const snapshot = { ...SNAPSHOT, sample: { ...SAMPLE, gateway } };
  const chosenIn = (selected: string): string =>
    frameOf({ selected }, { rows: 16 }, 0, snapshot).find((line) => line.includes("▸")) ?? "";
  for (const row of ["broker", "topic public/default/t11", "vertex orders/out"])
    expect(chosenIn(row)).toContain(row.split("/").at(-1));
});

test("vertices of several pipelines have the name of their pipeline", () => {
  const [first] = SAMPLE.pipelines;
  const pipelines = first === undefined ? [] : [first, { ...first, name: "refunds" }];
  const rows = topRows({ ...SAMPLE, pipelines }).map(({ name }) => name);
  expect(rows).toEqual(expect.arrayContaining(["orders/in", "refunds/in"]));
});

test("vertices of a pipeline that is down are failed, whatever they did in its last run", () => {
  const pipelines = SAMPLE.pipelines.map((one) => ({ ...one, status: "failed" as const }));
  const states = topRows({ ...SAMPLE, pipelines })
    .filter(({ key }) => key.startsWith("vertex "))
    .map(({ state }) => state);
  expect(new Set(states)).toEqual(new Set(["failed"]));
});

test("a map whose program cannot be started is down", () => {
  const why = {
    pipeline: "orders",
    vertex: "in",
    role: "map",
    connector: "command",
    messages: 1,
    waitsFor: "for python3, which exited with code 1",
    since: "2026-11-17T14:30:56.000Z",
    forMs: 1_000,
    behind: [],
  } as const;
  const waits = [{ kind: "working", key: "orders/in", why } as const];
  const row = topRows({ ...SAMPLE, waits }).find(({ key }) => key === "vertex orders/in");
  expect(row).toMatchObject({ state: "working", reason: "down" });
});

test.each([
  [{ busy: 30, ok: 180 }, "busy"],
  [{ failed: 150, ok: 60 }, "failing"],
  [{ ok: 210 }, "answering"],
] as const)("a service with %o is %s", (counts, state) => {
  const [pipeline] = SAMPLE.pipelines;
  const sink = pipeline?.vertices.at(-1);
  if (pipeline === undefined || sink?.gate === undefined) throw new Error("no gate");
  const vertices = [{ ...sink, gate: { ...sink.gate, ...counts } }];
  const rows = topRows({ ...SAMPLE, pipelines: [{ ...pipeline, vertices }] });
  expect(rows.at(-1)?.state).toBe(state);
});

function names(state: Partial<TopState>): readonly string[] {
  return shownRows(SAMPLE, { ...TOP_START, ...state }).map(({ name }) => name);
}

test("rows are found by a part of their name, and sorted by rate or by wait", () => {
  expect(names({ find: "ORDER" })).toEqual(["orders"]);
  expect(names({ sort: "heaviest" }).slice(0, 4)).toEqual([
    "broker",
    "analytics",
    "clicks",
    "orders",
  ]);
  expect(names({ sort: "longest wait" }).slice(0, 2)).toEqual(["orders", "out"]);
});

test("an open row shows the answer of why", () => {
  const detail = { name: "orders/out", answer: WHY };
  const mode = { name: "detail", row: "vertex orders/out", scroll: 0 } as const;
  const text = frameOf({ mode }, { rows: 40 }, 0, { ...SNAPSHOT, detail }).join("\n");
  expect(text).toContain(
    "▥ concurrency  Requests of out wait to be sent to http://127.0.0.1:9000/.",
  );
  expect(text).toContain("until       the next answer, in about 5 ms");
  expect(text).not.toContain("PRODUCERS");
});

test("the largest scroll of an open row shows the last line of its answer, and one less does not", () => {
  const snapshot = { ...SNAPSHOT, detail: { name: "orders/out", answer: WHY } };
  const size = { columns: 100, rows: 12 };
  const row = "vertex orders/out";
  const max = scrollMaxOf(
    snapshot,
    { ...TOP_START, mode: { name: "detail", row, scroll: 0 } },
    size,
  );
  const showsLast = (scroll: number): boolean =>
    frameOf({ mode: { name: "detail", row, scroll } }, size, 0, snapshot)
      .join("\n")
      .includes("As data: sluice why");
  expect(max).toBeGreaterThan(1);
  expect([max - 1, max].map(showsLast)).toEqual([false, true]);
});

test("the limit of a row is offered as it is, to be edited", () => {
  expect(limitWordsOf(`topic ${ORDERS}`, SAMPLE)).toBe(
    "topic public/default/orders messages=1000/s",
  );
  expect(limitWordsOf("group analytics", SAMPLE)).toBe("group analytics messages=5000/s");
  expect(limitWordsOf("broker", SAMPLE)).toBe("broker messages=50000/s");
  expect(limitWordsOf("vertex orders/in", SAMPLE)).toBe("vertex orders/in max=1000");
  expect(limitWordsOf("service orders/out", SAMPLE)).toBeUndefined();
});

test("colour is used only if it is asked for; without it the chosen row has a mark", () => {
  const plain = frameOf({}, { isLive: false }, 3).join("\n");
  const coloured = frameOf({}, { isLive: false, isColoured: true }, 3).join("\n");
  expect(plain).not.toContain("\u001B");
  expect(stripVTControlCharacters(coloured)).toBe(plain);
  expect(frameOf({}, {}).join("\n")).toContain("▸broker");
  expect(frameOf({}, { isColoured: true }).join("\n")).not.toContain("▸");
});

test("a process in which nothing runs has a frame too", () => {
  const sample = { atMs: 0, pipelines: [], waits: [], waitsLeftOut: 0 };
  expect(frameOf({}, {}, 0, { ...SNAPSHOT, sample })[2]).toBe("Nothing runs.");
});
