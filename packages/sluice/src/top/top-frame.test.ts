import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { TopHistory } from "./history.ts";
import type { TopSnapshot } from "./state-answer.ts";
import { scrollMaxOf, topFrame } from "./top-frame.ts";
import type { FrameOptions } from "./top-frame.ts";
import { limitWordsOf, shownRows, topRows } from "./top-rows.ts";
import { TOP_START } from "./top-state.ts";
import type { TopState } from "./top-state.ts";

const SNAPSHOT: TopSnapshot = {
  state: {
    gateway: { urls: ["pulsar://127.0.0.1:6650"] },
    topics: [
      {
        name: "persistent://public/default/orders",
        in: { messagesPerSecond: 1_000.4 },
        subscriptions: [{ backlogEntries: 90_812 }],
      },
      {
        name: "persistent://public/analytics/clicks",
        in: { messagesPerSecond: 4.96 },
        subscriptions: [],
      },
    ],
    waiting: [{ topic: "persistent://public/default/orders", reason: "topic-rate", forMs: 72_000 }],
    pipelines: [
      {
        name: "orders",
        status: "running",
        vertices: [
          {
            name: "in",
            kind: "source",
            perSecond: 222,
            queue: 90_812,
            inFlight: 0,
            rateLimit: { ceiling: 888, share: 222, members: 4, storeAgeMs: 212 },
          },
          {
            name: "enrich",
            kind: "map",
            perSecond: 219,
            queue: 4,
            inFlight: 1,
            waiting: { reason: null, forMs: 900 },
          },
          {
            name: "out",
            kind: "sink",
            perSecond: 210,
            queue: 108,
            inFlight: 22,
            gate: { limit: 22, inFlight: 22 },
          },
        ],
      },
    ],
  },
  why: {
    at: "2026-11-17T14:32:08.000Z",
    waiting: [
      {
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
            asked: 2_342,
          },
          {
            name: "partner-feed",
            address: "127.0.0.1:2",
            isAware: true,
            heldFrames: 0,
            heldBytes: 0,
            told: { pauseMs: 619 },
          },
        ],
        others: 0,
        since: "2026-11-17T14:30:56.000Z",
        forMs: 72_000,
        setting: {
          target: { level: "topic", name: "persistent://public/default/orders" },
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
  },
  limits: {
    limits: [
      { level: "broker", source: "flow file", messages: 50_000 },
      {
        level: "topic",
        name: "persistent://public/default/orders",
        source: "flow file",
        messages: 1_000,
      },
    ],
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
    history.add(topRows(SNAPSHOT).map((row) => ({ ...row, perSecond: second })));
  return history;
}

test("a frame shows the path of the messages, what waits, the fleet, and one wait in sentences", () => {
  expect(frameOf({}, { rows: 23 }, 60)).toEqual([
    "sluice top                                                    14:32:08   every 1 s   ? keys   q quit",
    "────────────────────────────────────────────────────────────────────────────────────────────────────",
    " 1,005/s come in, 210/s reach orders/out. 2 things wait; the longest is orders.",
    "",
    " PATH               RATE     LIMIT  USE             QUEUE  STATE       REASON         FOR  LAST 60 s",
    "▸broker          1,005/s   50.0k/s  ········|  2 %         ≈ flowing                       ▁▂▃▃▄▅▅▆▇",
    "  orders         1,000/s   1,000/s  ████████|100 %  90.8k  ▥ throttled topic-rate  1m 12s  ▁▂▃▃▄▅▅▆▇",
    "  public/analy…      5/s         –                      0  ≈ flowing                       ▁▂▃▃▄▅▅▆▇",
    " orders/in         222/s     222/s  ████████|100 %  90.8k  ≈ flowing                       ▁▂▃▃▄▅▅▆▇",
    " orders/enrich     219/s         –                      4  ▹ waiting   buffer full  900ms  ▁▂▃▃▄▅▅▆▇",
    " orders/out        210/s  22 of 22  ████████|100 %    108  ▥ throttled concurrency   6.0s  ▁▂▃▃▄▅▅▆▇",
    "",
    " PRODUCERS      TOPIC          ASKS FOR       GETS    HELD  HOW",
    " bulk-import    orders          2,342/s      355/s   1,000  held, 1.1 MB",
    " partner-feed   orders                       355/s       0  told to wait 619 ms",
    "",
    " FLEET      orders/in: 4 members   ceiling 888/s, this member 222/s   store answered 212 ms ago",
    "────────────────────────────────────────────────────────────────────────────────────────────────────",
    " WHY 1 of 2  ▥ topic-rate  bulk-import and partner-feed wait to publish to public/default/orders.",
    "             The topic takes 1,000/s; 2 producers ask for at least 3,251/s. Each gets an even turn",
    '             of 355/s. Setting: gateway.limits.topics."public/default/orders"',
    "             sluice limits set topic public/default/orders messages=3300/s",
    " ↑↓ move   enter open   w next why   l change a limit   s sort: path   / find",
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

test("at 80 columns every column but the history is there", () => {
  const [, , , , head, , , , first] = frameOf({}, { columns: 80, rows: 24 });
  expect(head).toBe(
    " PATH               RATE     LIMIT  USE    QUEUE  STATE       REASON         FOR",
  );
  expect(first).toBe(" orders/in         222/s     222/s  100 %  90.8k  ≈ flowing");
});

test("the chosen row stays in sight when there are more rows than lines", () => {
  const topics = Array.from({ length: 19 }, (_, n) => ({
    name: `persistent://public/default/t${n}`,
    in: { messagesPerSecond: 100 - n },
    subscriptions: [],
  }));
  const snapshot = { ...SNAPSHOT, state: { ...SNAPSHOT.state, topics } };
  const chosenIn = (selected: string): string =>
    frameOf({ selected }, { rows: 16 }, 0, snapshot).find((line) => line.includes("▸")) ?? "";
  for (const row of ["broker", "topic persistent://public/default/t11", "vertex orders/out"])
    expect(chosenIn(row)).toContain(row.split("/").at(-1));
});

function names(state: Partial<TopState>): readonly string[] {
  return shownRows(SNAPSHOT, { ...TOP_START, ...state }).map(({ name }) => name);
}

test("rows are found by a part of their name, and sorted by rate or by wait", () => {
  expect(names({ find: "ORDERS/" })).toEqual(["orders/in", "orders/enrich", "orders/out"]);
  expect(names({ sort: "heaviest" }).slice(0, 3)).toEqual(["broker", "orders", "orders/in"]);
  expect(names({ sort: "longest wait" }).slice(0, 2)).toEqual(["orders", "orders/out"]);
});

test("an open row shows the answer of why", () => {
  const detail = { name: "orders/out", answer: SNAPSHOT.why };
  const mode = { name: "detail", row: "vertex orders/out", scroll: 0 } as const;
  const text = frameOf({ mode }, { rows: 40 }, 0, { ...SNAPSHOT, detail }).join("\n");
  expect(text).toContain(
    "▥ concurrency  Requests of out wait to be sent to http://127.0.0.1:9000/.",
  );
  expect(text).toContain("until       the next answer, in about 5 ms");
  expect(text).not.toContain("PRODUCERS");
});

test("the largest scroll of an open row shows the last line of its answer, and one less does not", () => {
  const snapshot = { ...SNAPSHOT, detail: { name: "orders/out", answer: SNAPSHOT.why } };
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
  expect(limitWordsOf("topic persistent://public/default/orders", SNAPSHOT)).toBe(
    "topic public/default/orders messages=1000/s",
  );
  expect(limitWordsOf("broker", SNAPSHOT)).toBe("broker messages=50000/s");
  expect(limitWordsOf("vertex orders/in", SNAPSHOT)).toBe("vertex orders/in max=");
  expect(limitWordsOf("pipeline orders", SNAPSHOT)).toBeUndefined();
});

test("colour is used only if it is asked for", () => {
  const plain = frameOf({}, {}, 3).join("\n");
  const coloured = frameOf({}, { isColoured: true }, 3).join("\n");
  expect(plain).not.toContain("\u001B");
  expect(stripVTControlCharacters(coloured)).toBe(plain);
});

test("a process in which nothing runs has a frame too", () => {
  const nothing = { state: {}, why: { at: "", waiting: [], paused: [] }, limits: {} };
  expect(frameOf({}, {}, 0, nothing)[2]).toBe(" Nothing runs.");
});
