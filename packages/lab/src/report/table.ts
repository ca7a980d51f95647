import type { Column } from "../scenario/kind.ts";

/**
 * The lines of a table: a header, a rule and the rows, aligned right, two spaces between columns.
 */
export function* tableLines(columns: readonly Column[], rowCount: number): Generator<string> {
  const widths = columns.map(({ name, cell }) => {
    let width = name.length;
    for (let row = 0; row < rowCount; row++) width = Math.max(width, cell(row).length);
    return width;
  });
  const line = (cells: readonly string[]): string =>
    cells.map((text, i) => text.padStart(widths[i] ?? 0)).join("  ");
  yield line(columns.map(({ name }) => name));
  yield line(widths.map((width) => "-".repeat(width)));
  for (let row = 0; row < rowCount; row++) yield line(columns.map(({ cell }) => cell(row)));
}
