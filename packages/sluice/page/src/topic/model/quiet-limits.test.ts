import { expect, test } from "vitest";
import type { LiveGateway } from "../../../../src/live/live-message.ts";
import { setLimitOf, withQuiet } from "./quiet-limits.ts";

const BUSY = {
  name: "public/default/busy",
  rate: { messages: 5, bytes: 50 },
  asked: 5,
  isAskedAtLeast: false,
  producers: 1,
  waiting: 0,
  groups: [],
};
const SOME: Partial<LiveGateway> = { topics: [BUSY], groups: [] };
const GATEWAY = SOME as LiveGateway;
const SET = [
  { level: "topic", name: "persistent://public/default/busy", messages: 5, bytes: null },
  {
    level: "topic",
    name: "persistent://public/default/quiet",
    messages: 7,
    bytes: null,
    place: "flow.yaml:9",
  },
  { level: "group", name: "analytics", messages: null, bytes: 1_000 },
  { level: "broker", messages: 9, bytes: null },
];

test("topics and groups with a limit are listed without traffic, and busy ones once", () => {
  const { topics, groups } = withQuiet(GATEWAY, SET);
  expect(topics.map(({ name }) => name)).toEqual(["public/default/busy", "public/default/quiet"]);
  expect(topics[1]).toMatchObject({ limit: { messages: 7 }, rate: { messages: 0 } });
  expect(groups).toMatchObject([{ name: "analytics", limit: { bytes: 1_000 } }]);
});

test("the place of a limit is found by its target", () => {
  expect(setLimitOf({ kind: "topic", name: "public/default/quiet" }, SET)?.place).toBe(
    "flow.yaml:9",
  );
  expect(setLimitOf({ kind: "broker" }, SET)?.messages).toBe(9);
  expect(setLimitOf({ kind: "group", name: "none" }, SET)).toBeUndefined();
});
