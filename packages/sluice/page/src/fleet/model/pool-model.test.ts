import { loadScenario, runScenario, writeYaml } from "@sluice/lab/browser";
import { describe, expect, test } from "vitest";
import type { LiveMember, LivePoolDetail, LiveSample } from "../../../../src/live/live-message.ts";
import { plainText } from "../../words/phrase.ts";
import { agreementOf } from "./agreement.ts";
import { dividedBar } from "./divided-bar.ts";
import { unpackState } from "../../lab/model/link.ts";
import { headlineOf } from "./headline.ts";
import { labLink } from "./lab-link.ts";
import { inOrder, standingOf } from "./pool-standing.ts";
import { poolPath, poolsOf } from "./pools.ts";
import { rampWords } from "./ramp-words.ts";

const member = (id: string, more: Partial<LiveMember> = {}): LiveMember => ({
  id,
  isThis: id === "a7f3",
  incarnation: "k3w9",
  share: 222,
  fair: 222,
  used: 0.99,
  leaseLeftMs: 4_800,
  syncAgeMs: 200,
  state: "holds",
  ...more,
});

const FOUR = ["a7f3", "51c0", "9be2", "e04d"].map((id) => member(id));

function pool(more: Partial<LivePoolDetail> = {}): LivePoolDetail {
  return {
    atMs: 0,
    pool: "shop/orders/in",
    of: "orders/in",
    share: {
      pool: "shop/orders/in",
      share: 222,
      ceiling: 888,
      max: 1_000,
      min: 100,
      members: 4,
      rampLeftMs: 15_000,
    },
    members: FOUR,
    settings: {
      leaseMs: 5_000,
      syncMs: 500,
      storeTimeoutMs: 250,
      maxMembers: 64,
      safeShare: 15.625,
      onStoreLoss: "safe-share",
      resumeTtlMs: 180_000,
      mode: "goBackN",
      rampPerSecond: 7.5,
    },
    store: { address: "127.0.0.1:6379", isAnswering: true, answerMs: 0.8, missedSyncs: 0 },
    ...more,
  };
}

const JOINING = pool({
  members: [
    ...FOUR.map((one) => ({
      ...one,
      share: 200,
      fair: 178,
      promised: 222,
      state: "releasing" as const,
    })),
    member("7d18", { share: 0, fair: 178, state: "joining", leaseLeftMs: undefined }),
  ],
});
const LOST = pool({
  members: [
    member("a7f3", {
      share: 15.625,
      state: "safe-share",
      leaseLeftMs: undefined,
      syncAgeMs: 12_000,
    }),
    ...FOUR.slice(1),
  ],
  store: { address: "127.0.0.1:6379", isAnswering: false, missedSyncs: 24 },
});
const ALONE = pool({
  members: [member("a7f3", { share: 1_000, fair: undefined })],
  share: { pool: "p", share: 1_000, ceiling: 1_000, max: 1_000, members: 1 },
  store: { address: "memory", isAnswering: true, missedSyncs: 0 },
});
const REPLICAS = pool({
  replicas: 4,
  members: [member("a7f3", { share: 250, fair: undefined })],
  share: { pool: "p", share: 250, ceiling: 1_000, max: 1_000, members: 1 },
  store: { address: "memory", isAnswering: true, missedSyncs: 0 },
});

function widths(detail: LivePoolDetail): readonly number[] {
  return dividedBar(detail).pieces.map(({ width }) => Math.round(width * 1_000) / 1_000);
}

function shareOf(name: string): LivePoolDetail["share"] {
  return { pool: name, members: 1 };
}

