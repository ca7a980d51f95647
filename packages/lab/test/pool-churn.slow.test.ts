import { CHURN_STORIES, LARGEST_POOL_STORY, missedGoals, worstOf } from "@sluice/lab/sim";
import { describe, expect, test } from "vitest";
import { VARIANTS } from "./pool/variants.ts";

const PHASES = 6;

describe("while processes come and go, shares stay within the ceiling and joiners get theirs", () => {
  test.each(CHURN_STORIES)("$name", (story) => {
    expect(missedGoals(story, worstOf(story, PHASES))).toEqual([]);
  });

  test("4 → 1000 members over 10 s", { timeout: 600_000 }, () => {
    const story = LARGEST_POOL_STORY;
    expect(missedGoals(story, worstOf(story, 1))).toEqual([]);
  });
});

describe("the same holds for other sizes, paces, timings and demands", () => {
  test.each(VARIANTS)("$name", (story) => {
    expect(missedGoals(story, worstOf(story, PHASES))).toEqual([]);
  });
});
