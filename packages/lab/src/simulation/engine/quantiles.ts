/** Values kept one by one, 8 MB in all. Beyond them only cells are kept. */
export const EXACT_MAX = 1_000_000;

/** Cells per factor of e. A cell is 1/1000 of its value wide, which bounds the error. */
const CELLS_PER_E = 1000;

interface Cell {
  count: number;
  /**
   * The largest value in the cell; reported for the whole cell, so that quantiles are never too
   * small.
   */
  maxMs: number;
}

/**
 * Quantiles of durations: exact up to a million values, beyond that at most 0.1 % too long. Memory
 * is bounded by the range of the values, not by their number.
 */
export class Quantiles {
  readonly #exactMs: number[] = [];
  readonly #cells = new Map<number, Cell>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(rttMs: number): void {
    this.#count++;
    if (this.#count <= EXACT_MAX) {
      this.#exactMs.push(rttMs);
      return;
    }
    if (this.#count === EXACT_MAX + 1) this.#leaveExact();
    this.#addToCell(rttMs);
  }

  /** For each part, such as 0.99, the value at rank ⌊part × count⌋; undefined without values. */
  quantiles(parts: readonly number[]): (number | undefined)[] {
    const sortedMs = Float64Array.from(this.#exactMs).toSorted();
    const cells = [...this.#cells.values()].toSorted((a, b) => a.maxMs - b.maxMs);
    return parts.map((part) => {
      const rank = Math.floor(part * this.#count);
      return cells.length === 0 ? sortedMs[rank] : cellAt(cells, rank)?.maxMs;
    });
  }

  #leaveExact(): void {
    for (const rttMs of this.#exactMs) this.#addToCell(rttMs);
    this.#exactMs.length = 0;
  }

  #addToCell(rttMs: number): void {
    // The logarithm of 0 is -Infinity, which is a valid key.
    const key = Math.floor(CELLS_PER_E * Math.log(rttMs));
    const cell = this.#cells.get(key);
    if (cell === undefined) {
      this.#cells.set(key, { count: 1, maxMs: rttMs });
      return;
    }
    cell.count++;
    if (rttMs > cell.maxMs) cell.maxMs = rttMs;
  }
}

function cellAt(cells: readonly Cell[], rank: number): Cell | undefined {
  let before = 0;
  return cells.find(({ count }) => {
    before += count;
    return before > rank;
  });
}
