import { expect, test } from "vitest";
import { ProbeTally } from "./probe.ts";
import type { ProbeVerdict } from "./probe.ts";

const LENGTH_MS = 1000;

/** A probe from 1000 to 1100 per second, for a second. */
function tally(usualBusyRatio = 0): ProbeTally {
  return new ProbeTally({
    from: 1000,
    to: 1100,
    startedAtMs: 0,
    lengthMs: LENGTH_MS,
    usualBusyRatio,
    climb: undefined,
  });
}

/** Sends `sent` requests evenly and gets `busy` busy answers first; the verdict. */
function verdictOf(probe: ProbeTally, sent: number, busy: number): ProbeVerdict | undefined {
  for (let i = 0; i < sent; i++) probe.onSend((i * LENGTH_MS) / sent);
  for (let i = 0; i < sent; i++) {
    const verdict = probe.onAnswer((i * LENGTH_MS) / sent, i < busy);
    if (verdict !== undefined) return verdict;
  }
  return probe.onAnswer(LENGTH_MS, false);
}

test("a probe is kept if more was sent than the known rate has, and is unused otherwise", () => {
  expect(verdictOf(tally(), 1001, 0)).toBe("kept");
  expect(verdictOf(tally(), 1000, 0)).toBe("unused");
});

test("a probe has no verdict before an answer to a request sent after its end", () => {
  const probe = tally();
  expect(probe.onAnswer(LENGTH_MS - 1, false)).toBeUndefined();
});

test("0.5 % of the answers to come may be busy, and no more", () => {
  expect(verdictOf(tally(), 1100, 5)).toBe("kept");
  expect(verdictOf(tally(), 1100, 6)).toBe("failed");
});

test("busy answers that the known rate has as well do not fail a probe, with two deviations", () => {
  // 1 % of 1100 are 11, two deviations 6.6, and 5.5 may be busy anyway.
  expect(verdictOf(tally(0.01), 1100, 23)).toBe("kept");
  expect(verdictOf(tally(0.01), 1100, 24)).toBe("failed");
});

test("requests sent after the end do not count as sent", () => {
  const probe = tally();
  for (let i = 0; i < 5000; i++) probe.onSend(LENGTH_MS);
  expect(probe.sentPerSecond).toBe(0);
});

test("answers are overdue a second and three round trips after the end", () => {
  const probe = tally();
  expect(probe.isOverdue(LENGTH_MS + 1300, 100)).toBe(false);
  expect(probe.isOverdue(LENGTH_MS + 1301, 100)).toBe(true);
});
