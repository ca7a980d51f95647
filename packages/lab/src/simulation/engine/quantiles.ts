/** So many are kept one by one. */
export const EXACT_MAX = 1_000_000;

/** Cells for each factor of e: each is a thousandth of its value wide. */
const CELLS_PER_E = 1000;

interface Cell {
  count: number;
  /** The longest in it. */
  maxMs: number;
}

/**
 * Quantiles of round trips: exact up to a million of them, beyond that at most a thousandth too
 * long. Memory is bounded by their range, not by their number.
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

  /** The value that this part of them are shorter than; undefined if there are none. */
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
    // Of nothing the logarithm is minus infinity: a cell like any other.
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
