/** Rows under a heading; the first column left, the others right, as wide as they need. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heading, ...rows];
  const widths = heading.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  return lines.map((line) => line.map((cell, column) => pad(cell, column)).join("  ")).join("\n");

  function pad(cell: string, column: number): string {
    const width = widths[column] ?? 0;
    return column === 0 ? cell.padEnd(width) : cell.padStart(width);
  }
}
