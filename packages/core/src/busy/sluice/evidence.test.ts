import { describe, expect, test } from "vitest";
import type { AnswerCount } from "./answer-count.ts";
import { Evidence } from "./evidence.ts";

const RTT_MS = 50;
/** No busy answers are random unless a test says so. */
const NONE = 0;

/** Counts answers that all come at one instant, the busy ones first. */
function count(evidence: Evidence, { busy, answers }: AnswerCount, nowMs: number): void {
  for (let i = 0; i < answers; i++) evidence.onAnswer(i < busy, NONE, nowMs, RTT_MS);
}

/** Evidence that has a suspicion since the instant 0. */
function suspicious(): Evidence {
  const evidence = new Evidence();
  count(evidence, { busy: 3, answers: 3 }, 0);
  expect(evidence.isSampling).toBe(true);
  return evidence;
}

describe("a suspicion", () => {
  test("needs three busy answers, however few others there are", () => {
    const evidence = new Evidence();
    count(evidence, { busy: 2, answers: 2 }, 0);
    expect(evidence.isSampling).toBe(false);
    count(evidence, { busy: 1, answers: 1 }, 0);
    expect(evidence.isSampling).toBe(true);
  });

  test("needs more busy answers than chance makes of 1 %", () => {
    // 1 % of 1000 are 10, and two deviations 6.3.
    const evidence = new Evidence();
    count(evidence, { busy: 0, answers: 1000 }, 0);
    count(evidence, { busy: 16, answers: 16 }, 0);
    expect(evidence.isSampling).toBe(false);
    count(evidence, { busy: 1, answers: 1 }, 0);
    expect(evidence.isSampling).toBe(true);
  });

  test("needs more than chance makes of the random busy answers, if there are some", () => {
    const evidence = new Evidence();
    for (let i = 0; i < 1000; i++) evidence.onAnswer(i % 10 === 9, 0.1, 0, RTT_MS);
    expect(evidence.isSampling).toBe(false);
  });
});

/** The usual busy ratio after a half of this length with one busy answer. */
function ratioAfter(answers: number, halfMs: number): number {
  const evidence = new Evidence();
  count(evidence, { busy: 1, answers: answers - 1 }, 0);
  count(evidence, { busy: 0, answers: 1 }, halfMs);
  return evidence.usualBusyRatio;
}

describe("a window", () => {
  test("ends a half after 500 ms with 50 answers, or after 5 s with fewer", () => {
    expect([ratioAfter(50, 499), ratioAfter(49, 4999)]).toEqual([0, 0]);
    expect(ratioAfter(50, 500)).toBe(1 / 50 / 2);
    expect(ratioAfter(20, 5000)).toBe(1 / 20 / 2);
  });

  test("is forgotten half by half", () => {
    const evidence = new Evidence();
    count(evidence, { busy: 2, answers: 99 }, 0);
    count(evidence, { busy: 0, answers: 1 }, 500);
    expect(evidence.busyRatio(NONE)).toBe(0.02);
    count(evidence, { busy: 0, answers: 100 }, 999);
    expect(evidence.busyRatio(NONE)).toBe(0.01);
    count(evidence, { busy: 0, answers: 1 }, 1000);
    expect(evidence.busyRatio(NONE)).toBe(0);
  });

  test("has no busy ratio with a single busy answer: the sample is too small", () => {
    const evidence = new Evidence();
    count(evidence, { busy: 1, answers: 10 }, 0);
    expect(evidence.busyRatio(NONE)).toBe(0);
    count(evidence, { busy: 1, answers: 10 }, 0);
    expect(evidence.busyRatio(NONE)).toBe(0.1);
  });
});

describe("a sample", () => {
  test("confirms an overload after 30 answers and a round trip", () => {
    const evidence = suspicious();
    count(evidence, { busy: 10, answers: 29 }, RTT_MS);
    expect(evidence.confirmed(NONE, RTT_MS - 1, RTT_MS)).toBeUndefined();
    const sample = evidence.onAnswer(true, NONE, RTT_MS, RTT_MS);
    expect(sample).toEqual({ busy: 11, answers: 30 });
    expect(evidence.isSampling).toBe(false);
  });

  test.each([
    [9, 4999, 5000],
    [10, 999, 1000],
    [29, 999, 1000],
  ])("of %d answers ends after %d ms at the earliest", (answers, beforeMs, endMs) => {
    const evidence = suspicious();
    count(evidence, { busy: 5, answers }, 10);
    expect(evidence.confirmed(NONE, beforeMs, RTT_MS)).toBeUndefined();
    expect(evidence.confirmed(NONE, endMs, RTT_MS)).toEqual({ busy: 5, answers });
  });

  test("without more than tolerated drops the suspicion", () => {
    const evidence = suspicious();
    count(evidence, { busy: 0, answers: 30 }, RTT_MS);
    expect(evidence.isSampling).toBe(false);
  });

  test("goes on for a second if it has more than tolerated, but no more than chance makes", () => {
    const evidence = suspicious();
    count(evidence, { busy: 1, answers: 40 }, RTT_MS);
    expect(evidence.isSampling).toBe(true);
    expect(evidence.confirmed(NONE, 1000, RTT_MS)).toBeUndefined();
    expect(evidence.isSampling).toBe(false);
  });
});
