import { expect, test } from "vitest";
import { LineFold } from "../scripts/start/fold.mjs";
import { lineOfEvent } from "../scripts/start/lines.mjs";

const told = (text: string) => ({ kind: "told web", text });

test("the first line of a kind is shown at once, repeated ones come as the latest with their count", () => {
  const fold = new LineFold();
  expect(fold.offer(told("wait 1 s"), 0)).toBe("wait 1 s");
  expect(fold.offer(told("wait 2 s"), 5_000)).toBeUndefined();
  expect(fold.offer({ ...told("wait 9 s"), kind: "told app" }, 6_000)).toBe("wait 9 s");
  expect(fold.offer(told("wait 3 s"), 29_000)).toBeUndefined();
  expect(fold.due(29_999)).toEqual([]);
  expect(fold.due(30_000)).toEqual(["wait 3 s (2 times in 30 s)"]);
});

test("a kind that goes on is summed up ever more rarely, down to once in four minutes", () => {
  const fold = new LineFold();
  const shownAt: number[] = [];
  for (let second = 0; second <= 1_000; second++) {
    const text = fold.offer(told("wait 1 s"), second * 1_000);
    if (text !== undefined || fold.due(second * 1_000).length > 0) shownAt.push(second);
  }
  expect(shownAt).toEqual([0, 30, 90, 210, 450, 690, 930]);
});

test("a kind that was quiet, and every kind after a changed limit, is shown at once again", () => {
  const fold = new LineFold();
  fold.offer(told("wait 1 s"), 0);
  expect(fold.due(30_000)).toEqual([]);
  expect(fold.offer(told("wait 2 s"), 31_000)).toBe("wait 2 s");
  fold.clear();
  expect(fold.offer(told("wait 3 s"), 32_000)).toBe("wait 3 s");
});

test("a line that counts suppressed events is left out, whatever its kind; others have their subject", () => {
  const notice = { event: "producer-told", producer: "web", pauseMs: 20 };
  expect(lineOfEvent(JSON.stringify(notice))?.text).toMatch(/^▥ told {7}web +wait 20 ms$/);
  for (const event of ["producer-told", "socket-paused", "pipeline-started", "limit-changed"])
    expect(lineOfEvent(JSON.stringify({ event, suppressed: 3, msg: "3 more" }))).toBeUndefined();
});
