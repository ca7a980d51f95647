import fc from "fast-check";
import { expect, test } from "vitest";
import type { LiveSample } from "../../../src/live/live-message.ts";
import { Columns } from "./columns.ts";

const sampleAt = (atMs: number): LiveSample => ({
  atMs,
  pipelines: [],
  waits: [],
  waitsLeftOut: atMs % 7,
});

test("columns are the values of the given samples, whatever came and went between two calls", () => {
  const all = Array.from({ length: 40 }, (_, index) => sampleAt(index));
  const window = fc.tuple(fc.nat(40), fc.nat(40)).map(([from, to]) => all.slice(from, to));
  // Samples of another process, or of a past that was read again, are other objects.
  const past = fc.oneof(
    window,
    window.map((samples) => samples.map(({ atMs }) => sampleAt(atMs))),
  );
  fc.assert(
    fc.property(fc.array(past), (pasts) => {
      const columns = new Columns([
        ({ waitsLeftOut }) => (waitsLeftOut === 3 ? undefined : waitsLeftOut),
      ]);
      for (const samples of pasts)
        expect(columns.of(samples)).toEqual([
          samples.map(({ atMs }) => atMs),
          samples.map(({ waitsLeftOut }) => (waitsLeftOut === 3 ? null : waitsLeftOut)),
        ]);
    }),
  );
});

test("a sample is looked up once while it is shown", () => {
  const looked: number[] = [];
  const columns = new Columns([({ atMs }) => void looked.push(atMs)]);
  const all = Array.from({ length: 10 }, (_, index) => sampleAt(index));
  for (let end = 1; end <= 10; end++) columns.of(all.slice(Math.max(0, end - 4), end));
  expect(looked).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});
