import type { Column } from "../scenario/kind.ts";

/** Columns side by side, numbers to the right, two spaces between: a line at a time. */
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
