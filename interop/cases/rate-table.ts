/** How fast clients were with one kind of work. */
export interface Rates {
  readonly work: string;
  readonly rows: readonly RateRow[];
}

export interface RateRow {
  readonly name: string;
  /** Messages a second, of each round. */
  readonly rounds: readonly number[];
  /** How many times as fast as this our client shall be; nothing is asked without it. */
  readonly goal?: number;
}

/** The rates of all work in one table, in columns; the first row of each work is our client. */
export function rateTable(works: readonly Rates[]): string {
  const lines = works.flatMap(({ work, rows }) => [
    [work, "messages/s", "sluice ÷ it", "goal"],
    ...rows.map((row) => cells(row, ratioTo(rows, row))),
    ["", "", "", ""],
  ]);
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  return lines.map((line) => padded(line, widths)).join("\n");
}

/** By how many times the first of the rows was faster than this one. */
export function ratioTo(rows: readonly RateRow[], row: RateRow): number {
  return medianOf(rows[0]?.rounds ?? []) / medianOf(row.rounds);
}

function cells({ name, rounds, goal }: RateRow, ratio: number): string[] {
  const rates = [medianOf(rounds), Math.min(...rounds), Math.max(...rounds)];
  const [median, min, max] = rates.map((rate) => Math.round(rate).toLocaleString("en"));
  const verdict = goal === undefined ? "" : `≥ ${goal} ${ratio >= goal ? "met" : "missed"}`;
  return [`  ${name}`, `${median} (${min}..${max})`, ratio.toFixed(2), verdict];
}

function padded(line: readonly string[], widths: readonly number[]): string {
  const columns = line.map((cell, column) => {
    const width = widths[column] ?? 0;
    return column === 0 ? cell.padEnd(width) : cell.padStart(width);
  });
  return columns.join("  ").trimEnd();
}

/** Of an odd number of values. */
function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
