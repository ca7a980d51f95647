import fc from "fast-check";
import { expect, test } from "vitest";
import { Accrual } from "./accrual.ts";

const options = fc.record({
  rate: fc.integer({ min: 1, max: 2 ** 53 }),
  periodNanos: fc.integer({ min: 1, max: 1e18 }),
  capacity: fc.integer({ min: 1, max: 2 ** 52 }),
  resolutionNanos: fc.integer({ min: 0, max: 1e9 }),
  startNanos: fc.bigInt(-(10n ** 18n), 10n ** 18n),
});

test("a fill never takes tokens back nor goes above the capacity, however the level was read", () => {
  const level = fc.bigInt(-(2n ** 53n), 2n ** 54n);
  const waits = fc.array(fc.record({ level, nanos: fc.bigInt(1n, 10n ** 12n) }));
  fc.assert(
    fc.property(options, waits, (settings, history) => {
      const accrual = new Accrual(settings);
      let fill = accrual.first();
      for (const wait of history) {
        const nowNanos = fill.atNanos + accrual.gapNanos(fill) + wait.nanos;
        const next = accrual.next(fill, nowNanos, wait.level);
        expect(next.issued >= fill.issued).toBe(true);
        expect(next.level <= BigInt(settings.capacity)).toBe(true);
        fill = next;
      }
    }),
  );
});