describe("whether members agree", () => {
  test("they do if what was told is within the ceiling and all have their fair share", () => {
    expect(standingOf(pool())).toBe("agreed");
    expect(agreementOf(pool())).toMatchObject({
      verdict: "AGREE",
      told: "888",
      ceiling: "888",
      fair: "4 of 4",
    });
  });

  test("a share that is being handed over is not an agreement, and it is said from whom", () => {
    const [first, ...rest] = FOUR;
    const handing = pool({
      members: [...rest, { ...(first ?? member("a7f3")), share: 150, promised: 222, fair: 150 }],
    });
    expect(standingOf(handing)).toBe("handing over");
    expect(agreementOf(handing)).toMatchObject({ verdict: "HANDING OVER", fair: "3 of 4" });
    expect(agreementOf(handing)?.facts[0]).toEqual(["asked back", "72/s from a7f3"]);
  });

  test("a member below nine tenths of its fair share lacks it", () => {
    const lacking = pool({
      members: [...FOUR.slice(1), member("a7f3", { share: 199, fair: 222 })],
    });
    expect(standingOf(lacking)).toBe("handing over");
    const nearly = pool({ members: [...FOUR.slice(1), member("a7f3", { share: 201, fair: 222 })] });
    expect(standingOf(nearly)).toBe("agreed");
  });

  test("more than the ceiling is said to be wrong, whatever else holds", () => {
    const over = pool({ sum: 990 });
    expect(agreementOf(over)).toMatchObject({ verdict: "DISAGREE", isWithin: false });
    expect(dividedBar(over)).toMatchObject({ isOver: true, verdict: "above the ceiling of 888" });
  });

  test("a joiner, lost memory and a lost store are told apart", () => {
    expect(agreementOf(JOINING)?.verdict).toBe("JOINING");
    expect(agreementOf(pool({ learningMs: 5_200 }))?.verdict).toBe("LEARNING");
    expect(agreementOf(LOST)).toMatchObject({
      verdict: "No verdict",
      told: undefined,
      fair: undefined,
    });
    expect(agreementOf(ALONE)).toBeUndefined();
  });

  test("a store that is silent within the lease changes nothing yet", () => {
    const silent = pool({ store: { address: "x", isAnswering: false, missedSyncs: 3 } });
    expect(standingOf(silent)).toBe("agreed");
  });
});

describe("the divided bar", () => {
  test("each member is as wide as its share of max, and the ramp is the rest", () => {
    expect(widths(pool())).toEqual([0.222, 0.222, 0.222, 0.222, 0.112]);
    expect(dividedBar(pool()).pieces.at(-1)).toMatchObject({
      kind: "rest",
      text: "ramp: 15 s to max",
    });
    expect(dividedBar(pool())).toMatchObject({
      sum: "222 + 222 + 222 + 222 = 888",
      verdict: "exactly the ceiling",
    });
  });

  test("a sum that whole numbers would not add up to is written with a decimal", () => {
    const members = FOUR.map((one) => ({ ...one, share: 105.5, fair: 105.5 }));
    const ramping = pool({ members, share: { ...pool().share, share: 106, ceiling: 422 } });
    expect(dividedBar(ramping)).toMatchObject({
      sum: "105.5 + 105.5 + 105.5 + 105.5 = 422",
      verdict: "exactly the ceiling",
      isOver: false,
    });
    expect(standingOf(ramping)).toBe("agreed");
  });

  test("this member comes first, and a joiner is seen before it has anything", () => {
    const { pieces, sum } = dividedBar(JOINING);
    expect(pieces[0]).toMatchObject({ id: "a7f3", isThis: true });
    expect(pieces.find(({ kind }) => kind === "joining")).toMatchObject({
      id: "7d18",
      share: 0,
      width: 0.06,
    });
    expect(sum).toBe("200 + 200 + 200 + 200 = 800");
    expect(dividedBar(JOINING).verdict).toBe(
      "below the ceiling of 888 while parts are handed over",
    );
  });

  test("without the store only this member is seen, and the worst sum is written out", () => {
    const bar = dividedBar(LOST);
    expect(bar.pieces.map(({ kind }) => kind)).toEqual(["safe", "rest"]);
    expect(bar).toMatchObject({
      sum: "at most 64 × 15.6 = 1,000",
      verdict: "the ceiling holds even if every member runs",
    });
  });

  test("a policy that stays open is not said to hold the ceiling", () => {
    const open = { ...LOST, settings: { ...LOST.settings, onStoreLoss: "open" } };
    expect(dividedBar(open).isOver).toBe(true);
  });

  test("processes without a store leave the rest to the others", () => {
    expect(dividedBar(REPLICAS)).toMatchObject({
      sum: "250",
      verdict: "of 1,000: the other 3 processes have the rest",
    });
    expect(dividedBar(ALONE).verdict).toBe("exactly the ceiling");
  });

  test("many members are summed, not listed", () => {
    const many = Array.from({ length: 30 }, (_, index) =>
      member(`m${index}`, { share: 29.6, fair: 29.6 }),
    );
    expect(dividedBar(pool({ members: many })).sum).toBe("30 members hold 888 in all");
  });

  test("the marks name the bounds of the ramp, and one mark serves a ceiling at its max", () => {
    expect(dividedBar(pool()).marks.map(({ text }) => text)).toEqual([
      "0",
      "min 100",
      "ceiling 888",
      "max 1,000",
    ]);
    expect(dividedBar(ALONE).marks.at(-1)?.text).toBe("ceiling and max 1,000");
  });
});

