import { expect, test } from "vitest";
import { PauseTimes } from "./pause-times.ts";

test("a pause ends for the topic that caused it, while that of another topic lasts", () => {
  const pauses = new PauseTimes();
  pauses.begin("topic-rate", "hot", 0);
  pauses.begin("topic-rate", "warm", 100);
  pauses.end("topic-rate", "warm", 200);
  const totals = pauses.totals(new Set(["hot", "warm"]), 1_000);
  expect(totals).toMatchObject([
    { causeTopic: "hot", pausedMs: 1_000, isPaused: true, victimTopics: ["warm"] },
    { causeTopic: "warm", pausedMs: 100, isPaused: false, victimTopics: ["hot"] },
  ]);
});
