import type { PositionRange } from "../storage/cursor/cursor-snapshot.ts";
import type { Position } from "../storage/position.ts";

interface Range {
  readonly ledgerId: number;
  from: number;
  to: number;
}

/**
 * A set of positions, as ranges in order, no two of which touch. It holds `rangesMax` ranges at most:
 * a position that would need one more is not taken.
 */
export class PositionRanges {
  readonly #rangesMax: number;
  readonly #ranges: Range[] = [];
  #entryCount = 0;

  constructor(rangesMax: number) {
    this.#rangesMax = rangesMax;
  }

  get length(): number {
    return this.#ranges.length;
  }

  get entryCount(): number {
    return this.#entryCount;
  }

  get first(): PositionRange | undefined {
    return this.#ranges[0];
  }

  has({ ledgerId, entryId }: Position): boolean {
    const range = this.#ranges[this.#indexAfter(ledgerId, entryId) - 1];
    return range !== undefined && range.ledgerId === ledgerId && entryId < range.to;
  }

  /** Answers whether the position is in the set now and was not before. */
  add({ ledgerId, entryId }: Position): boolean {
    const index = this.#indexAfter(ledgerId, entryId);
    const before = this.#inLedger(index - 1, ledgerId);
    const after = this.#inLedger(index, ledgerId);
    if (before !== undefined && entryId < before.to) return false;
    const touchesBefore = before?.to === entryId;
    const touchesAfter = after?.from === entryId + 1;
    if (touchesBefore && touchesAfter) {
      before.to = after.to;
      this.#ranges.splice(index, 1);
    } else if (touchesBefore) before.to++;
    else if (touchesAfter) after.from--;
    else if (this.#ranges.length >= this.#rangesMax) return false;
    else this.#ranges.splice(index, 0, { ledgerId, from: entryId, to: entryId + 1 });
    this.#entryCount++;
    return true;
  }

  /** Adds a range that is after all others and touches none; false if there is no room. */
  append({ ledgerId, from, to }: PositionRange): boolean {
    if (this.#ranges.length >= this.#rangesMax) return false;
    this.#ranges.push({ ledgerId, from, to });
    this.#entryCount += to - from;
    return true;
  }

  shift(): void {
    const range = this.#ranges.shift();
    if (range !== undefined) this.#entryCount -= range.to - range.from;
  }

  removeBefore({ ledgerId, entryId }: Position): void {
    const index = this.#indexAfter(ledgerId, entryId - 1);
    // The last of those that begin before the position may reach beyond it.
    const cut = this.#inLedger(index - 1, ledgerId);
    const keepsRest = cut !== undefined && cut.to > entryId;
    for (const { from, to } of this.#ranges.splice(0, keepsRest ? index - 1 : index))
      this.#entryCount -= to - from;
    if (!keepsRest) return;
    this.#entryCount -= entryId - cut.from;
    cut.from = entryId;
  }

  clear(): void {
    this.#ranges.length = 0;
    this.#entryCount = 0;
  }

  /** The lowest, at most so many. */
  lowest(countMax: number): readonly PositionRange[] {
    return this.#ranges.slice(0, countMax).map((range) => ({ ...range }));
  }

  #inLedger(index: number, ledgerId: number): Range | undefined {
    const range = this.#ranges[index];
    return range?.ledgerId === ledgerId ? range : undefined;
  }

  /** Index of the first range that begins after a position. */
  #indexAfter(ledgerId: number, entryId: number): number {
    let low = 0;
    let high = this.#ranges.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const range = this.#ranges[middle];
      if (range === undefined) break;
      const isAfter =
        range.ledgerId > ledgerId || (range.ledgerId === ledgerId && range.from > entryId);
      if (isAfter) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