describe("the headline", () => {
  test.each([
    [
      "agreed",
      pool(),
      "4 members agree. The ceiling is 888/s of 1,000 and ramping; each may use 222/s.",
    ],
    [
      "joining",
      JOINING,
      "7d18 joins. The 4 other members make room; it has its share within 7.0 s, usually two seconds.",
    ],
    [
      "lost",
      LOST,
      "This member has no lease. The store has been silent for 12 s, so it keeps to its safe share of 16/s. It heals by itself.",
    ],
    [
      "alone",
      ALONE,
      "One member, no store. It uses the whole ceiling of 1,000/s. Start it again with one Redis and the members share it.",
    ],
    [
      "replicas",
      REPLICAS,
      "One of 4 processes, no store. Each has an equal part of the ceiling of 1,000/s, this one 250/s. Nobody counts them: start no more than that.",
    ],
    [
      "learning",
      pool({ learningMs: 5_200 }),
      "The store has lost its memory. Held shares stay in use; no share grows for 5.2 s, until every member has reported what it holds.",
    ],
  ])("of a pool that is %s says what holds", (_, detail, says) => {
    expect(plainText(headlineOf(detail))).toBe(says);
  });

  test("shares by demand are given as a range", () => {
    const members = [
      member("a7f3", { share: 100, fair: 100 }),
      member("51c0", { share: 788, fair: 788 }),
    ];
    expect(plainText(headlineOf(pool({ members })))).toBe(
      "2 members agree. The ceiling is 888/s of 1,000 and ramping; by demand a member may use 100/s to 788/s, this one 100/s.",
    );
  });
});

test("this member is first and those that are gone are last", () => {
  const members = [member("z", { state: "left" }), member("b"), member("a7f3"), member("a")];
  expect(inOrder(members).map(({ id }) => id)).toEqual(["a7f3", "a", "b", "z"]);
});

test("the ramp says its mode, its slope and when it is at its top", () => {
  expect(rampWords(pool())).toBe("goBackN: +7.5/s each second; 15 s to max");
  const { share } = pool();
  expect(rampWords(pool({ share: { ...share, ceiling: 1_000 } }))).toBe(
    "goBackN: +7.5/s each second; at its max",
  );
  expect(rampWords(pool({ share: { ...share, rampLeftMs: undefined } }))).toBe(
    "goBackN: +7.5/s each second; it does not grow now",
  );
  expect(rampWords(pool({ share: { ...share, min: 1_000 } }))).toBe("no ramp: always 1,000/s");
});

test("pools of vertices and of shared limits are listed once each, with a path that names them", () => {
  const vertex = {
    kind: "source",
    connector: "pulsar",
    rate: 0,
    droppedRate: 0,
    inFlight: 0,
  } as const;
  const sample: LiveSample = {
    atMs: 0,
    pipelines: [
      {
        name: "orders",
        status: "running",
        vertices: [
          { ...vertex, name: "in", share: shareOf("shop/orders/in") },
          { ...vertex, name: "map" },
          { ...vertex, name: "out", share: shareOf("shop/orders/in") },
        ],
      },
    ],
    waits: [],
    waitsLeftOut: 0,
  };
  expect(poolsOf(sample).map(({ pool: name, of }) => [name, of])).toEqual([
    ["shop/orders/in", "orders / in"],
  ]);
  expect(poolPath("shop/a b")).toBe("/fleet/shop/a%20b");
});

test("the lab reads the settings of a pool from its link, and the simulator takes them", async () => {
  const link = await labLink(pool());
  expect(link).toMatch(/^\/lab#/);
  const state = await unpackState(link.slice("/lab".length));
  expect(state?.kind.id).toBe("pool");
  expect(state?.traffic.peak).toBe(4);
  expect(state?.a).toMatchObject({
    rateLimit: { max: 1_000, min: 100 },
    store: { leaseMs: 5_000, syncIntervalMs: 500, maxMembers: 64 },
  });
  const text = writeYaml(state?.b ?? {});
  const { result } = await runScenario(await loadScenario(text, "link"));
  expect(result.rows.length).toBeGreaterThan(30);
});
