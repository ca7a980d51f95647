import type { Chart, Miss, Simulation } from "@sluice/lab";

/** Rows of a table in a report. More make the file slow to open; `--json` prints all. */
const ROWS_MAX = 500;

/** One scenario of a report, as the page of the report reads it. */
export interface ReportedScenario {
  readonly file: string;
  readonly kind: string;
  readonly title: string;
  readonly chart: Chart;
  readonly closing: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly rowsLeftOut: number;
  /** Expectations of the file, and those that were missed. */
  readonly expected: number;
  readonly missed: readonly {
    readonly path: string;
    readonly expected: string;
    readonly found: string;
  }[];
}

export function reportedScenario(
  file: string,
  expected: number,
  { result, run }: Simulation,
): ReportedScenario {
  const count = Math.min(ROWS_MAX, run.rows.length);
  return {
    file,
    kind: result.kind,
    title: result.title,
    chart: run.chart(),
    closing: run.closing ?? "",
    columns: run.columns.map(({ name }) => name),
    rows: Array.from({ length: count }, (_, row) => run.columns.map(({ cell }) => cell(row))),
    rowsLeftOut: run.rows.length - count,
    expected,
    missed: result.missed.map(missText),
  };
}

function missText({ path, expected, found }: Miss): ReportedScenario["missed"][number] {
  return {
    path,
    expected: JSON.stringify(expected),
    found: found === undefined ? "nothing" : JSON.stringify(found),
  };
}
