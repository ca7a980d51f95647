import * as v from "valibot";
import type { Chart } from "../chart/chart.ts";
import { toProblem } from "../file/problem.ts";
import type { Problem } from "../file/problem.ts";
import { expectations } from "./expect.ts";
import type { Expectations } from "./expect.ts";
import { lineOfText, map, text, whole } from "../file/fields.ts";

/** One row of a result. Each kind defines its own. */
export type Row = object;

/** The outcome of a run: rows and stats for JSON, columns for the table, and a chart. */
export interface Run {
  readonly rows: readonly Row[];
  readonly stats?: object;
  readonly verdict?: Readonly<Record<string, unknown>>;
  readonly columns: readonly Column[];
  /** Lines after the table. */
  readonly closing?: string;
  readonly chart: () => Chart;
}

export interface Column {
  readonly name: string;
  /** The text of the cell in row `row`. */
  readonly cell: (row: number) => string;
}

/** A checked scenario. */
export interface Scenario {
  readonly kind: string;
  readonly title: string;
  readonly expect: Expectations;
  readonly run: () => Promise<Run>;
}

/** One kind of scenario: turns the values of a file into a scenario, or lists its problems. */
export type Kind = (value: unknown) => Scenario | Problem[];

/** The keys that a scenario of any kind may have. */
interface CommonKeys {
  readonly kind: string;
  readonly title: string;
  readonly seed: number;
  readonly expect: Expectations;
}

const commonKeys = {
  kind: text(),
  title: v.optional(lineOfText(), ""),
  seed: v.optional(whole(0), 1),
  expect: v.optional(expectations(), {}),
};

/** Defines a kind by its keys beside the common ones. `check` finds contradictions between keys. */
export function defineKind<T>(
  keys: { readonly [K in keyof T]: v.GenericSchema<unknown, T[K]> },
  run: (scenario: T & CommonKeys) => Run | Promise<Run>,
  check: (scenario: T & CommonKeys) => Problem[] = () => [],
): Kind {
  const entries: v.ObjectEntries = { ...commonKeys, ...keys };
  const schema = map(entries);
  return (value) => {
    const checked = v.safeParse(schema, value);
    if (!checked.success) return checked.issues.map(toProblem);
    const scenario = checked.output as T & CommonKeys;
    const problems = check(scenario);
    if (problems.length > 0) return problems;
    const { kind, title, expect } = scenario;
    return { kind, title, expect, run: async () => run(scenario) };
  };
}
